"""Vectors: unit vectors, their codes, the scans over codes, and the exact score."""
