"""Maximal marginal relevance: an order in which each passage is relevant and unlike those before it.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998: of what is left, next comes

    argmax  λ · relevance(d) - (1 - λ) · max over chosen c of cosine(d, c)

Relevance is the score between the least (0) and the greatest (1) of the candidates. λ = 1 is the order by relevance.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import Scores

Matrix = NDArray[np.float64]


def relevance_of(scores: Scores) -> Scores:
    """Return scores between the least (0) and the greatest (1) of them; 1 for all where they are equal."""
    least, most = float(scores.min(initial=np.inf)), float(scores.max(initial=-np.inf))
    return np.ones(len(scores)) if most <= least else (scores - least) / (most - least)


def mmr_order(relevance: Scores, cosines: Matrix, balance: float) -> Sequence[int]:
    """Return the places of all candidates in the order of MMR, ties to the earlier; `cosines` are (n, n).

    With λ ½ the third, less relevant than the second but unlike the first, comes before it: ½ · .5 > ½ · .9 - ½ · 1.

    >>> mmr_order(np.array([1.0, 0.9, 0.5]), np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 0.5)
    [0, 2, 1]
    """
    chosen: list[int] = []
    left = np.ones(len(relevance), dtype=np.bool_)
    nearest = np.zeros(len(relevance))
    for number in range(len(relevance)):
        worth = np.where(left, balance * relevance - (1.0 - balance) * nearest, -np.inf)
        best = int(worth.argmax())
        chosen.append(best)
        left[best] = False
        nearest = cosines[best] if number == 0 else np.maximum(nearest, cosines[best])
    return chosen
