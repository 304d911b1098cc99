"""The loops over words that are in C where they were built; both give the same bits."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from twofold._kernels_numpy import Bytes, Hashes, Offsets
from twofold._kernels_numpy_vectors import check

TOO_FAR = 255
_MAX_LETTERS = 64
_MAX_DISTANCE = 2
MAX_WORD_BYTES = 96
_JOINTS = b"-.'"
_BETWEEN = re.compile(rb"[-.']+")
_ASCII = 128
_SPACES = bytes(  # all but what words are made of is a space
    code if code >= _ASCII or chr(code).isalnum() or code in b"_-.'" else ord(" ") for code in range(256)
)


def letter_kinds(texts: Bytes, offsets: Offsets) -> Hashes:
    """Return which letters each of n texts has, uint64 (n,): bit c % 64 for each character c, by its code point.

    All bits are set for what is longer than 64 characters, or no UTF-8. The texts are those of `edit_distances`, and
    errors alike.
    """
    _check_texts(texts, offsets)
    found = np.full(len(offsets) - 1, np.iinfo(np.uint64).max, dtype=np.uint64)
    for place in range(len(found)):
        letters = _letters(texts[offsets[place] : offsets[place + 1]].tobytes())
        if letters is not None:
            found[place] = sum(1 << code for code in {ord(letter) % 64 for letter in letters})
    return found


def edit_distances(texts: Bytes, offsets: Offsets, kinds: Hashes, word: Bytes, most: int) -> NDArray[np.uint8]:
    """Return the edit distance of a word to each of n texts where it is at most `most` (0 to 2), else 255: uint8 (n,).

    An edit is a character more, less or another, or two neighbors swapped (optimal string alignment). Text i is the
    UTF-8 `texts[offsets[i]:offsets[i + 1]]`; what is longer than 64 characters, or no UTF-8, is too far. `kinds` are
    the texts' `letter_kinds`: where more than `most` of them differ to either side a text is not looked at. Raises
    ValueError for another `most`, for offsets that lead out, and for arrays of a wrong kind.
    """
    check(word, np.uint8, "texts")
    _check_texts(texts, offsets)
    check(kinds, np.uint64, "hashes", len(offsets) - 1)
    if not 0 <= most <= _MAX_DISTANCE:
        raise ValueError("most must be from 0 to 2")
    wanted, found = _letters(word.tobytes()), np.full(len(offsets) - 1, TOO_FAR, dtype=np.uint8)
    if wanted is None:
        return found
    own = sum(1 << code for code in {ord(letter) % 64 for letter in wanted})
    for place, held in enumerate(kinds.tolist()):
        if max((own & ~held).bit_count(), (held & ~own).bit_count()) > most:
            continue
        other = _letters(texts[offsets[place] : offsets[place + 1]].tobytes())
        if other is not None and abs(len(other) - len(wanted)) <= most:
            distance = _edits(wanted, other)
            found[place] = distance if distance <= most else TOO_FAR
    return found


def count_words(
    texts: Bytes, offsets: Offsets, words_of: Callable[[bytes], list[bytes]]
) -> tuple[Bytes, Offsets, NDArray[np.int64]]:
    """Return the m different words of n texts in the order of their bytes, where each begins and ends, and its counts.

    The words are one after the other, uint8, the offsets int64 (m + 1,), the counts int64 (m,). The texts are those of
    `edit_distances`, and errors alike. A word is a run of ASCII letters, digits and underscores; runs that hyphens,
    dots and apostrophes join are words too. A run with more than ASCII is given to `words_of`, once, which returns its
    words. A word of more than 96 bytes is left out.
    """
    _check_texts(texts, offsets)
    runs: Counter[bytes] = Counter()
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        runs.update(texts[start:end].tobytes().translate(_SPACES).split())
    counts: Counter[bytes] = Counter()
    for run, often in runs.items():
        bare = run.strip(_JOINTS)
        for word in _ascii_words(bare) if bare.isascii() else words_of(bare):
            if 0 < len(word) <= MAX_WORD_BYTES:
                counts[word] += often
    words = sorted(counts)
    joined = np.frombuffer(b"".join(words), dtype=np.uint8)
    bounds = np.fromiter(accumulate(map(len, words), initial=0), np.int64, len(words) + 1)
    return joined, bounds, np.array([counts[word] for word in words], dtype=np.int64)


def _ascii_words(run: bytes) -> Iterator[bytes]:
    if any(joint in run for joint in (b"-", b".", b"'")):
        yield from filter(None, _BETWEEN.split(run))
    yield run


def _check_texts(texts: Bytes, offsets: Offsets) -> None:
    check(texts, np.uint8, "texts")
    check(offsets, np.int64, "offsets")
    if not len(offsets):
        raise ValueError("offsets has the wrong length")
    if offsets[0] < 0 or offsets[-1] > len(texts) or (np.diff(offsets) < 0).any():
        raise ValueError("the terms of a passage lie outside the index")


def _letters(text: bytes) -> str | None:
    try:
        read = text.decode()
    except UnicodeDecodeError:
        return None
    return read if len(read) <= _MAX_LETTERS else None


def _edits(first: str, second: str) -> int:
    two: list[int] = []
    one = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        now = [i]
        for j, right in enumerate(second, start=1):
            best = min(one[j - 1] + (left != right), one[j] + 1, now[j - 1] + 1)
            if i > 1 and j > 1 and left == second[j - 2] and first[i - 2] == right:
                best = min(best, two[j - 2] + 1)
            now.append(best)
        two, one = one, now
    return one[-1]
