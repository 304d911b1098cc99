"""Fitting and judging probabilities with numpy alone: logistic regression whose weights keep their sign, ECE, AUROC."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 15
RIDGE = 1.0
STEPS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """`1 / (1 + exp(-(intercept + values · weights)))`; values (n, signals) are first cut to `low` and `high`."""

    intercept: float
    weights: Floats
    low: Floats
    high: Floats

    def probabilities(self, values: Floats) -> Floats:
        """Give the probability of each row, (n,)."""
        return _logistic(self.intercept + np.clip(values, self.low, self.high) @ self.weights)


def fit(values: Floats, truth: Floats, low: Floats, high: Floats) -> Fit:
    """Fit by Newton's method, a little ridge on the standardised weights, no weight below 0.

    A weight that comes out below 0 is taken out, the worst first, and the others are fitted again: more of any signal
    is never to lower a probability.
    """
    inside = np.clip(values, low, high)
    mean, deviation = inside.mean(axis=0), inside.std(axis=0) + 1e-12
    standard = (inside - mean) / deviation
    kept = np.flatnonzero(inside.std(axis=0) > 1e-9)
    while True:
        found = _newton(np.column_stack((np.ones(len(truth)), standard[:, kept])), truth)
        if len(kept) == 0 or found[1:].min() >= 0.0:
            break
        kept = np.delete(kept, int(found[1:].argmin()))
    weights = np.zeros(values.shape[1])
    weights[kept] = found[1:] / deviation[kept]
    return Fit(float(found[0] - mean @ weights), weights, low, high)


def _newton(design: Floats, truth: Floats) -> Floats:
    ridge = np.full(design.shape[1], RIDGE)
    ridge[0] = 1e-9
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        expected = _logistic(design @ found)
        slope = design.T @ (expected - truth) + ridge * found
        curve = (design * (expected * (1.0 - expected))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        found = found - step
        if np.abs(step).max() < 1e-10:
            break
    return found


def _logistic(values: Floats) -> Floats:
    small = np.exp(-np.abs(values))
    return np.where(values >= 0.0, 1.0, small) / (1.0 + small)


def auroc(probabilities: Floats, truth: Floats) -> float:
    """Give the chance that a true one stands above a false one, ties counting half; NaN without one of either."""
    _, place, count = np.unique(probabilities, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2.0)[place]
    true = float(truth.sum())
    false = len(truth) - true
    if not true or not false:
        return float("nan")
    return float((ranks[truth > 0].sum() - true * (true + 1.0) / 2.0) / (true * false))


def calibration_error(probabilities: Floats, truth: Floats, bins: int = BINS) -> float:
    """Give the expected calibration error: |mean probability - share of true ones|, averaged over the questions."""
    return sum(abs(row.said - row.was) * row.questions for row in reliability(probabilities, truth, bins)) / len(truth)


def brier(probabilities: Floats, truth: Floats) -> float:
    """Give the mean square of what a probability was wrong by."""
    return float(np.mean((probabilities - truth) ** 2))


@dataclass(frozen=True, slots=True)
class Bin:
    """The questions whose probability was in one stretch: what was said of them, and what was."""

    low: float
    high: float
    questions: int
    said: float
    was: float


def reliability(probabilities: Floats, truth: Floats, bins: int) -> Sequence[Bin]:
    """Give the bins that hold any question, rising."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    return [
        Bin(
            one / bins,
            (one + 1) / bins,
            int(held.sum()),
            float(probabilities[held].mean()),
            float(truth[held].mean()),
        )
        for one in range(bins)
        if (held := place == one).any()
    ]
