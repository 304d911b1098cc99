"""The local store: one folder, SQLite as the only truth, everything else derived from it and rebuilt when in doubt."""
