"""The nearest rows: codes rule out nearly all of them, and what is left is scored truly.

What is returned depends on rows and query alone, but for an error beyond `DEVIATIONS`, not on how rows are spread.
"""

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import Scores, Vector
from twofold.kernels import KERNELS, codes_at, codes_reaching, cosines, dots, top_scores
from twofold.vectors.quantize import Codes, Halves, quantize
from twofold.vectors.rabitq import LANES, BitCodes, Singles, estimate, turned

Mask = NDArray[np.uint8]
Slots = NDArray[np.uint32]
Code = NDArray[np.int8]

FEW_ROWS = 20_000  # without the kernels in C: below this a scan in numpy is over before numkong is imported
BITS_ABOVE = 20_000  # bits first, then codes, are faster than codes alone from about here
DEVIATIONS = 4.0  # how many deviations the score of codes may be off
STEP = 12.0**-0.5  # the deviation of a rounding, in steps
ROUNDING = DEVIATIONS * STEP  # of a row's code and of the query's, in the root of the sum of their squared steps
MARGIN = 1e-4  # of a score, for sums in single precision; the least deviation of an estimate is a hundred times that
SPARSE = 8  # where fewer than one row in eight is allowed, gathering rows beats scanning all
PARALLEL_FROM = 300_000  # rows that are scanned in two threads: below, starting them takes longer than they save
ROW_BATCH_SIZE = 16_384

Part = TypeVar("Part")
Made = TypeVar("Made")


@cache
def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Near(NamedTuple):
    """Rows in no order, and their cosines: `slots` (m,) uint32, `scores` (m,) float64."""

    slots: Slots
    scores: Scores


class Plane(NamedTuple):
    """What is searched of one segment: its rows, in eight bits and in one, and which may be found (None: all).

    A segment of few rows has no bits.
    """

    vectors: Halves
    codes: Codes
    bits: BitCodes | None
    allowed: Mask | None

    def open_rows(self) -> int:
        """Count the rows that may be found."""
        return len(self.codes) if self.allowed is None else int(np.count_nonzero(self.allowed))


class _Asked(NamedTuple):
    """A query as it is compared with rows: truly, in eight bits, and turned for bits."""

    vector: Vector
    exact: Scores
    code: Code
    step: float
    turned: Singles


class _Guess(NamedTuple):
    """What codes say of a plane: at most so much is the cosine of each of its `slots` (None: of all, by slot).

    `near` are the rows with the best estimates, `scores` these.
    """

    bounds: Singles
    slots: Slots | None
    near: Slots
    scores: Singles


def nearest(query: Vector, planes: Sequence[Plane], k: int) -> Sequence[Near]:
    """Return for each segment the rows that may be among the k nearest of all segments together, with their cosines.

    The rows with the best estimates are scored truly: the k-th best of these scores is one that the k nearest reach.
    Rows that cannot reach it are ruled out, by one bit a dimension where there are more than `BITS_ABOVE` rows that may
    be found, then by eight bits. Raises ValueError for k < 1.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    stripes = [_stripes(plane) for plane in planes]
    found = iter(_nearest(query, [one for some in stripes for one in some], k))
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
        Plane(plane.vectors[bound], plane.codes.rows(bound), plane.bits.rows(bound), mask)
        for bound, mask in zip(bounds, masks, strict=True)
    ]


def _joined(found: Sequence[Near], stripes: Sequence[Plane]) -> Near:
    """Put the rows of a segment's stripes together again, by their slots in the segment."""
    if len(found) == 1:
        return found[0]
    firsts = np.cumsum([0, *(len(stripe.codes) for stripe in stripes[:-1])]).astype(np.uint32)
    slots = [one.slots + first for one, first in zip(found, firsts, strict=True)]
    return Near(np.concatenate(slots), np.concatenate([one.scores for one in found]))


def _each(call: Callable[[Part], Made], parts: Sequence[Part], rows: int) -> list[Made]:
    """Return what a call makes of each part, in two threads where there are very many rows and two processors."""
    if rows < PARALLEL_FROM or len(parts) < 2 or processors() < 2:  # noqa: PLR2004
        return [call(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor  # not for a small collection in a cold process

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(call, parts))


def _nearest(query: Vector, planes: Sequence[Plane], k: int) -> list[Near]:
    rows = sum(len(plane.codes) for plane in planes)
    by_bits = sum(plane.open_rows() for plane in planes) > BITS_ABOVE
    coded = quantize(query[None, :])
    placed = turned(query) if by_bits else np.empty(0, dtype=np.float32)
    asked = _Asked(query, query.astype(np.float64), coded.values[0], float(coded.scales[0]), placed)

    def guess(plane: Plane) -> _Guess:
        return (
            _guess_by_codes(asked, plane, k) if plane.bits is None or not by_bits else _guess_by_bits(asked, plane, k)
        )

    guesses = _each(guess, planes, rows)
    near = _cut_together(guesses, looked_at(k))
    scores = [cosines(asked.exact, plane.vectors, slots) for plane, slots in zip(planes, near, strict=True)]
    least = _kth_best(np.concatenate([np.empty(0), *scores]), k) - MARGIN

    def within(part: tuple[Plane, _Guess]) -> Near:
        plane, held = part
        slots = _reaching(asked, plane, held, least)
        return Near(slots, cosines(asked.exact, plane.vectors, slots))

    return _each(within, list(zip(planes, guesses, strict=True)), rows)


def looked_at(k: int) -> int:
    """Return how many of the best estimates are scored truly to know what the k nearest reach."""
    return 2 * k + 20


def _guess_by_bits(asked: _Asked, plane: Plane, k: int) -> _Guess:
    assert plane.bits is not None  # noqa: S101  # for the type checker
    bounds, near, scores = estimate(asked.vector, asked.turned, plane.bits, looked_at(k), plane.allowed)
    return _Guess(bounds, None, near, scores)


def _guess_by_codes(asked: _Asked, plane: Plane, k: int) -> _Guess:
    codes, allowed = plane.codes, plane.allowed
    slots, scales = None, codes.scales
    if allowed is not None and np.count_nonzero(allowed) * SPARSE < len(codes):
        slots = np.flatnonzero(allowed).astype(np.uint32)
        scales = scales[slots]
        scores = score_codes(asked.code, asked.step, codes, slots)
    else:
        scores = _scanned(asked, codes)
    bounds = scores + np.float32(ROUNDING) * np.sqrt(scales * scales + np.float32(asked.step) ** 2)
    best = top_scores(scores, allowed if slots is None else None, looked_at(k))
    return _Guess(bounds, slots, best if slots is None else slots[best], scores[best])


def _scanned(asked: _Asked, codes: Codes) -> Singles:
    """Return the approximate cosines of all rows."""
    scores = np.empty(len(codes), dtype=np.float32)
    for first in range(0, len(codes), ROW_BATCH_SIZE):
        part = slice(first, first + ROW_BATCH_SIZE)
        scores[part] = _dots(asked.code, codes.values[part], len(codes))
        scores[part] *= codes.scales[part] * np.float32(asked.step)
    return scores


def score_codes(code: Code, step: float, codes: Codes, slots: Slots) -> Singles:
    """Return the approximate cosines of some rows with a coded query: float32 (m,), the bits that a scan gives them."""
    return codes_at(code, codes.values, codes.scales, step, slots)


def _reaching(asked: _Asked, plane: Plane, held: _Guess, least: float) -> Slots:
    """Return the slots of a plane whose cosine may be at least that."""
    if plane.bits is not None and len(asked.turned):
        codes = plane.codes
        arrays = (codes.values, codes.scales, asked.step, held.bounds, plane.allowed)
        slots, _ = codes_reaching(asked.code, *arrays, least, ROUNDING)
        return slots
    reach = held.bounds >= least
    if held.slots is not None:
        return held.slots[reach]
    return np.flatnonzero(reach if plane.allowed is None else reach & (plane.allowed != 0)).astype(np.uint32)


def _cut_together(guesses: Sequence[_Guess], count: int) -> list[Slots]:
    """Return of each plane the rows that are among the best estimates of all of them."""
    scores = np.concatenate([np.empty(0, dtype=np.float32), *(one.scores for one in guesses)])
    limit = _kth_best(scores, count)
    return [one.near[one.scores >= limit] for one in guesses]


def _kth_best(scores: NDArray[np.floating], k: int) -> float:
    """Return the k-th best score; below all where there are fewer."""
    return float(np.sort(scores)[len(scores) - k]) if len(scores) >= k else -math.inf


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
