"""Rerankers: models that score a query with a passage."""
