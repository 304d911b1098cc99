"""How good a ranking is: judged questions, metrics, intervals and comparisons. Only `running` knows the engine."""
