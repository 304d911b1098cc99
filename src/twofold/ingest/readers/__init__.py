"""Readers: from the bytes of one format to text with exact spans."""
