"""Candidates of the dense arm over all segments: scan codes, cut once for the whole collection, ties included.

A row's approximate score depends on that row and the question alone, and cuts are made over all segments together, so
the candidates are the same however the rows are spread over segments.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.dense.scan import Candidates, scan, scan_signs, score_codes
from twofold.domain.types import Vector
from twofold.stores.local.segment import Segment

Mask = NDArray[np.uint8]
Slots = NDArray[np.uint32]

SIGNS_FROM_ROWS = 200_000  # below this the eight-bit scan is fast enough to need no coarser one in front


def nearest(vector: Vector, segments: Sequence[Segment], masks: Sequence[Mask | None], k: int) -> list[Slots]:
    """Give for each segment the slots that may be among the k nearest, to be scored truly.

    Twice as many as asked and a hundred more are kept: the eight-bit score errs by about 0.002.
    """
    pool = 2 * k + 100
    if sum(len(segment) for segment in segments) > SIGNS_FROM_ROWS:
        kept = _coarse(vector, segments, masks, 20 * k + 2_000)
        found = [
            Candidates(slots, score_codes(vector, segment.quantised, slots))
            for segment, slots in zip(segments, kept, strict=True)
        ]
    else:
        found = [scan(vector, segment.quantised, mask, pool) for segment, mask in zip(segments, masks, strict=True)]
    least = _kth_best(np.concatenate([scores for _, scores in found]), pool)
    return [slots[scores >= least] for slots, scores in found]


def _coarse(vector: Vector, segments: Sequence[Segment], masks: Sequence[Mask | None], pool: int) -> list[Slots]:
    """Keep the slots whose signs agree best with the question's."""
    found = [scan_signs(vector, segment.signs, mask, pool) for segment, mask in zip(segments, masks, strict=True)]
    distances = np.concatenate([distances for _, distances in found]).astype(np.float32)
    farthest = -_kth_best(-distances, pool)
    return [slots[distances <= farthest] for slots, distances in found]


def _kth_best(scores: NDArray[np.float32], k: int) -> float:
    if len(scores) <= k:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
