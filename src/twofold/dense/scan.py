"""Scans over codes: find candidates to score truly. What a row scores here depends on that row and the query alone."""

from collections.abc import Sequence
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
SIGNS_ABOVE = 300_000  # signs, then codes, pass codes alone at 200,000 rows for k = 10, above 300,000 for k = 100
SPARSE = 8  # where fewer than one row in eight is allowed, gathering rows beats scanning all
ROWS_AT_ONCE = 16_384
ROWS_GATHERED = 2048  # copies that stay in the second-level cache


class Candidates(NamedTuple):
    """Rows and their approximate cosines, in no order: `slots` (m,) uint32, `scores` (m,) float32."""

    slots: Slots
    scores: Approximate


class Plane(NamedTuple):
    """What is scanned of one segment: its rows in eight bits and in one, and which of them may be found (None: all)."""

    codes: Codes
    signs: Bits
    allowed: Mask | None

    def open_rows(self) -> int:
        """Count the rows that may be found."""
        return len(self.codes) if self.allowed is None else int(np.count_nonzero(self.allowed))


def scan(query: Vector, codes: Codes, allowed: Mask | None, k: int) -> Candidates:
    """Give every allowed row whose approximate cosine is at least the k-th best.

    The query (d,) is coded like the rows; the dot product of codes is exact, so all means give the same bits.
    Take k larger than what is wanted and score the candidates truly. Raises ValueError for k < 1.
    """
    return _scan(_coded(query), codes, allowed, k)


def _coded(query: Vector) -> Codes:
    return quantise(query[None, :])


def _scan(coded: Codes, codes: Codes, allowed: Mask | None, k: int) -> Candidates:
    count = len(codes)
    if allowed is not None and np.count_nonzero(allowed) * SPARSE < count:
        rows = np.flatnonzero(allowed).astype(np.uint32)
        found = _score_codes(coded, codes, rows)
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
    return _score_codes(_coded(query), codes, slots)


def _score_codes(coded: Codes, codes: Codes, slots: Slots) -> Approximate:
    scores = np.empty(len(slots), dtype=np.float32)
    for first in range(0, len(slots), ROWS_GATHERED):
        part = slice(first, first + ROWS_GATHERED)
        # `take` is twice as fast as an index in brackets.
        rows = np.take(codes.values, slots[part].astype(np.intp), axis=0)
        scores[part] = _dots(coded.values[0], rows, len(slots))
    scores *= codes.scales[slots] * coded.scales[0]
    return scores


def scan_signs(query: Vector, planes: Bits, allowed: Mask | None, k: int) -> tuple[Slots, NDArray[np.uint32]]:
    """Give every allowed row whose signs differ from the query's in at most as many places as the k-th nearest's.

    `planes` is what `signs` gives, (n, ceil(d / 8)). The second array is the number of places, (m,) uint32.
    """
    return hamming_top(signs(query[None, :])[0], planes, allowed, k)


def candidates(query: Vector, planes: Sequence[Plane], k: int) -> Sequence[Candidates]:
    """Find the rows, of all segments together, that are worth scoring truly for the k best: one answer a segment.

    Up to `SIGNS_ABOVE` rows that may be found, all are scanned in eight bits; above, the `by_signs(k)` nearest by
    signs. Of these the `by_codes(k)` best by codes are given, with all ties at both cuts. Both cuts are made over all
    segments at once, so the candidates do not depend on how rows are spread. Raises ValueError for k < 1.
    """
    _check_k(k)
    if sum(plane.open_rows() for plane in planes) > SIGNS_ABOVE:
        found = _nearest_by_signs(query, planes, by_signs(k))
    else:
        coded = _coded(query)
        found = [_scan(coded, plane.codes, plane.allowed, by_codes(k)) for plane in planes]
    return _cut_together(found, by_codes(k))


def by_codes(k: int) -> int:
    """Give how many rows to keep by codes for the k best: measured to lose none of a thousand; decision 0040."""
    return 2 * k + 20


def by_signs(k: int) -> int:
    """Give how many rows to keep by signs for the k best: measured to lose under one in a hundred at a million rows.

    So many because embeddings of text lie to one side of the origin, where many signs agree; decision 0040.
    """
    return max(320 * k, 16_000)


def _nearest_by_signs(query: Vector, planes: Sequence[Plane], k: int) -> list[Candidates]:
    near = [scan_signs(query, plane.signs, plane.allowed, k) for plane in planes]
    alike = [Candidates(slots, -places.astype(np.float32)) for slots, places in near]
    kept = _cut_together(alike, k)
    coded = _coded(query)
    return [
        Candidates(found.slots, _score_codes(coded, plane.codes, found.slots))
        for plane, found in zip(planes, kept, strict=True)
    ]


def _cut_together(found: Sequence[Candidates], k: int) -> list[Candidates]:
    """Keep of all segments' rows those that score at least the k-th best of them all."""
    scores = np.concatenate([np.empty(0, np.float32), *(part.scores for part in found)])
    if len(scores) <= k:
        return list(found)
    limit = scores[top_scores(scores, None, k)].min()
    return [Candidates(part.slots[part.scores >= limit], part.scores[part.scores >= limit]) for part in found]


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError("k must be at least 1")


def _dots(query: Code, rows: NDArray[np.int8], scanned: int) -> NDArray[np.int32] | NDArray[np.float64]:
    """Multiply exactly, by the fastest means at hand: our kernel at the speed of memory, or without it numkong."""
    if KERNELS == "c" or scanned < FEW_ROWS:
        return dots(query, rows)
    return _dots_in_numkong(query, rows)


def _dots_in_numkong(query: Code, rows: NDArray[np.int8]) -> NDArray[np.float64]:
    import numkong  # 67 ms: not for a small collection in a cold process

    found: NDArray[np.float64] = np.asarray(numkong.cdist(query[None, :], rows, "dot"))[0]
    return found
