"""Words: the one analyser, postings and BM25."""
