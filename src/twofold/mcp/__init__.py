"""The Model Context Protocol: tools with which a language model searches, reads and asks an index."""
