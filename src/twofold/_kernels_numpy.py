"""The hot loops in numpy: the oracle of `_kernels.c`, and what serves where there was no compiler.

Every function gives the same bits as its twin in C. Postings of one segment: `slots` uint32, strictly rising inside a
term, and `frequencies` uint16 in step with them; a term is the stretch `[start, end)`. A slot is a passage's place in
its segment, `0 <= slot < n`. `allowed` is uint8 (n,), nonzero where a slot may be found, or None for all.
"""

import math

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.uint32]
Frequencies = NDArray[np.uint16]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.uint8]
Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
Singles = NDArray[np.float32]

MAX_SLOTS = 2**32 - 1
NOWHERE = 2**32 - 1  # the place of a term that a segment does not hold
MAX_WIDTH = 131_071  # 131071 · 128² < 2³¹
LEVELS = 15  # of a coordinate of a turned query, in four bits
MIN_STEP = 1e-30  # between the levels of a query that is the center itself
MAX_EXACT_WIDTH = 1023  # 1023 · 128² < 2²⁴: float32 adds that many products of two codes without rounding


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
    """Return every allowed slot whose BM25 score is positive and at least the k-th best, with its score, in no order.

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


def bm25_at(  # noqa: PLR0913, PLR0917
    offsets: Offsets,
    terms: Slots,
    frequencies: Frequencies,
    places: Slots,
    weights: Floats,
    norms: Floats,
    k1: float,
    wanted: Slots,
) -> Floats:
    """Return the BM25 score of each wanted slot, float64 (m,), by the forward index: the bits that `bm25_top` gives.

    The arrays are those of `occurrences`; `weights` (t,) and `norms` (n,) those of `bm25_top`. Raises ValueError as
    they do.
    """
    often = occurrences(offsets, terms, frequencies, places, wanted)
    count = _check_scorer(norms, k1)
    if count != len(offsets) - 1:
        raise ValueError("norms has the wrong length")
    _check(weights, np.float64, "weights", len(places))
    times, norm = often.astype(np.float64), norms[wanted]
    scores = np.zeros(len(wanted), dtype=np.float64)
    with np.errstate(all="ignore"):
        for term, weight in enumerate(weights):
            held = often[:, term] != 0
            scores[held] += weight * (times[held, term] * (k1 + 1.0) / (times[held, term] + norm[held]))
    return scores


def occurrences(
    offsets: Offsets, terms: Slots, frequencies: Frequencies, places: Slots, wanted: Slots
) -> NDArray[np.uint16]:
    """Return how often each term occurs in each wanted slot: uint16 (wanted, terms), 0 where it does not.

    The forward index of n passages: slot s holds the terms `terms[offsets[s]:offsets[s + 1]]`, each once, with
    `frequencies` in step. `places` (t,) are the question's terms by the same numbers, each once; `NOWHERE` is a
    term that no passage holds. Raises ValueError for a wanted slot beyond n, for terms that lie outside the
    index, and for arrays of a wrong kind or length.
    """
    _check(offsets, np.int64, "offsets")
    _check(terms, np.uint32, "places")
    _check(frequencies, np.uint16, "frequencies", len(terms))
    _check(places, np.uint32, "places")
    _check(wanted, np.uint32, "wanted")
    if not len(offsets):
        raise ValueError("offsets has the wrong length")
    if len(wanted) and int(wanted.max()) >= len(offsets) - 1:
        raise ValueError("a slot is out of range")
    numbers = {place: number for number, place in enumerate(places.tolist()) if place != NOWHERE}
    found = np.zeros((len(wanted), len(places)), dtype=np.uint16)
    for row, slot in zip(found, wanted.tolist(), strict=True):
        start, end = int(offsets[slot]), int(offsets[slot + 1])
        if not 0 <= start <= end <= len(terms):
            raise ValueError("the terms of a passage lie outside the index")
        for place, often in zip(terms[start:end].tolist(), frequencies[start:end].tolist(), strict=True):
            if place in numbers:
                row[numbers[place]] = often
    return found


def stretches(offsets: Offsets, places: Slots) -> tuple[Offsets, Offsets]:
    """Return where the postings of each place start and end, int64 (m,); an empty stretch for `NOWHERE`.

    Those of term t are from `offsets[t]` to `offsets[t + 1]`. Raises ValueError for a place beyond the terms and for
    arrays of a wrong kind.
    """
    _check(offsets, np.int64, "offsets")
    _check(places, np.uint32, "places")
    held = places != NOWHERE
    if held.any() and int(places[held].max()) + 1 >= len(offsets):
        raise ValueError("the terms of a passage lie outside the index")
    starts, ends = np.zeros(len(places), dtype=np.int64), np.zeros(len(places), dtype=np.int64)
    starts[held] = offsets[places[held]]
    ends[held] = offsets[places[held].astype(np.int64) + 1]
    return starts, ends


def idfs(passages: int, holding: Offsets) -> Floats:
    """Return how rare each of some terms is, float64 (m,): `ln(1 + (N - df + ½) / (df + ½))`.

    `holding` are their document frequencies, int64. Of 3 passages 1 holds the term: ln(1 + 2.5 / 1.5). Raises
    ValueError for an array of a wrong kind.
    """
    _check(holding, np.int64, "holding")
    return np.array([math.log(1.0 + (passages - one + 0.5) / (one + 0.5)) for one in holding.tolist()])


def turn_over(
    offsets: Offsets, slots: Slots, frequencies: Frequencies, count: int
) -> tuple[Offsets, Slots, Frequencies]:
    """Return the forward index of `count` passages: offsets (count + 1,), terms and frequencies (p,); terms rise.

    Term t's postings are `slots[offsets[t]:offsets[t + 1]]`, with `frequencies` in step. Raises ValueError for a
    slot beyond `count`, for offsets that lead out, and for arrays of a wrong kind or length.
    """
    _check(offsets, np.int64, "offsets")
    _check(slots, np.uint32, "slots")
    _check(frequencies, np.uint16, "frequencies", len(slots))
    if not len(offsets) or count < 0:
        raise ValueError("offsets has the wrong length")
    if len(slots) and int(slots.max()) >= count:
        raise ValueError("a slot is out of range")
    sizes = np.diff(offsets)
    if offsets[0] != 0 or offsets[-1] != len(slots) or (sizes < 0).any():
        raise ValueError("the terms of a passage lie outside the index")
    order = np.argsort(slots, kind="stable")
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(slots, minlength=count), out=starts[1:])
    return starts, np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)[order], frequencies[order]


def find_texts(  # noqa: PLR0913, PLR0917
    texts: Bytes, offsets: Offsets, hashes: Hashes, places: Slots, asked: Bytes, asked_offsets: Offsets, wanted: Hashes
) -> Slots:
    """Return where each of m texts stands among n: uint32 (m,), `NOWHERE` for one that is not among them.

    Text i of the n is `texts[offsets[i]:offsets[i + 1]]`; `hashes` (n,) are theirs, rising, and `places` (n,) the text
    that each is of. The m are cut alike out of `asked`, and `wanted` are their hashes. Raises ValueError for places
    and offsets that lead out, and for arrays of a wrong kind or length.
    """
    for array, kind, name in (
        (texts, np.uint8, "texts"),
        (asked, np.uint8, "texts"),
        (places, np.uint32, "places"),
        (wanted, np.uint64, "hashes"),
    ):
        _check(array, kind, name)
    _check(hashes, np.uint64, "hashes", len(places))
    _check(offsets, np.int64, "offsets", len(places) + 1)
    _check(asked_offsets, np.int64, "offsets", len(wanted) + 1)
    found = np.full(len(wanted), NOWHERE, dtype=np.uint32)
    first = np.searchsorted(hashes, wanted).tolist()
    for number, at in enumerate(first):
        text = _cut(asked, asked_offsets, number)
        while at < len(hashes) and hashes[at] == wanted[number]:
            if _cut(texts, offsets, int(places[at])) == text:
                found[number] = places[at]
                break
            at += 1  # noqa: PLW2901
    return found


def _cut(texts: Bytes, offsets: Offsets, place: int) -> bytes:
    if place >= len(offsets) - 1:
        raise ValueError("a slot is out of range")
    start, end = int(offsets[place]), int(offsets[place + 1])
    if not 0 <= start <= end <= len(texts):
        raise ValueError("the terms of a passage lie outside the index")
    return texts[start:end].tobytes()


def phrase_marks(texts: Bytes, offsets: Offsets, marks: Mask, phrase: Bytes) -> Mask:
    """Return for each of n folded texts whether it holds a folded phrase, word for word: uint8 (n,).

    Text i is the UTF-8 `texts[offsets[i]:offsets[i + 1]]`, and only those with `marks` (n,) nonzero are looked at: the
    others have 0. 0 is no, 1 is yes, 2 is where characters decide that this function does not know; see
    `twofold.text.phrases`. Raises ValueError for an empty phrase, for offsets that lead out, and for arrays of a wrong
    kind or length.
    """
    _check(texts, np.uint8, "texts")
    _check(phrase, np.uint8, "texts")
    _check(marks, np.uint8, "marks")
    _check(offsets, np.int64, "offsets", len(marks) + 1)
    if not len(phrase):
        raise ValueError("the phrase is empty")
    if len(marks) and (offsets[0] < 0 or offsets[-1] > len(texts) or (np.diff(offsets) < 0).any()):
        raise ValueError("the terms of a passage lie outside the index")
    wanted, found = phrase.tobytes(), np.zeros(len(marks), dtype=np.uint8)
    for place in np.flatnonzero(marks).tolist():
        found[place] = _stands_in(texts[offsets[place] : offsets[place + 1]].tobytes(), wanted)
    return found


_NO, _YES, _UNSURE = range(3)
_FREE = (("\u4e00", "\u9fff"), ("\uac00", "\ud7a3"), ("\u3041", "\u3096"), ("\u30a1", "\u30fa"))


def _stands_in(text: bytes, phrase: bytes) -> int:
    best, at = _NO, text.find(phrase)
    while at >= 0:
        ends = {_border(text, at), _border(text, at + len(phrase))}
        if ends == {_YES}:
            return _YES
        best = best if _NO in ends else _UNSURE
        at = text.find(phrase, at + 1)
    return best


def _border(text: bytes, at: int) -> int:
    if not 0 < at < len(text) or b" " in text[at - 1 : at + 1]:
        return _YES
    left, right = text[at - 1 : at], text[at : at + 1]
    if not (left.isascii() or _is_free(text, at - 3)) or not (right.isascii() or _is_free(text, at)):
        return _UNSURE
    if right.isdigit() and left in b".,:":
        return _no_digit(text, at - 2, at - 4)
    if left.isdigit() and right in b".,:":
        return _no_digit(text, at + 1, at + 1)
    return _NO if _is_word(left) and _is_word(right) else _YES


def _no_digit(text: bytes, at: int, start: int) -> int:
    """Return whether no digit stands at a place; `start` is where a character of three bytes would begin."""
    if not 0 <= at < len(text):
        return _YES
    if text[at] >= 0x80:  # noqa: PLR2004
        return _YES if _is_free(text, start) else _UNSURE
    return _NO if text[at : at + 1].isdigit() else _YES


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def _is_free(text: bytes, at: int) -> bool:
    """Return whether a kana, an ideograph or a Hangul syllable begins at a place: words may border on it."""
    try:
        character = text[at : at + 3].decode() if at >= 0 else ""
    except UnicodeDecodeError:
        return False
    return len(character) == 1 and any(first <= character <= last for first, last in _FREE)


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
    """Return every allowed slot whose score is at least the k-th best, rising; NaN is never found.

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
) -> tuple[Singles, tuple[Slots, Singles]]:
    """Return what the score of each row is at most, float32 (n,), and the rows with the best estimates, with these.

    `turned` (64 · words,) is rounded to the 16 levels `low + level · step`. `bits` (ceil(n / 8), 8 · words) holds word
    w of row r of a block at `8 · w + r`; `ones` counts a row's bits, and `sum` adds up the levels where they are set.
    The estimate is `offset + base + scale · (2 · step · sum + 2 · low · ones - less)` in double precision, in this
    order, `less` being `low · 64 · words + step · all levels`; the bound is as much more as the root of
    `(spread · by_spread)² + (scale · by_scale · step)²`, in single precision. `scales`, `offsets` and `spreads` are
    (n,). The best are every allowed slot whose estimate is at least the k-th best, rising; NaN is never one. Raises
    ValueError for arrays of a wrong shape and for k < 1.
    """
    for array, name in ((turned, "the turned query"), (scales, "scales"), (offsets, "offsets"), (spreads, "spreads")):
        _check(array, np.float32, name)
    count, words = len(scales), len(turned) // 64
    if bits.dtype != np.uint64 or bits.ndim != 2 or not bits.flags.c_contiguous:  # noqa: PLR2004
        raise ValueError("bits must be a contiguous uint64 matrix")
    fitting = (-(-count // 8), 8 * words), count, count
    if not words or len(turned) % 64 or (bits.shape, len(offsets), len(spreads)) != fitting:
        raise ValueError("query, bits, scales, offsets and spreads differ in size")
    low = float(turned.min())
    step = max((float(turned.max()) - low) / LEVELS, MIN_STEP)
    levels = np.rint((turned - np.float32(low)) / np.float32(step)).astype(np.uint8)
    less = low * len(turned) + step * int(levels.sum(dtype=np.int64))
    scores = np.empty(len(bits) * 8, dtype=np.float32)[:count]
    for first in range(0, len(bits), 8192):
        ones, sums = _counted_bits(bits[first : first + 8192].reshape(-1, words, 8), levels)
        part = slice(first * 8, min(first * 8 + len(ones), count))
        length = part.stop - part.start
        inner = 2.0 * step * sums[:length] + 2.0 * low * ones[:length] - less
        scores[part] = (offsets[part].astype(np.float64) + base) + scales[part].astype(np.float64) * inner
    one, other = spreads * np.float32(by_spread), scales * np.float32(by_scale * step)
    best = top_scores(scores, allowed, k)
    return scores + np.sqrt(one * one + other * other), (best, scores[best])


def _counted_bits(blocks: NDArray[np.uint64], levels: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Return how many bits each row has, and the sum of the levels where they are set."""
    ones = np.bitwise_count(blocks).sum(axis=1, dtype=np.int64).reshape(-1)
    sums = np.zeros_like(ones)
    for plane in range(4):
        shared = blocks & np.packbits(levels >> plane & 1, bitorder="little").view("<u8")[None, :, None]
        sums += np.bitwise_count(shared).sum(axis=1, dtype=np.int64).reshape(-1) << plane
    return ones.astype(np.float64), sums.astype(np.float64)


def dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.int32]:
    """Return the dot product of a code (d,) with each row (n, d), exact: int32 (n,).

    Raises ValueError for arrays of a wrong shape, and for more than 131071 dimensions, where 32 bits could overflow.
    """
    _check(query, np.int8, "query")
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
    _check(slots, np.uint32, "wanted")
    _check(scales, np.float32, "scales", len(rows))
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
    bounds: Singles,
    allowed: Mask | None,
    least: float,
    rounding: float,
) -> tuple[Slots, Singles]:
    """Return every allowed slot, rising, whose bound and whose score by codes may reach `least`, and these scores.

    The scores are those of `codes_at`, to which `rounding · √(scale² + step²)` is added before they are compared, in
    single precision. `bounds` (n,) are float32; NaN reaches nothing. Raises ValueError as `codes_at` does.
    """
    _check(scales, np.float32, "scales", len(rows))
    _check(bounds, np.float32, "bounds", len(rows))
    found = bounds >= np.float32(least)
    if allowed is not None:
        _check(allowed, np.uint8, "allowed", len(rows))
        found &= allowed != 0
    slots = np.flatnonzero(found).astype(np.uint32)
    scores = codes_at(query, rows, scales, step, slots)
    own = scales[slots]
    near = scores + np.float32(rounding) * np.sqrt(own * own + np.float32(step) ** 2) >= np.float32(least)
    return slots[near], scores[near]


def cosines(query: Floats, rows: NDArray[np.float16], slots: Slots) -> Floats:
    """Return the dot product of a query (d,) with some rows of (n, d), by their slots (m,): float64 (m,).

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
    if len(norms) > MAX_SLOTS:
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
