"""Text: the one analyzer, BM25 with its slow obvious reference, phrases and postings."""
