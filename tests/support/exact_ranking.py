"""The slow, obvious ranking by vectors that scans are measured against."""

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import Scores, Vector
from twofold.vectors.quantize import Halves
from twofold.vectors.scan import exact_scores


def reference_top(query: Vector, vectors: Halves, k: int) -> tuple[NDArray[np.int64], Scores]:
    """Return the k best rows by true score, best first, ties to the smaller row, and their scores. Slow: scores all."""
    scores = np.concatenate(
        [np.empty(0), *(exact_scores(query, vectors[at : at + 8192]) for at in range(0, len(vectors), 8192))]
    )
    order = np.argsort(-scores, kind="stable")[:k]
    return order.astype(np.int64), scores[order]
