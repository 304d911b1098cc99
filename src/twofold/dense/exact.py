"""The true score of the dense arm, and the slow exact ranking that scans are measured against."""

import numpy as np
from numpy.typing import NDArray

from twofold.dense.quantise import Halves
from twofold.domain.types import Scores, Vector


def exact_scores(query: Vector, vectors: Halves) -> Scores:
    """Give the cosine of each unit row with the query: float64 (m,), from float32 (d,) and float16 (m, d).

    Both are widened to float64, where each product is exact, filled up with zeros to a power of two of products, and
    the upper half added to the lower until one is left. The order is spelled out so that a row's score depends on that
    row alone, bit for bit, and neither on its neighbours nor on the processor.
    Worked number: query (0.6, 0.8) and row (1, 0) give 0.6000000238418579, the float32 nearest to 0.6.
    Raises ValueError when the widths differ.
    """
    if vectors.ndim != 2 or query.shape != vectors.shape[1:]:  # noqa: PLR2004
        raise ValueError(f"a query of shape {query.shape} does not fit vectors of shape {vectors.shape}")
    width = 1 << max(len(query) - 1, 0).bit_length()
    sums = np.zeros((len(vectors), width), dtype=np.float64)
    np.multiply(vectors, query.astype(np.float64), out=sums[:, : len(query)])
    while width > 1:
        width //= 2
        sums[:, :width] += sums[:, width : 2 * width]
    return sums[:, 0].copy()


def reference_top(query: Vector, vectors: Halves, k: int) -> tuple[NDArray[np.int64], Scores]:
    """Give the k best rows by true score, best first, ties to the smaller row, and their scores. Slow: scores all."""
    scores = np.concatenate(
        [np.empty(0), *(exact_scores(query, vectors[at : at + 8192]) for at in range(0, len(vectors), 8192))]
    )
    order = np.argsort(-scores, kind="stable")[:k]
    return order.astype(np.int64), scores[order]
