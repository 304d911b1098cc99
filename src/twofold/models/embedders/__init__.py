"""Embedders: runtimes that turn text into unit vectors."""
