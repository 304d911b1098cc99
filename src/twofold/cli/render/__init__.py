"""How results, explanations and progress look on a terminal, and as JSON."""
