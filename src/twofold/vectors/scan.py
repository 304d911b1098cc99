"""Scans over codes: find candidates to score truly. What a row scores here depends on that row and the query alone."""

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import Scores, Vector
from twofold.kernels import KERNELS, codes_at, dots, top_scores
from twofold.vectors.quantize import Codes, Halves, quantize
from twofold.vectors.rabitq import LANES, BitCodes, Estimates, estimate

Approximate = NDArray[np.float32]
Mask = NDArray[np.uint8]
Slots = NDArray[np.uint32]
Code = NDArray[np.int8]

FEW_ROWS = 20_000  # without the kernels in C: below this a scan in numpy is over before numkong is imported
BITS_ABOVE = 20_000  # bits first, then codes, are faster than codes alone from about here
DEVIATIONS = 4.0  # how many deviations the score of codes may be off
STEP = 12.0**-0.5  # the deviation of a rounding, in steps
SPARSE = 8  # where fewer than one row in eight is allowed, gathering rows beats scanning all
PARALLEL_FROM = 300_000  # rows that are scanned in two threads: below, starting them takes longer than they save
ROW_BATCH_SIZE = 16_384

Part = TypeVar("Part")
Made = TypeVar("Made")


@cache
def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Candidates(NamedTuple):
    """Rows and their approximate cosines, in no order: `slots` (m,) uint32, `scores` (m,) float32."""

    slots: Slots
    scores: Approximate


class Plane(NamedTuple):
    """What is scanned of one segment: its rows in eight bits and in one, and which of them may be found (None: all).

    A segment of few rows has no bits.
    """

    codes: Codes
    bits: BitCodes | None
    allowed: Mask | None

    def open_rows(self) -> int:
        """Count the rows that may be found."""
        return len(self.codes) if self.allowed is None else int(np.count_nonzero(self.allowed))


def scan(query: Vector, codes: Codes, allowed: Mask | None, k: int) -> Candidates:
    """Return every allowed row whose approximate cosine is at least the k-th best.

    The query (d,) is coded like the rows; the dot product of codes is exact, so all means give the same bits.
    Take k larger than what is wanted and score the candidates truly. Raises ValueError for k < 1.
    """
    return _scan(_coded(query), codes, allowed, k)


def _coded(query: Vector) -> Codes:
    return quantize(query[None, :])


def _scan(coded: Codes, codes: Codes, allowed: Mask | None, k: int) -> Candidates:
    count = len(codes)
    if allowed is not None and np.count_nonzero(allowed) * SPARSE < count:
        rows = np.flatnonzero(allowed).astype(np.uint32)
        found = score_codes(coded, codes, rows)
        best = top_scores(found, None, k)
        return Candidates(rows[best], found[best])
    scores = np.empty(count, dtype=np.float32)
    for first in range(0, count, ROW_BATCH_SIZE):
        part = slice(first, first + ROW_BATCH_SIZE)
        scores[part] = _dots(coded.values[0], codes.values[part], count)
        scores[part] *= codes.scales[part] * coded.scales[0]
    best = top_scores(scores, allowed, k)
    return Candidates(best, scores[best])


def score_codes(coded: Codes, codes: Codes, slots: Slots) -> Approximate:
    """Return the approximate cosines of some rows with a coded query: float32 (m,), the bits that `scan` gives them."""
    return codes_at(coded.values[0], codes.values, codes.scales, float(coded.scales[0]), slots)


def candidates(query: Vector, planes: Sequence[Plane], k: int) -> Sequence[Candidates]:
    """Find the rows, of all segments together, that are worth scoring truly for the k best: one answer a segment.

    Up to `BITS_ABOVE` rows that may be found, all are scanned in eight bits. Above, bits are scanned first: the rows
    with the best estimates are scored by their codes, the k-th best of these scores is one that the k best surpass, and
    every row whose estimate may reach it is scored by its codes too. Returned are the `by_codes(k)` best by codes, and
    all that rounding may have kept from being among the k best. Cuts are made over all segments at once: how rows are
    spread makes no difference to the k best, but for an error beyond `DEVIATIONS`. Raises ValueError for k < 1.
    """
    _check_k(k)
    coded = _coded(query)
    stripes = [_stripes(plane) for plane in planes]
    found = iter(_candidates(query, coded, [one for some in stripes for one in some], k))
    return [_joined([next(found) for _ in some], some) for some in stripes]


def _stripes(plane: Plane) -> list[Plane]:
    """Cut a segment of very many rows in two, for two threads; what is found does not depend on it."""
    count = len(plane.codes)
    if count < PARALLEL_FROM or plane.bits is None:
        return [plane]
    middle = count // 2 // LANES * LANES
    bounds = (slice(0, middle), slice(middle, count))
    masks = [None if plane.allowed is None else plane.allowed[bound] for bound in bounds]
    return [
        Plane(plane.codes.rows(bound), plane.bits.rows(bound), mask) for bound, mask in zip(bounds, masks, strict=True)
    ]


def _joined(found: Sequence[Candidates], stripes: Sequence[Plane]) -> Candidates:
    """Put the rows of a segment's stripes together again, by their slots in the segment."""
    if len(found) == 1:
        return found[0]
    firsts = np.cumsum([0, *(len(stripe.codes) for stripe in stripes[:-1])]).astype(np.uint32)
    slots = [one.slots + first for one, first in zip(found, firsts, strict=True)]
    return Candidates(np.concatenate(slots), np.concatenate([one.scores for one in found]))


def _each(call: Callable[[Part], Made], parts: Sequence[Part], rows: int) -> list[Made]:
    """Return what a call makes of each part, in two threads where there are very many rows and two processors."""
    if rows < PARALLEL_FROM or len(parts) < 2 or processors() < 2:  # noqa: PLR2004
        return [call(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor  # not for a small collection in a cold process

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(call, parts))


def _candidates(query: Vector, coded: Codes, planes: Sequence[Plane], k: int) -> list[Candidates]:
    if sum(plane.open_rows() for plane in planes) > BITS_ABOVE:
        rows = _within_reach(query, coded, planes, k)
    else:
        rows = [None] * len(planes)

    def by_codes_of(part: tuple[Plane, Slots | None]) -> Candidates:
        plane, some = part
        return _best_by_codes(coded, plane, k) if some is None else _by_code(coded, plane.codes, some)

    parts = list(zip(planes, rows, strict=True))
    found = _each(by_codes_of, parts, sum(len(plane.codes) for plane in planes))
    return _cut_together(found, k, _rounding(coded, planes, found))


def by_codes(k: int) -> int:
    """Return how many rows to keep by codes for the k best: measured to lose none of a thousand; decision 0040."""
    return 2 * k + 20


def _within_reach(query: Vector, coded: Codes, planes: Sequence[Plane], k: int) -> list[Slots | None]:
    """Return of each segment the rows that bits cannot rule out; None where all are to be scanned by their codes."""

    def guessed(plane: Plane) -> tuple[Estimates | None, Candidates]:
        if plane.bits is None:
            return None, _best_by_codes(coded, plane, k)
        guess = estimate(query, plane.bits)
        return guess, _best(guess.scores, plane, k)

    guesses = _each(guessed, planes, sum(len(plane.codes) for plane in planes))
    estimates, first = [guess for guess, _ in guesses], [near for _, near in guesses]
    best = [
        near if guess is None else _by_code(coded, plane.codes, near.slots)
        for plane, guess, near in zip(planes, estimates, _cut_together(first, k, 0.0), strict=True)
    ]
    scores = np.concatenate([near.scores for near in best])
    if len(scores) < k:
        return [None] * len(planes)
    reach = _kth_best(scores, k) - _rounding(coded, planes, best)
    return [
        None if guess is None else _reaching(guess, plane, reach)
        for plane, guess in zip(planes, estimates, strict=True)
    ]


def _reaching(guess: Estimates, plane: Plane, reach: float) -> Slots | None:
    near = guess.reaching(reach, plane.allowed)
    return None if 2 * len(near) > len(guess.scores) else near


def _best_by_codes(coded: Codes, plane: Plane, k: int) -> Candidates:
    """Scan all rows: return at least the `by_codes(k)` best, and more where rounding may hide one of the k best."""
    many = by_codes(k)
    while True:
        found = _scan(coded, plane.codes, plane.allowed, many)
        if len(found.scores) < many or many >= len(plane.codes):
            return found
        within = _kth_best(found.scores, k) - 2.0 * _rounding(coded, [plane], [found])
        if float(found.scores.min()) <= within:
            return found
        many *= 4


def _best(estimates: Approximate, plane: Plane, k: int) -> Candidates:
    slots = top_scores(estimates, plane.allowed, by_codes(k))
    return Candidates(slots, estimates[slots])


def _by_code(coded: Codes, codes: Codes, slots: Slots) -> Candidates:
    return Candidates(slots, score_codes(coded, codes, slots))


def _rounding(coded: Codes, planes: Sequence[Plane], found: Sequence[Candidates]) -> float:
    """Return by how much the codes of unit rows may misjudge those that were found: `DEVIATIONS` of it.

    Rounding d coordinates of a row, each by up to half a step, moves its product with a unit query by a deviation of
    `STEP` steps whatever d is; so does rounding the query's.
    """
    largest = max(
        (float(plane.codes.scales[one.slots].max(initial=0.0)) for plane, one in zip(planes, found, strict=True)),
        default=0.0,
    )
    return DEVIATIONS * STEP * math.hypot(largest, float(coded.scales[0]))


def _cut_together(found: Sequence[Candidates], k: int, rounding: float) -> list[Candidates]:
    """Keep of all segments' rows the `by_codes(k)` best, and those within two roundings of the k-th best."""
    scores = np.concatenate([np.empty(0, np.float32), *(part.scores for part in found)])
    if len(scores) <= by_codes(k):
        return list(found)
    best = scores[top_scores(scores, None, by_codes(k))]
    limit = min(float(best.min()), _kth_best(best, k) - 2.0 * rounding)
    return [Candidates(part.slots[part.scores >= limit], part.scores[part.scores >= limit]) for part in found]


def _kth_best(scores: Approximate, k: int) -> float:
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


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


def exact_scores(query: Vector, vectors: Halves) -> Scores:
    """Return the cosine of each unit row with the query: float64 (m,), from float32 (d,) and float16 (m, d).

    Both are widened to float64, where each product is exact, filled up with zeros to a power of two of products, and
    the upper half added to the lower until one is left. The order is spelled out so that a row's score depends on that
    row alone, bit for bit, and neither on its neighbors nor on the processor.
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
