"""Meaning: unit vectors, their codes, the scans over codes, and the true score."""
