"""The hot loops in numpy: the oracle of `_kernels.c`, and what serves where there was no compiler.

Every function gives the same bits as its twin in C. Postings of one segment: `slots` uint32, strictly rising inside a
term, and `frequencies` uint16 beside them; a term is the stretch `[start, end)`. A slot is a passage's place in its
segment, `0 <= slot < n`. `allowed` is uint8 (n,), nonzero where a slot may be found, or None for all.
"""

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.uint32]
Frequencies = NDArray[np.uint16]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.uint8]

MOST_SLOTS = 2**32 - 1
WIDEST = 131_071  # 131071 · 128² < 2³¹
WIDEST_EXACT = 1023  # 1023 · 128² < 2²⁴: float32 adds so many products of two codes without rounding


def bm25_top(  # noqa: PLR0913, PLR0917
    slots: Slots,
    frequencies: Frequencies,
    starts: Offsets,
    ends: Offsets,
    weights: Floats,
    norms: Floats,
    k1: float,
    allowed: Mask | None,
    k: int,
) -> tuple[Slots, Floats]:
    """Give every allowed slot whose BM25 score is positive and at least the k-th best, with its score, in no order.

    For each term in turn a posting adds `weight · (tf · (k1 + 1) / (tf + norm))` in float64, from the left, where
    `norm = k1 · (1 - b + b · length / average_length)` of its slot, (n,), and `weight = idf · weight in the query`.
    All ties at the k-th best are given, so a caller can break them by what it likes.
    Worked number: weight 2, tf 3, k1 1.2, norm 1.2 gives 2 · (3 · 2.2 / 4.2) = 3.142857142857143.
    Raises ValueError for k < 1, arrays of a wrong kind or length, and postings that do not rise or name no slot of n.
    """
    _check_terms(slots, frequencies, starts, ends, weights, norms)
    count = _check_scorer(norms, k1)
    _check_k(k)
    if allowed is not None:
        _check(allowed, np.uint8, "allowed", count)
    scores = np.zeros(count, dtype=np.float64)
    with np.errstate(all="ignore"):
        for start, end, weight in zip(starts, ends, weights, strict=True):
            held = _stretch(slots, int(start), int(end), count)
            often = frequencies[start:end].astype(np.float64)
            scores[held] += weight * (often * (k1 + 1.0) / (often + norms[held]))
    found = scores > 0.0
    if allowed is not None:
        found &= allowed != 0
    touched = np.flatnonzero(found)
    best = touched[_at_least_kth(scores[touched], k)]
    return best.astype(np.uint32), scores[best]


def occurrences(
    slots: Slots, frequencies: Frequencies, starts: Offsets, ends: Offsets, wanted: Slots
) -> NDArray[np.uint16]:
    """Say how often each term occurs in each wanted slot: uint16 (wanted, terms), 0 where it does not.

    Fastest where the wanted slots rise. A slot that the segment does not have holds no term. Raises ValueError for
    arrays of a wrong kind or length.
    """
    _check_postings(slots, frequencies, starts, ends)
    _check(wanted, np.uint32, "wanted")
    found = np.zeros((len(wanted), len(starts)), dtype=np.uint16)
    for term, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < end:
            held = slots[start:end]
            places = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
            found[:, term] = np.where(held[places] == wanted, frequencies[start:end][places], 0)
    return found


def count_marked(slots: Slots, start: int, end: int, marks: Mask) -> int:
    """Count the postings in [start, end) whose slot is marked (nonzero): a term's dead passages, for an exact df.

    Raises ValueError for a stretch outside the postings or a slot outside `marks`.
    """
    _check(slots, np.uint32, "slots")
    _check(marks, np.uint8, "marks")
    return int(np.count_nonzero(marks[_within(slots, start, end, len(marks))]))


def mark(slots: Slots, start: int, end: int, marks: Mask) -> None:
    """Set `marks[slot] = 1` for the postings in [start, end). Raises ValueError as `count_marked` does."""
    _check(slots, np.uint32, "slots")
    _check(marks, np.uint8, "marks")
    if not marks.flags.writeable:
        raise ValueError("marks must be writable")
    marks[_within(slots, start, end, len(marks))] = 1


def top_scores(scores: NDArray[np.float32], allowed: Mask | None, k: int) -> Slots:
    """Give every allowed slot whose score is at least the k-th best, rising; NaN is never found.

    Raises ValueError for k < 1 and arrays of a wrong kind or length.
    """
    _check(scores, np.float32, "scores")
    _check_k(k)
    found = ~np.isnan(scores)
    if allowed is not None:
        _check(allowed, np.uint8, "allowed", len(scores))
        found &= allowed != 0
    touched = np.flatnonzero(found)
    return touched[_at_least_kth(scores[touched], k)].astype(np.uint32)


def hamming_top(
    query: NDArray[np.uint8], codes: NDArray[np.uint8], allowed: Mask | None, k: int
) -> tuple[Slots, NDArray[np.uint32]]:
    """Give every allowed row at most as many bits away as the k-th nearest, rising, and its distance in bits.

    `query` is uint8 (bytes,), `codes` uint8 (n, bytes). Raises ValueError for k < 1 and arrays of a wrong shape.
    """
    _check(query, np.uint8, "query")
    _check_k(k)
    if codes.dtype != np.uint8 or codes.ndim != 2 or not codes.flags.c_contiguous:  # noqa: PLR2004
        raise ValueError("codes must be a contiguous uint8 matrix")
    if codes.shape[1] != len(query) or not len(query):
        raise ValueError("codes and query differ in width")
    if allowed is not None:
        _check(allowed, np.uint8, "allowed", len(codes))
    rows = np.arange(len(codes)) if allowed is None else np.flatnonzero(allowed)
    distances = np.empty(len(rows), dtype=np.uint32)
    for first in range(0, len(rows), 65536):
        part = rows[first : first + 65536]
        distances[first : first + 65536] = np.bitwise_count(codes[part] ^ query).sum(axis=1, dtype=np.uint32)
    best = _at_least_kth(-distances.astype(np.float64), k)
    return rows[best].astype(np.uint32), distances[best]


def dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.int32]:
    """Give the dot product of a code (d,) with each row (n, d), exact: int32 (n,).

    Raises ValueError for arrays of a wrong shape, and for more than 131071 dimensions, where 32 bits could overflow.
    """
    _check(query, np.int8, "query")
    if rows.dtype != np.int8 or rows.ndim != 2 or not rows.flags.c_contiguous:  # noqa: PLR2004
        raise ValueError("rows must be a contiguous int8 matrix")
    if rows.shape[1] != len(query) or not 0 < len(query) <= WIDEST:
        raise ValueError("rows and query differ in width")
    wide = query.astype(np.float32)
    total = np.zeros(len(rows), dtype=np.int32)
    for first in range(0, len(wide), WIDEST_EXACT):
        part = slice(first, first + WIDEST_EXACT)
        total += (rows[:, part].astype(np.float32) @ wide[part]).astype(np.int32)
    return total


def cosines(query: Floats, rows: NDArray[np.float16], slots: Slots) -> Floats:
    """Give the dot product of a query (d,) with some rows of (n, d), by their slots (m,): float64 (m,).

    Each product is exact; they are filled up with zeros to a power of two, and the upper half is added to the lower
    until one is left, so that a row's score depends on that row alone. Rows must be finite. Raises ValueError for
    arrays of a wrong shape and for a slot out of range.
    """
    _check(query, np.float64, "query")
    _check(slots, np.uint32, "wanted")
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


def _at_least_kth(scores: NDArray[np.floating], k: int) -> NDArray[np.bool_]:
    if len(scores) <= k:
        return np.ones(len(scores), dtype=np.bool_)
    kth = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.asarray(scores >= kth)


def _stretch(slots: Slots, start: int, end: int, count: int) -> Slots:
    held = slots[start:end]
    if len(held) and int(held.max()) >= count:
        raise ValueError("a slot is out of range")
    if not bool(np.all(held[1:] > held[:-1])):
        raise ValueError("the slots of a term do not rise")
    return held


def _within(slots: Slots, start: int, end: int, count: int) -> Slots:
    if not 0 <= start <= end <= len(slots):
        raise ValueError("a term lies outside the postings")
    held = slots[start:end]
    if len(held) and int(held.max()) >= count:
        raise ValueError("a slot is out of range")
    return held


def _check_terms(
    slots: Slots, frequencies: Frequencies, starts: Offsets, ends: Offsets, weights: Floats, norms: Floats
) -> None:
    _check_postings(slots, frequencies, starts, ends)
    _check(weights, np.float64, "weights", len(starts))
    _check(norms, np.float64, "norms")


def _check_postings(slots: Slots, frequencies: Frequencies, starts: Offsets, ends: Offsets) -> None:
    _check(slots, np.uint32, "slots")
    _check(frequencies, np.uint16, "frequencies", len(slots))
    _check(starts, np.int64, "starts")
    _check(ends, np.int64, "ends", len(starts))
    if len(starts) and bool(np.any((starts < 0) | (ends < starts) | (ends > len(slots)))):
        raise ValueError("a term lies outside the postings")


def _check_scorer(norms: Floats, k1: float) -> int:
    if not (np.isfinite(k1) and k1 >= 0.0):
        raise ValueError("k1 must be a finite number of at least 0")
    if len(norms) > MOST_SLOTS:
        raise ValueError("norms has too many slots")
    return len(norms)


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError("k must be at least 1")


def _check(values: NDArray[np.generic], kind: type[np.generic], name: str, length: int | None = None) -> None:
    if values.dtype != kind or values.ndim != 1 or not values.flags.c_contiguous:
        raise ValueError(f"{name} must be a contiguous vector of {np.dtype(kind).name}")
    if length is not None and len(values) != length:
        raise ValueError(f"{name} has the wrong length")
