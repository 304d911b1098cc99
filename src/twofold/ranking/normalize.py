"""Bring one retriever's scores onto a scale where they can be added to another's.

Each function takes the scores of one retriever for one question, any order, and gives an array of the same length and
order. None of them turns two scores round, none gives NaN for scores up to 1e150 in size, and an empty retriever stays
empty. One hit, or hits that all score alike, become 1.0 under `maximum`, `minmax` and `theoretical`: what a retriever
found must not count as nothing because it found nothing else.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Scores

Normalizer = Callable[[Scores], Scores]
"""From the raw scores of one retriever to comparable ones, in the same order."""


def none(scores: Scores) -> Scores:
    """Leave the scores as they are.

    >>> none(np.array([12.5, 3.0])).tolist()
    [12.5, 3.0]
    """
    return np.array(scores, dtype=np.float64)


def clip(scores: Scores) -> Scores:
    """Cut scores to [0, 1]: a cosine below 0 means no more than 0.

    >>> clip(np.array([0.8734, -0.2])).tolist()
    [0.8734, 0.0]
    """
    return np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0)


def maximum(scores: Scores) -> Scores:
    """Divide by the best score: `s / max(s)`, in [0, 1] for scores of at least 0.

    Where the best score is not above 0 the division would turn the order round, so `minmax` serves instead.

    >>> maximum(np.array([17.673, 12.456])).round(4).tolist()
    [1.0, 0.7048]
    """
    best = np.max(scores, initial=-np.inf)
    if not best > 0.0:
        return minmax(scores)
    return np.asarray(scores, dtype=np.float64) / best


def minmax(scores: Scores) -> Scores:
    """Stretch to [0, 1]: `(s - min) / (max - min)`.

    >>> minmax(np.array([9.0, 6.0, 5.0])).tolist()
    [1.0, 0.25, 0.0]
    >>> minmax(np.array([0.3])).tolist()
    [1.0]
    """
    return theoretical(scores, low=np.inf)


def theoretical(scores: Scores, low: float) -> Scores:
    """Stretch from the least score that is possible at all: `(s - low) / (max - low)`, in [0, 1].

    `low` is the retriever's own bound: -1 for cosine, 0 for BM25. It does not move with what else was found, so that a
    weak last candidate is not taken for a worthless one. A score below the bound lowers it. Source: Bruch, Gai, Ingber,
    "An Analysis of Fusion Functions for Hybrid Retrieval", 2023, `TM2C2`.

    >>> theoretical(np.array([0.6, 0.2, -0.2]), low=-1.0).round(4).tolist()
    [1.0, 0.75, 0.5]
    """
    values = np.asarray(scores, dtype=np.float64)
    if len(values) == 0:
        return values.copy()
    bottom = min(low, float(values.min()))
    span = float(values.max()) - bottom
    return (values - bottom) / span if span > 0.0 else np.ones_like(values)


def zscore(scores: Scores) -> Scores:
    """Count standard deviations from the mean: `(s - mean) / deviation`, the deviation over n; unbounded, mean 0.

    Scores that are all alike become 0.0.

    >>> zscore(np.array([3.0, 2.0, 1.0])).round(4).tolist()
    [1.2247, 0.0, -1.2247]
    """
    values = np.asarray(scores, dtype=np.float64)
    return _standardised(values, degrees_of_freedom_lost=0)


def sigmoid(scores: Scores) -> Scores:
    """Squash with the logistic function, `1 / (1 + exp(-s))`, into [0, 1]; made for logits.

    >>> sigmoid(np.array([2.0, 0.0, -800.0])).round(4).tolist()
    [0.8808, 0.5, 0.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    small = np.exp(-np.abs(values))  # never overflows, whichever sign the score has
    return np.where(values >= 0.0, 1.0, small) / (1.0 + small)


def logit(probabilities: Scores) -> Scores:
    """Turn probabilities into log odds, `ln(p / (1 - p))`, the inverse of `sigmoid`; kept 1e-9 away from 0 and 1.

    >>> logit(np.array([0.8, 0.5])).round(6).tolist()
    [1.386294, 0.0]
    """
    bounded = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-9, 1.0 - 1e-9)
    return np.log(bounded / (1.0 - bounded))


def dbsf(scores: Scores) -> Scores:
    """Place scores between three deviations below the mean (0) and three above (1); mostly within [0, 1].

    `(s - mean) / (6 · deviation) + 1/2`, the deviation over n - 1. One hit, or all alike, become 0.5.
    Source: Mazzeschi, "Distribution-Based Score Fusion", 2023, as Qdrant computes it.

    >>> dbsf(np.array([3.0, 2.0, 1.0])).round(4).tolist()
    [0.6667, 0.5, 0.3333]
    """
    values = np.asarray(scores, dtype=np.float64)
    return _standardised(values, degrees_of_freedom_lost=1) / 6.0 + 0.5


def _standardised(values: Scores, degrees_of_freedom_lost: int) -> Scores:
    if len(values) < 2 or values.max() == values.min():  # noqa: PLR2004
        return np.zeros_like(values)
    deviation = float(values.std(ddof=degrees_of_freedom_lost))
    return (values - values.mean()) / deviation if deviation > 0.0 else np.zeros_like(values)


NORMALIZERS: Final[Mapping[str, Normalizer]] = MappingProxyType(
    {
        "none": none,
        "clip": clip,
        "max": maximum,
        "minmax": minmax,
        "zscore": zscore,
        "sigmoid": sigmoid,
        "dbsf": dbsf,
    },
)


def normalizer(name: str, low: float = 0.0) -> Normalizer:
    """Return the function of a name in `NORMALIZERS`, or `theoretical` with the retriever's lower bound `low`.

    Raises InvalidInputError for any other name.
    """
    if name == "theoretical":
        return partial(theoretical, low=low)
    if name not in NORMALIZERS:
        known = ", ".join(sorted((*NORMALIZERS, "theoretical")))
        raise InvalidInputError(f"there is no normalization called {name!r}.", f"Choose one of {known}.")
    return NORMALIZERS[name]
