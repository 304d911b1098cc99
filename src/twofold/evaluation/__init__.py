"""Evaluation: judged queries, metrics, intervals and comparisons."""
