"""The catalog of models: entries, pinned files, and where they come from."""
