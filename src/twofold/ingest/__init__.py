"""Reading documents: from bytes to text with exact spans. It knows nothing of indexes, models or the network."""
