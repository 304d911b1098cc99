"""The hot loops in numpy: the oracle of `_kernels.c`, and what serves where there was no compiler.

Every function gives the same bits as its twin in C. Postings of one segment: `slots` uint32, strictly rising inside a
term, and `frequencies` uint16 in step with them; a term is the stretch `[start, end)`. A slot is a passage's place in
its segment, `0 <= slot < n`. `allowed` is uint8 (n,), nonzero where a slot may be found, or None for all.
"""

import math

import numpy as np
from numpy.typing import NDArray

from twofold._kernels_numpy_candidates import order_found
from twofold._kernels_numpy_vectors import (
    check,
    check_k,
    cosines,
    dots,
    top_scores,
)

__all__ = [
    "NOWHERE",
    "bm25_at",
    "bm25_top",
    "cosines",
    "count_terms",
    "dots",
    "find_texts",
    "idfs",
    "mark",
    "occurrences",
    "phrase_marks",
    "stretches",
    "top_scores",
    "turn_over",
]

Slots = NDArray[np.uint32]
Frequencies = NDArray[np.uint16]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.uint8]
Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
AskedPart = tuple[Slots, Frequencies, Offsets, Offsets, Floats, Mask | None, NDArray[np.int64]]
"""One segment of a BM25 question: postings, where each term's start and end, norms, who is allowed, and keys."""

MAX_SLOTS = 2**32 - 1
NOWHERE = 2**32 - 1  # the place of a term that a segment does not hold


def bm25_top(
    parts: tuple[AskedPart, ...], weights: Floats, k1: float, k: int
) -> tuple[NDArray[np.int64], Floats, Slots, Slots]:
    """Return the k best of all segments by BM25, ties by rising key: keys, scores, segments and slots.

    For each term in turn a posting adds `weight · (tf · (k1 + 1) / (tf + norm))` in float64, from the left, where
    `norm = k1 · (1 - b + b · length / average_length)` of its slot, (n,), and `weight = idf · weight in the query`.
    Only what scores above 0 and is allowed is found.
    Worked number: weight 2, tf 3, k1 1.2, norm 1.2 gives 2 · (3 · 2.2 / 4.2) = 3.142857142857143.
    Raises ValueError for k < 1, arrays of a wrong kind or length, postings that do not rise or name no slot of n, and a
    key that is there twice.
    """
    check_k(k)
    return order_found(tuple((part[6], *_scored(part, weights, k1)) for part in parts), k)


def _scored(part: AskedPart, weights: Floats, k1: float) -> tuple[Slots, Floats]:
    """Return every allowed slot of one segment whose BM25 score is positive, and its score."""
    slots, frequencies, starts, ends, norms, allowed, keys = part
    _check_terms(slots, frequencies, starts, ends, weights, norms)
    count = _check_scorer(norms, k1)
    if allowed is not None:
        check(allowed, np.uint8, "allowed", count)
    check(keys, np.int64, "keys", count)
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
    return touched.astype(np.uint32), scores[touched]


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
    check(weights, np.float64, "weights", len(places))
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
    check(offsets, np.int64, "offsets")
    check(terms, np.uint32, "places")
    check(frequencies, np.uint16, "frequencies", len(terms))
    check(places, np.uint32, "places")
    check(wanted, np.uint32, "wanted")
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
    check(offsets, np.int64, "offsets")
    check(places, np.uint32, "places")
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
    check(holding, np.int64, "holding")
    return np.array([math.log(1.0 + (passages - one + 0.5) / (one + 0.5)) for one in holding.tolist()])


def turn_over(
    offsets: Offsets, slots: Slots, frequencies: Frequencies, count: int
) -> tuple[Offsets, Slots, Frequencies]:
    """Return the forward index of `count` passages: offsets (count + 1,), terms and frequencies (p,); terms rise.

    Term t's postings are `slots[offsets[t]:offsets[t + 1]]`, with `frequencies` in step. Raises ValueError for a
    slot beyond `count`, for offsets that lead out, and for arrays of a wrong kind or length.
    """
    check(offsets, np.int64, "offsets")
    check(slots, np.uint32, "slots")
    check(frequencies, np.uint16, "frequencies", len(slots))
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
        check(array, kind, name)
    check(hashes, np.uint64, "hashes", len(places))
    check(offsets, np.int64, "offsets", len(places) + 1)
    check(asked_offsets, np.int64, "offsets", len(wanted) + 1)
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
    check(texts, np.uint8, "texts")
    check(phrase, np.uint8, "texts")
    check(marks, np.uint8, "marks")
    check(offsets, np.int64, "offsets", len(marks) + 1)
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


TermArrays = tuple[Slots, Slots | None, Offsets, Slots, Mask | None]
FeedbackArrays = tuple[
    Slots,
    Slots | None,
    Offsets,
    Slots,
    Mask | None,
    Offsets,
    Slots,
    NDArray[np.uint16],
    Slots,
    NDArray[np.uint8],
    Offsets,
]
"""A segment's terms as in `TermArrays`, its forward index, the lengths of its passages, and its terms' texts."""


def count_terms(
    ids: Slots, parts: tuple[TermArrays, ...]
) -> tuple[Offsets, tuple[tuple[Slots, Offsets, Offsets], ...]]:
    """Return in how many living passages each term occurs, int64 (m,), and where its postings are in each segment.

    `ids` (m,) number the terms. A segment is its terms' rising numbers, or also a table that says by number where each
    stands, where the postings of each begin, the slots of these, and uint8 (n,), nonzero for a slot that lives, or None
    where all do. Of each segment is returned where the terms stand among its own, `NOWHERE` for one that is not there,
    and where their postings start and end, (m,) each. Raises ValueError for places and postings that lead out.
    """
    check(ids, np.uint32, "places")
    holding = np.zeros(len(ids), dtype=np.int64)
    found = []
    for terms, table, offsets, slots, live in parts:
        check(terms, np.uint32, "places")
        places = np.full(len(ids), NOWHERE, dtype=np.uint32)
        if table is None:
            at = np.minimum(np.searchsorted(terms, ids), max(len(terms) - 1, 0))
            held = terms[at] == ids if len(terms) else np.zeros(len(ids), np.bool_)
            places[held] = at[held]
        else:
            check(table, np.uint32, "places")
            places[ids < len(table)] = table[ids[ids < len(table)]]
        starts, ends = stretches(offsets, places)
        if ((starts < 0) | (ends < starts) | (ends > len(slots))).any():
            raise ValueError("the terms of a passage lie outside the index")
        holding += ends - starts
        if live is not None:
            check(live, np.uint8, "marks")
            dead = live == 0
            pairs = zip(starts.tolist(), ends.tolist(), strict=True)
            holding -= [int(np.count_nonzero(dead[_within(slots, *pair, len(live))])) for pair in pairs]
        found.append((places, starts, ends))
    return holding, tuple(found)


def mark(slots: Slots, start: int, end: int, marks: Mask) -> None:
    """Set `marks[slot] = 1` for the postings in [start, end).

    Raises ValueError for a stretch outside the postings and a slot outside `marks`.
    """
    check(slots, np.uint32, "slots")
    check(marks, np.uint8, "marks")
    if not marks.flags.writeable:
        raise ValueError("marks must be writable")
    marks[_within(slots, start, end, len(marks))] = 1


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
    check(weights, np.float64, "weights", len(starts))
    check(norms, np.float64, "norms")


def _check_postings(slots: Slots, frequencies: Frequencies, starts: Offsets, ends: Offsets) -> None:
    check(slots, np.uint32, "slots")
    check(frequencies, np.uint16, "frequencies", len(slots))
    check(starts, np.int64, "starts")
    check(ends, np.int64, "ends", len(starts))
    if len(starts) and bool(np.any((starts < 0) | (ends < starts) | (ends > len(slots)))):
        raise ValueError("a term lies outside the postings")


def _check_scorer(norms: Floats, k1: float) -> int:
    if not (np.isfinite(k1) and k1 >= 0.0):
        raise ValueError("k1 must be a finite number of at least 0")
    if len(norms) > MAX_SLOTS:
        raise ValueError("norms has too many slots")
    return len(norms)
