"""Answers: passages as a model may see them, what it wrote made safe, and every sentence held against its source."""
