"""Adapters to models: what turns text into vectors, and where the files of models come from."""
