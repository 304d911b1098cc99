"""The kernels that compare vectors, in numpy: the oracle of their twins in `_kernels.c`, and what serves without them.

Every function gives the same bits as its twin in C; see `_kernels_numpy`, which has them all.
"""

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.uint32]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.uint8]

MAX_WIDTH = 131_071  # 131071 · 128² < 2³¹
LOWEST, HIGHEST = -8, 7  # levels of a coordinate of a turned query, in four bits
MIN_STEP = 1e-30  # between the levels of a query that is the center itself
MAX_EXACT_WIDTH = 1023  # 1023 · 128² < 2²⁴: float32 adds that many products of two codes without rounding


def top_scores(scores: NDArray[np.float32], allowed: Mask | None, k: int) -> Slots:
    """Return every allowed slot whose score is at least the k-th best, rising; NaN is never found.

    Raises ValueError for k < 1 and arrays of a wrong kind or length.
    """
    check(scores, np.float32, "scores")
    check_k(k)
    found = ~np.isnan(scores)
    if allowed is not None:
        check(allowed, np.uint8, "allowed", len(scores))
        found &= allowed != 0
    touched = np.flatnonzero(found)
    return touched[at_least_kth(scores[touched], k)].astype(np.uint32)


def bit_bounds(  # noqa: PLR0913, PLR0917  # as the kernel takes them
    turned: Singles,
    bits: NDArray[np.uint64],
    scales: Singles,
    offsets: Singles,
    spreads: Singles,
    base: float,
    by_spread: float,
    by_scale: float,
    allowed: Mask | None,
    k: int,
) -> tuple[Singles, tuple[Slots, Singles], Singles]:
    """Return what the score of each row is at most, float32 (n,), the rows with the best estimates, with these.

    Third comes each row's product with the query, float32 (n,), in which `scale` and `offset` are not yet.

    `turned` (64 · words,) is rounded to 16 levels, -8 to 7 steps. `bits` (ceil(n / 8), 8 · words) holds word w of row
    r of a block at `8 · w + r`; `sum` adds up the levels where a row's bits are set. The estimate is
    `offset + base + scale · (2 · step · sum - less)`, `less` being `step · all levels`; the bound is as much more as
    the root of `(spread · by_spread)² + (scale · by_scale · step)²`, all in single precision. `scales`, `offsets` and
    `spreads` are (n,). The best are every allowed slot whose estimate is at least the k-th best, rising; NaN is never
    one. Raises ValueError for arrays of a wrong shape and for k < 1.
    """
    for array, name in ((turned, "the turned query"), (scales, "scales"), (offsets, "offsets"), (spreads, "spreads")):
        check(array, np.float32, name)
    count, words = len(scales), len(turned) // 64
    if bits.dtype != np.uint64 or bits.ndim != 2 or not bits.flags.c_contiguous:  # noqa: PLR2004
        raise ValueError("bits must be a contiguous uint64 matrix")
    fitting = (-(-count // 8), 8 * words), count, count
    if not words or len(turned) % 64 or (bits.shape, len(offsets), len(spreads)) != fitting:
        raise ValueError("query, bits, scales, offsets and spreads differ in size")
    step, levels, less = _leveled(turned)
    sums = np.empty(len(bits) * 8, dtype=np.float32)
    for first in range(0, len(bits), 8192):
        blocks = bits[first : first + 8192].reshape(-1, words, 8)
        sums[first * 8 : first * 8 + len(blocks) * 8] = _summed(blocks, levels)
    inners = np.float32(2.0 * step) * sums[:count] - less
    scores = (offsets + np.float32(base)) + scales * inners
    one, other = spreads * np.float32(by_spread), scales * np.float32(by_scale * step)
    best = top_scores(scores, allowed, k)
    return scores + np.sqrt(one * one + other * other), (best, scores[best]), inners


def _leveled(turned: Singles) -> tuple[float, NDArray[np.int8], np.float32]:
    """Return the step between the levels of a turned query, these, and what every sum has of them."""
    wide = turned.astype(np.float64)
    step = max(float((wide / np.where(wide < 0.0, LOWEST, HIGHEST)).max()), MIN_STEP)
    levels = np.rint(turned / np.float32(step)).astype(np.int8)
    return step, levels, np.float32(step * int(levels.sum(dtype=np.int64)))


def fine_reaching(
    query: tuple[Singles, float, float, float],
    fine: NDArray[np.uint64],
    inners: Singles,
    slots: Slots,
    least: float,
) -> tuple[Slots, Singles]:
    """Return those of some slots whose score may reach `least` by both bits, in their order, with what it is at most.

    `query` are `turned`, `base`, `by_spread` and `by_scale` of `bit_bounds`, `inners` (n,) the products that it gives.
    A row of `fine` is the second bits of a row, `words` of them, then float32 numbers: a scale, a length, a spread and
    an offset. With `second` the product of the second bits, as `bit_bounds` makes it of the first, the estimate is
    `offset + base + scale · (inner + second / 2)`, and the bound is as much more as the root of
    `(spread · by_spread)² + (length · by_scale · step)²`, in single precision.
    """
    turned, base, by_spread, by_scale = query
    step, levels, less = _leveled(turned)
    words = len(turned) // 64
    rows = np.ascontiguousarray(fine[slots, : words + 2])
    sums = _summed(np.ascontiguousarray(rows[:, :words, None]), levels)
    scales, lengths, spreads, offsets = np.ascontiguousarray(rows[:, words:]).view(np.float32).T
    second = np.float32(2.0 * step) * sums.astype(np.float32) - less
    scores = (offsets + np.float32(base)) + scales * (inners[slots] + np.float32(0.5) * second)
    one, other = spreads * np.float32(by_spread), lengths * np.float32(by_scale * step)
    bounds = scores + np.sqrt(one * one + other * other)
    reach = bounds >= np.float32(least)
    return slots[reach], bounds[reach]


def _summed(blocks: NDArray[np.uint64], levels: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the sum of the levels where the bits of each row are set."""
    sums = np.zeros((blocks.shape[0], blocks.shape[2]), dtype=np.int64)
    for plane, weight in enumerate((1, 2, 4, -8)):
        shared = blocks & np.packbits(levels >> plane & 1, bitorder="little").view("<u8")[None, :, None]
        sums += np.bitwise_count(shared).sum(axis=1, dtype=np.int64) * weight
    return sums.reshape(-1)


def dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.int32]:
    """Return the dot product of a code (d,) with each row (n, d), exact: int32 (n,).

    Raises ValueError for arrays of a wrong shape, and for more than 131071 dimensions, where 32 bits could overflow.
    """
    check(query, np.int8, "query")
    if rows.dtype != np.int8 or rows.ndim != 2 or not rows.flags.c_contiguous:  # noqa: PLR2004
        raise ValueError("rows must be a contiguous int8 matrix")
    if rows.shape[1] != len(query) or not 0 < len(query) <= MAX_WIDTH:
        raise ValueError("rows and query differ in width")
    wide = query.astype(np.float32)
    total = np.zeros(len(rows), dtype=np.int32)
    for first in range(0, len(wide), MAX_EXACT_WIDTH):
        part = slice(first, first + MAX_EXACT_WIDTH)
        total += (rows[:, part].astype(np.float32) @ wide[part]).astype(np.int32)
    return total


def codes_at(query: NDArray[np.int8], rows: NDArray[np.int8], scales: Singles, step: float, slots: Slots) -> Singles:
    """Return `dot · (scale · step)` of chosen rows (n, d), float32 (m,), in the order of `slots`.

    `scales` (n,) are the rows' own and `step`, rounded to float32, is the query's. Raises ValueError as `dots` does,
    and for a slot that is no row.
    """
    check(slots, np.uint32, "wanted")
    check(scales, np.float32, "scales", len(rows))
    if len(slots) and int(slots.max()) >= len(rows):
        raise ValueError("a slot is out of range")
    found = np.empty(len(slots), dtype=np.float32)
    for first in range(0, len(slots), 2048):  # copies that stay in the second-level cache
        part = slice(first, first + 2048)
        found[part] = dots(query, np.take(rows, slots[part].astype(np.intp), axis=0))
    found *= scales[slots] * np.float32(step)
    return found


def codes_reaching(  # noqa: PLR0913, PLR0917  # as the kernel takes them
    query: NDArray[np.int8],
    rows: NDArray[np.int8],
    scales: Singles,
    step: float,
    slots: Slots,
    least: float,
    rounding: float,
) -> tuple[Slots, Singles]:
    """Return those of some slots whose score by codes may reach `least`, in their order, with what it is at most.

    That is `rounding · √(scale² + step²)` more than the score of `codes_at`, in single precision; NaN reaches nothing.
    Raises ValueError as `codes_at` does.
    """
    own = scales[slots]
    bounds = codes_at(query, rows, scales, step, slots) + np.float32(rounding) * np.sqrt(
        own * own + np.float32(step) ** 2
    )
    near = bounds >= np.float32(least)
    return slots[near], bounds[near]


def cosines(query: Floats, rows: NDArray[np.float16], slots: Slots) -> Floats:
    """Return the dot product of a query (d,) with some rows of (n, d), by their slots (m,): float64 (m,).

    Each product is exact; they are filled up with zeros to a power of two, and the upper half is added to the lower
    until one is left, so that a row's score depends on that row alone. Rows must be finite. Raises ValueError for
    arrays of a wrong shape and for a slot out of range.
    """
    check(query, np.float64, "query")
    check(slots, np.uint32, "wanted")
    if rows.dtype != np.float16 or rows.ndim != 2 or not rows.flags.c_contiguous:  # noqa: PLR2004
        raise ValueError("rows must be a contiguous float16 matrix")
    if rows.shape[1] != len(query) or not len(query):
        raise ValueError("rows and query differ in width")
    if len(slots) and int(slots.max()) >= len(rows):
        raise ValueError("a slot is out of range")
    width = 1 << (len(query) - 1).bit_length()
    sums = np.zeros((len(slots), width), dtype=np.float64)
    np.multiply(rows[slots], query, out=sums[:, : len(query)])
    while width > 1:
        width //= 2
        sums[:, :width] += sums[:, width : 2 * width]
    return sums[:, 0].copy()


def at_least_kth(scores: NDArray[np.floating], k: int) -> NDArray[np.bool_]:
    if len(scores) <= k:
        return np.ones(len(scores), dtype=np.bool_)
    kth = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.asarray(scores >= kth)


def check_k(k: int) -> None:
    if k < 1:
        raise ValueError("k must be at least 1")


def check(values: NDArray[np.generic], kind: type[np.generic], name: str, length: int | None = None) -> None:
    if values.dtype != kind or values.ndim != 1 or not values.flags.c_contiguous:
        raise ValueError(f"{name} must be a contiguous vector of {np.dtype(kind).name}")
    if length is not None and len(values) != length:
        raise ValueError(f"{name} has the wrong length")
