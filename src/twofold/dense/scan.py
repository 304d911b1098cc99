"""Scans over codes: find candidates to score truly. What a row scores here depends on that row and the query alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.dense.quantise import Bits, Codes, quantise, signs
from twofold.domain.types import Vector
from twofold.kernels import KERNELS, dots, hamming_top, top_scores

Approximate = NDArray[np.float32]
Mask = NDArray[np.uint8]
Slots = NDArray[np.uint32]
Code = NDArray[np.int8]

FEW_ROWS = 20_000  # without the kernels in C: below this a scan in numpy is over before numkong is imported
SPARSE = 8  # where fewer than one row in eight is allowed, gathering rows beats scanning all
ROWS_AT_ONCE = 16_384


class Candidates(NamedTuple):
    """Rows and their approximate cosines, in no order: `slots` (m,) uint32, `scores` (m,) float32."""

    slots: Slots
    scores: Approximate


def scan(query: Vector, codes: Codes, allowed: Mask | None, k: int) -> Candidates:
    """Give every allowed row whose approximate cosine is at least the k-th best.

    The query (d,) is coded like the rows; the dot product of codes is exact, so whatever multiplies gives the same bits.
    Take k larger than what is wanted and score the candidates truly. Raises ValueError for k < 1.
    """
    coded = quantise(query[None, :])
    count = len(codes)
    if allowed is not None and np.count_nonzero(allowed) * SPARSE < count:
        rows = np.flatnonzero(allowed).astype(np.uint32)
        found = score_codes(query, codes, rows)
        best = top_scores(found, None, k)
        return Candidates(rows[best], found[best])
    scores = np.empty(count, dtype=np.float32)
    for first in range(0, count, ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        scores[part] = _dots(coded.values[0], codes.values[part], count)
        scores[part] *= codes.scales[part] * coded.scales[0]
    best = top_scores(scores, allowed, k)
    return Candidates(best, scores[best])


def score_codes(query: Vector, codes: Codes, slots: Slots) -> Approximate:
    """Give the approximate cosines of some rows: float32 (m,), the same bits that `scan` gives them."""
    coded = quantise(query[None, :])
    scores = _dots(coded.values[0], codes.values[slots], len(slots)).astype(np.float32)
    scores *= codes.scales[slots] * coded.scales[0]
    return scores


def scan_signs(query: Vector, planes: Bits, allowed: Mask | None, k: int) -> tuple[Slots, NDArray[np.uint32]]:
    """Give every allowed row whose signs differ from the query's in at most as many places as the k-th nearest's.

    `planes` is what `signs` gives, (n, ceil(d / 8)). The second array is the number of places, (m,) uint32.
    """
    return hamming_top(signs(query[None, :])[0], planes, allowed, k)


def _dots(query: Code, rows: NDArray[np.int8], scanned: int) -> NDArray[np.int32] | NDArray[np.float64]:
    """Multiply exactly, by the fastest means at hand: our kernel at the speed of memory, or without it numkong."""
    if KERNELS == "c" or scanned < FEW_ROWS:
        return dots(query, rows)
    return _dots_in_numkong(query, rows)


def _dots_in_numkong(query: Code, rows: NDArray[np.int8]) -> NDArray[np.float64]:
    import numkong  # 67 ms: not for a small collection in a cold process

    found: NDArray[np.float64] = np.asarray(numkong.cdist(query[None, :], rows, "dot"))[0]
    return found
