"""The search for the nearest rows of several segments, in numpy: the oracle of `nearest_rows` in `_kernels.c`.

Codes rule out nearly all rows, and what is left is scored truly. It serves where there was no compiler.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold._kernels_numpy_vectors import (
    Floats,
    Mask,
    Singles,
    Slots,
    at_least_kth,
    bit_bounds,
    check_k,
    codes_at,
    codes_reaching,
    cosines,
    dots,
    fine_reaching,
    top_scores,
)

FEW_ROWS = 20_000  # below this a scan in numpy is over before numkong is imported
SPARSE = 8  # where fewer than one row in eight is allowed, gathering rows beats scanning all
ROW_BATCH_SIZE = 16_384
MAX_CODE = np.float32(127.0)

DIFFER = "query, rows, codes, bits and their numbers differ in size"

Code = NDArray[np.int8]


class SearchedRows(NamedTuple):
    """One segment's n rows as they are compared with a query.

    `vectors` (n, d) float16, `codes` (n, d) int8 and `scales` (n,) are the rows and their eight bits; `allowed` (n,)
    marks those that may be found, None all. Bits are looked at first where there are some: the five arrays and two
    numbers that `bit_bounds` takes, `apart` for `turned`, and `fine`, the second bits of `fine_reaching`; all None and
    0 in a segment searched without.
    """

    vectors: NDArray[np.float16]
    codes: NDArray[np.int8]
    scales: Singles
    allowed: Mask | None
    bits: NDArray[np.uint64] | None = None
    bit_scales: Singles | None = None
    bit_offsets: Singles | None = None
    bit_spreads: Singles | None = None
    fine: NDArray[np.uint64] | None = None
    apart: Singles | None = None
    base: float = 0.0
    by_spread: float = 0.0


class _Guess(NamedTuple):
    """What codes say of a segment: at most so much is the cosine of each of its `slots` (None: of all, by slot).

    `near` are the rows with the best estimates, `scores` these; `inners` are products with bits, where there are some.
    """

    bounds: Singles
    slots: Slots | None
    near: Slots
    scores: Singles
    inners: Singles | None = None


class _Asked(NamedTuple):
    """A query, and what its comparisons may be off, as `nearest_rows` takes them."""

    exact: Floats
    code: Code
    step: float
    by_scale: float
    rounding: float
    margin: float


class _Counted(NamedTuple):
    """Rows with their cosines, and what they count for."""

    slots: Slots
    scores: Floats
    worths: Floats


def coded_query(
    query: Singles, rotation: Singles | None, centers: tuple[tuple[Singles, Singles], ...]
) -> tuple[Code, float, Sequence[tuple[Singles, float, float]]]:
    """Return a query's eight bits (d,) and their step, the greatest number / 127, and what bits are compared with.

    `centers` are the centers (d,) of segments with bits, and these under `rotation` (d, D). For each there is the
    rotated query less the rotated center (D,), the product of query and center, which every estimate has, and the
    length of the difference. Raises ValueError for a number that is not finite and for arrays of a wrong shape.
    """
    if not np.isfinite(query).all():
        raise ValueError("a vector holds a value that is not finite")
    largest = np.float32(np.abs(query).max(initial=0.0))
    code = np.rint(query * (MAX_CODE / (largest if largest > 0.0 else MAX_CODE))).astype(np.int8)
    if rotation is None:
        return code, float(largest / MAX_CODE), []
    turned = np.einsum("i,ij->j", query, rotation)
    made = []
    for center, placed in centers:
        apart = turned - placed
        base = float(center.astype(np.float64) @ query.astype(np.float64))
        made.append((apart, base, float(np.sqrt(np.dot(apart, apart)))))
    return code, float(largest / MAX_CODE), made


def nearest_rows(  # noqa: PLR0913, PLR0917  # as the kernel takes them
    exact: Floats,
    code: Code,
    step: float,
    k: int,
    looked: int,
    rounding: float,
    margin: float,
    by_scale: float,
    parts: tuple[SearchedRows, ...],
    threads: int,  # noqa: ARG001  # as the kernel takes them
) -> Sequence[tuple[Slots, Floats]]:
    """Return of each segment the slots that count for at least the k-th best of all, in no order, with their cosines.

    A row counts for its cosine, or for the least of its bounds and `margin` if that is less: those of `bit_bounds` and
    `fine_reaching`, where a segment has bits, and of eight bits, which is the product of the codes times both scales
    and `rounding · √(scale² + step²)` more. So what is found depends on rows and query alone, and not on the order in
    which rows are looked at. The `looked` rows with the best estimates are scored first, to rule out what cannot reach
    the k-th best of these. `exact` (d,) float64 is the query, `code` (d,) and `step` its eight bits. Raises ValueError
    for k < 1 and for arrays of a wrong shape.
    """
    check_k(k)
    check_k(looked)
    for part in parts:
        _check_part(part, len(exact))
    if len(exact) != len(code):
        raise ValueError(DIFFER)
    asked = _Asked(exact, code, step, by_scale, rounding, margin)
    guesses = [
        _by_codes(code, step, part, looked, rounding) if part.bits is None else _by_bits(part, by_scale, looked)
        for part in parts
    ]
    limit = _kth_best(np.concatenate([np.empty(0, np.float32), *(one.scores for one in guesses)]), looked)
    near = [
        _counted(asked, part, guess, guess.near[guess.scores >= limit], -math.inf)
        for part, guess in zip(parts, guesses, strict=True)
    ]
    least = _kth_best(np.concatenate([np.empty(0), *(one.worths for one in near)]), k)
    found = [
        _counted(asked, part, guess, _open_rows(part, guess), least) for part, guess in zip(parts, guesses, strict=True)
    ]
    kept = at_least_kth(np.concatenate([np.empty(0), *(one.worths for one in found)]), k)
    ends = np.cumsum([0, *(len(one.slots) for one in found)]).tolist()
    return [
        (one.slots[kept[start:end]], one.scores[kept[start:end]])
        for one, start, end in zip(found, ends, ends[1:], strict=False)
    ]


def _check_part(part: SearchedRows, width: int) -> None:
    """Raise ValueError for arrays that the kernels for one segment would not look at."""
    shapes = [part.codes.shape[:1], part.scales.shape]
    if part.allowed is not None:
        shapes.append(part.allowed.shape)
    if part.vectors.shape[1:] != (width,) or any(shape != part.vectors.shape[:1] for shape in shapes):
        raise ValueError(DIFFER)
    if part.vectors.dtype != np.float16:
        raise ValueError("rows must be a contiguous float16 matrix")
    if part.bits is None:
        return
    words = -(-width // 64)
    if part.apart is None or len(part.apart) != words * 64:
        raise ValueError(DIFFER)
    if part.fine is None or part.fine.ndim != 2 or part.fine.dtype != np.uint64:  # noqa: PLR2004
        raise ValueError("bits must be a contiguous uint64 matrix")
    if len(part.fine) != len(part.vectors) or part.fine.shape[1] < words + 2:
        raise ValueError(DIFFER)


def _by_bits(part: SearchedRows, by_scale: float, looked: int) -> _Guess:
    arrays = (part.apart, part.bits, part.bit_scales, part.bit_offsets, part.bit_spreads)
    numbers = (part.base, part.by_spread, by_scale)
    bounds, (near, scores), inners = bit_bounds(*arrays, *numbers, part.allowed, looked)  # type: ignore[arg-type]
    return _Guess(bounds, None, near, scores, inners)


def _by_codes(code: Code, step: float, part: SearchedRows, looked: int, rounding: float) -> _Guess:
    allowed, slots, scales = part.allowed, None, part.scales
    if allowed is not None and np.count_nonzero(allowed) * SPARSE < len(scales):
        slots = np.flatnonzero(allowed).astype(np.uint32)
        scales = scales[slots]
        scores = codes_at(code, part.codes, part.scales, step, slots)
    else:
        scores = _scanned(code, step, part)
    bounds = scores + np.float32(rounding) * np.sqrt(scales * scales + np.float32(step) ** 2)
    best = top_scores(scores, allowed if slots is None else None, looked)
    return _Guess(bounds, slots, best if slots is None else slots[best], scores[best])


def _scanned(code: Code, step: float, part: SearchedRows) -> Singles:
    """Return the approximate cosines of all rows."""
    scores = np.empty(len(part.scales), dtype=np.float32)
    for first in range(0, len(scores), ROW_BATCH_SIZE):
        some = slice(first, first + ROW_BATCH_SIZE)
        scores[some] = _dots(code, part.codes[some], len(scores))
        scores[some] *= part.scales[some] * np.float32(step)
    return scores


def _open_rows(part: SearchedRows, guess: _Guess) -> Slots:
    """Return the slots of a segment that may be found."""
    if guess.slots is not None:
        return guess.slots
    every = np.arange(len(part.scales), dtype=np.uint32)
    return every if part.allowed is None else every[part.allowed != 0]


def _counted(asked: _Asked, part: SearchedRows, guess: _Guess, slots: Slots, least: float) -> _Counted:
    """Return those of some slots that may count for at least that much, and some more."""
    reached = np.float32(np.nextafter(np.float32(least - asked.margin), np.float32(-np.inf)))
    bounds = guess.bounds[slots] if guess.slots is None else guess.bounds[np.searchsorted(guess.slots, slots)]
    slots, bounds = slots[bounds >= reached], bounds[bounds >= reached]
    if guess.inners is not None:
        query = (part.apart, part.base, part.by_spread, asked.by_scale)
        left = fine_reaching(query, part.fine, guess.inners, slots, float(reached))  # type: ignore[arg-type]
        slots, bounds = _lower(bounds, slots, left)
        left = codes_reaching(asked.code, part.codes, part.scales, asked.step, slots, float(reached), asked.rounding)
        slots, bounds = _lower(bounds, slots, left)
    scores = cosines(asked.exact, part.vectors, slots)
    return _Counted(slots, scores, np.minimum(scores, bounds.astype(np.float64) + asked.margin))


def _lower(bounds: Singles, slots: Slots, left: tuple[Slots, Singles]) -> tuple[Slots, Singles]:
    """Return the slots that are left of some, each with the lower of its bounds."""
    return left[0], np.minimum(bounds[np.isin(slots, left[0])], left[1])


def _kth_best(scores: NDArray[np.floating], k: int) -> float:
    """Return the k-th best score; below all where there are fewer."""
    return float(np.sort(scores)[len(scores) - k]) if len(scores) >= k else -math.inf


def _dots(query: Code, rows: NDArray[np.int8], scanned: int) -> NDArray[np.int32] | NDArray[np.float64]:
    """Multiply exactly, by the fastest means at hand."""
    return dots(query, rows) if scanned < FEW_ROWS else dots_in_numkong(query, rows)


def dots_in_numkong(query: Code, rows: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return what `dots` does."""
    import numkong  # 67 ms: not for a small collection in a cold process

    found: NDArray[np.float64] = np.asarray(numkong.cdist(query[None, :], rows, "dot"))[0]
    return found
