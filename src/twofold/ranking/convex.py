"""The default fusion: a convex combination of *completed* scores.

The candidates are the union of what both arms listed, and both arms scored every one of them: no passage is taken for
worthless by an arm only because that arm's list was cut above it. Each arm is brought onto [0, 1] by constants that
are computed once a question, kept in the trace, and enough to recompute every score shown.
"""

from dataclasses import dataclass

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import ChunkKeys, Ranking, Scores

UNRELATED_SEEN = 10
"""How much the estimate of the background leans on 0; 5 to 20 gave the same nDCG@10 within .005 on four collections."""


@dataclass(frozen=True, slots=True)
class ConvexConstants:
    """What one question's scores are measured by; `background < dense_max` and `0 < lexical_max` hold always.

    `background` is the cosine that counts as unrelated, `dense_max` and `lexical_max` the best cosine and BM25 score.
    """

    background: float
    dense_max: float
    lexical_max: float


def convex_constants(lexical: Scores, dense: Scores, background: float | None = None) -> ConvexConstants:
    """Find the constants of one question from the completed scores of its candidates, (n,) each, in step.

    `background` is the cosine of an unrelated passage, where the caller knows it. Without one it is estimated: the
    least cosine of n candidates, drawn towards 0 as if ten unrelated passages of cosine 0 had been seen too,
    `least · n / (n + 10)`. A hundred candidates move it by a tenth; two, whose least cosine says nothing, by five
    sixths, so that in a small collection a small difference of cosines does not outweigh the words. A background that
    is given is lowered to the middle of the candidates' cosines where it lies above.

    Cosines that are all 0 or less count as 1.0 at the best, and BM25 scores that are all 0 as 0.0: such an arm leaves
    the order to the other.

    >>> convex_constants(np.array([12.0, 0.0]), np.array([0.5, 0.8]), background=0.4)
    ConvexConstants(background=0.4, dense_max=0.8, lexical_max=12.0)
    >>> convex_constants(np.array([3.0, 0.0]), np.array([0.75, 0.375]))
    ConvexConstants(background=0.0625, dense_max=0.75, lexical_max=3.0)
    """
    dense_max = float(np.max(dense)) if len(dense) else 1.0
    low = float(np.min(dense)) if len(dense) else 0.0
    if background is None:
        low = min(low, low * len(dense) / (len(dense) + UNRELATED_SEEN))
    else:
        low = min(background, low + (dense_max - low) / 2.0)
    if not low < dense_max:
        low = dense_max - 1.0
    lexical_max = float(np.max(lexical, initial=0.0))
    return ConvexConstants(low, dense_max, lexical_max if lexical_max > 0.0 else 1.0)


def lexical_value(lexical: Scores, constants: ConvexConstants) -> Scores:
    """Normalise BM25 scores: `s / lexical_max`, in [0, 1].

    >>> lexical_value(np.array([12.456]), ConvexConstants(0.4, 0.8, 17.673)).round(4).tolist()
    [0.7048]
    """
    return np.asarray(lexical, dtype=np.float64) / constants.lexical_max


def dense_value(dense: Scores, constants: ConvexConstants) -> Scores:
    """Normalise cosines: `(s - background) / (dense_max - background)`, in [-1, 1], below 0 beneath the background.

    It is not cut off at 0: passages beneath the background keep their order.

    >>> dense_value(np.array([0.8, 0.5, 0.3]), ConvexConstants(0.4, 0.8, 17.673)).round(4).tolist()
    [1.0, 0.25, -0.25]
    """
    return (np.asarray(dense, dtype=np.float64) - constants.background) / (constants.dense_max - constants.background)


def convex_score(lexical: Scores, dense: Scores, constants: ConvexConstants, dense_weight: float) -> Scores:
    """Combine: `(1 - w) · lexical_value + w · dense_value`, added in this order, in [-1, 1].

    With w = 0.6, BM25 6 of at most 12 and a cosine of 0.7 between 0.4 and 0.8: 0.4 · 0.5 + 0.6 · 0.75 = 0.65.

    >>> convex_score(np.array([6.0]), np.array([0.7]), ConvexConstants(0.4, 0.8, 12.0), 0.6).round(6).tolist()
    [0.65]

    Raises InvalidInputError for a weight outside [0, 1].
    """
    if not 0.0 <= dense_weight <= 1.0:
        raise InvalidInputError(f"the dense weight must be from 0 to 1, not {dense_weight}.", "Try 0.6.")
    words = (1.0 - dense_weight) * lexical_value(lexical, constants)
    return words + dense_weight * dense_value(dense, constants)


def convex(
    keys: ChunkKeys,
    lexical: Scores,
    dense: Scores,
    dense_weight: float,
    background: float | None = None,
) -> Ranking:
    """Rank candidates (n,) by their completed scores: `convex_constants`, then `convex_score`.

    To leave an absent arm out, give it the weight 0; its scores are then of no account, but must be there.

    >>> fused = convex(np.array([1, 2]), np.array([12.0, 6.0]), np.array([0.5, 0.8]), 0.6, background=0.4)
    >>> [(hit.key, round(hit.score, 2)) for hit in fused]
    [(2, 0.8), (1, 0.55)]
    """
    constants = convex_constants(lexical, dense, background)
    return Ranking.of(keys, convex_score(lexical, dense, constants, dense_weight))
