"""Timing calls: every question once a round, rounds repeated; what a busy machine disturbs, and what it does not."""

import time
from collections.abc import Callable, Mapping

import numpy as np

ROUNDS = 5
WARM_UP = 30


def latencies(ask: Callable[[int], object], questions: int, rounds: int = ROUNDS) -> Mapping[str, float]:
    """Give milliseconds of `ask(i)` for questions i.

    `p50` and `p99` over all calls; `calm_p50` and `calm_p99` over the questions, of each the fastest round, which
    other processes disturb least; `processor_p50` counts processor time, over all threads.
    """
    for at in range(min(WARM_UP, questions)):
        ask(at)
    wall = np.empty((rounds, questions))
    processor = np.empty((rounds, questions))
    for turn in range(rounds):
        for at in range(questions):
            began, busy = time.perf_counter(), time.process_time()
            ask(at)
            wall[turn, at] = time.perf_counter() - began
            processor[turn, at] = time.process_time() - busy
    figures = {
        "p50": np.percentile(wall, 50),
        "p99": np.percentile(wall, 99),
        "calm_p50": np.percentile(wall.min(axis=0), 50),
        "calm_p99": np.percentile(wall.min(axis=0), 99),
        "processor_p50": np.percentile(processor.min(axis=0), 50),
    }
    return {name: round(float(seconds) * 1e3, 3) for name, seconds in figures.items()}
