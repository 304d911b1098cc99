"""Generators: language models, local and behind endpoints."""
