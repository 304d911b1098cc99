"""Words: the one analyser, BM25's formula with its slow obvious reference, and verbatim phrases."""
