"""Twofold: search and answers over your own documents, by words and by meaning, with every score explained."""
