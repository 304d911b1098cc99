"""Small collections for tests; see `twofold.testing.making`, where users have them too."""

from twofold.testing.making import DIMENSIONS, entries, entry, fingerprint, pending, query, terms, vector

__all__ = ["DIMENSIONS", "entries", "entry", "fingerprint", "pending", "query", "terms", "vector"]
