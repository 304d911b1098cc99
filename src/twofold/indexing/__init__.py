"""Indexing: from files to a searchable index, kept in step by sync, watch and reindex."""
