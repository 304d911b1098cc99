"""How good a ranking is: judged collections, metrics, intervals and comparisons. No engine; runs are handed in."""
