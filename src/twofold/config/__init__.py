"""Settings: the schema with every default, loading from files and environment, and profiles."""
