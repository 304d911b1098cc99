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
    """Return of each segment the slots whose cosine is at least the k-th best of all, in no order, with these cosines.

    The `looked` rows with the best estimates are scored truly; rows that cannot reach the k-th best of these scores
    less `margin` are ruled out by the bounds of `bit_bounds` and then `fine_reaching`, where a segment has bits, and by
    eight bits: the product of the codes times both scales, and `rounding · √(scale² + step²)` more. `exact` (d,)
    float64 is the query, `code` (d,) and `step` its eight bits. Raises ValueError for k < 1 and for arrays of a wrong
    shape.
    """
    check_k(k)
    check_k(looked)
    for part in parts:
        _check_part(part, len(exact))
    if len(exact) != len(code):
        raise ValueError(DIFFER)
    guesses = [
        _by_codes(code, step, part, looked, rounding) if part.bits is None else _by_bits(part, by_scale, looked)
        for part in parts
    ]
    limit = _kth_best(np.concatenate([np.empty(0, np.float32), *(one.scores for one in guesses)]), looked)
    near = [one.near[one.scores >= limit] for one in guesses]
    scores = [cosines(exact, part.vectors, slots) for part, slots in zip(parts, near, strict=True)]
    least = _kth_best(np.concatenate([np.empty(0), *scores]), k) - margin
    found = []
    for part, guess in zip(parts, guesses, strict=True):
        slots = _reaching((code, step, by_scale), part, guess, least, rounding)
        found.append((slots, cosines(exact, part.vectors, slots)))
    kept = at_least_kth(np.concatenate([np.empty(0), *(one for _, one in found)]), k)
    ends = np.cumsum([0, *(len(slots) for slots, _ in found)]).tolist()
    return [
        (slots[kept[start:end]], scores[kept[start:end]])
        for (slots, scores), start, end in zip(found, ends, ends[1:], strict=False)
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


def _reaching(
    asked: tuple[Code, float, float], part: SearchedRows, guess: _Guess, least: float, rounding: float
) -> Slots:
    """Return the slots of a segment whose cosine may be at least that."""
    reach = guess.bounds >= np.float32(least)
    if guess.inners is not None:
        code, step, by_scale = asked
        slots = np.flatnonzero(reach if part.allowed is None else reach & (part.allowed != 0)).astype(np.uint32)
        query = (part.apart, part.base, part.by_spread, by_scale)
        slots = fine_reaching(query, part.fine, guess.inners, slots, least)  # type: ignore[arg-type]
        return codes_reaching(code, part.codes, part.scales, step, slots, least, rounding)[0]
    if guess.slots is not None:
        return guess.slots[reach]
    return np.flatnonzero(reach if part.allowed is None else reach & (part.allowed != 0)).astype(np.uint32)


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
