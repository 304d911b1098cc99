"""The nouns: what every other part of twofold speaks about. Standard library and numpy only."""
