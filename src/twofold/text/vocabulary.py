"""The words of passages as people write them, counted: what wildcards, spelling and suggestions choose from.

A word is a run of letters, digits and underscores of a text folded by `phrases.squeeze`; what hyphens, dots and
apostrophes join, such as `err-12345`, is a word too, in addition to its parts. Words of scripts written without spaces
are not parted. It knows nothing of who may see a word, nor of terms.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Self

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import WordCount
from twofold.kernels import edit_distances, letter_kinds
from twofold.text.phrases import squeeze

MAX_WORD_BYTES = 96
TITLES_LOOKED_AT = 256
_JOINTS = b"-.'"
_ASCII = 128
_SPACES = bytes(  # all but what words are made of is a space
    code if code >= _ASCII or chr(code).isalnum() or code in b"_-.'" else ord(" ") for code in range(256)
)
_BETWEEN = re.compile(rb"[-.']+")
_WORD = re.compile(r"\w+")
_LETTER = rb"(?:[\x00-\x09\x0b-\x7f]|[\xc0-\xff][\x80-\xbf]*)"


def count_words(texts: Iterable[bytes]) -> Counter[bytes]:
    """Count the words of folded texts, as UTF-8.

    >>> sorted(count_words([b"fix err-12. the dog's", b"dog"]).items())
    [(b'12', 1), (b'dog', 2), (b"dog's", 1), (b'err', 1), (b'err-12', 1), (b'fix', 1), (b's', 1), (b'the', 1)]
    """
    runs: Counter[bytes] = Counter()
    for text in texts:
        runs.update(text.translate(_SPACES).split())
    counts: Counter[bytes] = Counter()
    for run, often in runs.items():
        for word in _words_of(run.strip(_JOINTS)):
            if len(word) <= MAX_WORD_BYTES:
                counts[word] += often
    return counts


def _words_of(run: bytes) -> Iterator[bytes]:
    if not run.isascii():
        whole = run.decode("utf-8", "replace")
        parts = _WORD.findall(whole)
        yield from (part.encode() for part in parts)
        if len(parts) > 1 and re.fullmatch(r"\w+(?:[-.']\w+)+", whole):
            yield run
        return
    if run and not run.isalnum() and any(joint in run for joint in (b"-", b".", b"'")):
        yield from filter(None, _BETWEEN.split(run))
    if run:
        yield run


class PlainVocabulary:
    """Words with their counts, titles and names of fields; see `domain.types.Vocabulary`. Arrays are made when asked.

    Bears calls from several threads.
    """

    def __init__(self, texts: Callable[[], Iterable[bytes]], titles: Iterable[str], fields: frozenset[str]) -> None:
        self._texts = texts
        self._titles = list(dict.fromkeys(title for title in titles if title))
        self._fields = fields

    @classmethod
    def of(cls, texts: Iterable[str], titles: Iterable[str], fields: frozenset[str]) -> Self:
        """Count the words of texts that were folded by `squeeze`."""
        held = [text.encode("utf-8", "replace") for text in texts]
        return cls(lambda: held, titles, fields)

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that any passage has."""
        return self._fields

    def starting_with(self, prefix: str, most: int) -> Sequence[WordCount]:
        """Return the most frequent words that begin with a folded prefix."""
        first, beyond = self._stretch(prefix.encode("utf-8", "replace"))
        return self._most_frequent(np.arange(first, beyond), most)

    def like(self, pattern: str, most: int) -> Sequence[WordCount]:
        """Return the most frequent words of a folded pattern, in which `*` is any characters and `?` is one."""
        wanted = pattern.encode("utf-8", "replace")
        first, beyond = self._stretch(re.split(rb"[*?]", wanted, maxsplit=1)[0])
        matches = _glob(wanted).fullmatch
        found = [place for place in range(first, beyond) if matches(self._words[place])]
        return self._most_frequent(np.array(found, dtype=np.intp), most)

    def near(self, word: str, distance: int) -> Sequence[tuple[WordCount, int]]:
        """Return the words within an edit distance of 1 or 2 of a folded word, each with it."""
        wanted = np.frombuffer(word.encode("utf-8", "replace"), np.uint8)
        distances = edit_distances(*self._joined, wanted, distance)
        return [
            (self._counted(place), int(distances[place])) for place in np.flatnonzero(distances <= distance).tolist()
        ]

    def titles(self, prefix: str, most: int) -> Sequence[str]:
        """Return titles in which a word begins with a folded prefix; those that begin with it come first."""
        words, numbers, folded = self._title_words
        first, *others = prefix.split() or [""]
        low = bisect_left(words, first)
        high = bisect_left(words, first + chr(0x10FFFF)) if not others else low + (words[low : low + 1] == [first])
        some = dict.fromkeys(islice((one for word in words[low:high] for one in numbers[word]), TITLES_LOOKED_AT))
        held = [one for one in some if not others or f" {prefix}" in f" {folded[one]}"]
        held.sort(key=lambda one: (not folded[one].startswith(prefix), len(folded[one])))
        return [self._titles[one] for one in held[:most]] if first else []

    @cached_property
    def _counted_words(self) -> tuple[list[bytes], NDArray[np.int64]]:
        counts = count_words(self._texts())
        words = sorted(counts)
        return words, np.array([counts[word] for word in words], dtype=np.int64)

    @property
    def _words(self) -> list[bytes]:
        return self._counted_words[0]

    @cached_property
    def _joined(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64]]:
        """Return the words one after the other, where each begins and ends, and which letters it has."""
        offsets = np.fromiter(accumulate(map(len, self._words), initial=0), np.int64, len(self._words) + 1)
        texts = np.frombuffer(b"".join(self._words), dtype=np.uint8)
        return texts, offsets, letter_kinds(texts, offsets)

    @cached_property
    def _title_words(self) -> tuple[list[str], Mapping[str, list[int]], list[str]]:
        """Return the words of the titles in order, in which titles each stands, and the folded titles."""
        folded = [squeeze(title) for title in self._titles]
        numbers: dict[str, list[int]] = {}
        for number, title in enumerate(folded):
            for word in dict.fromkeys(title.split()):
                numbers.setdefault(word, []).append(number)
        return sorted(numbers), numbers, folded

    def _stretch(self, prefix: bytes) -> tuple[int, int]:
        if not prefix:
            return 0, len(self._words)
        beyond = bisect_left(self._words, prefix[:-1] + bytes([prefix[-1] + 1]))  # no UTF-8 ends in 255
        return bisect_left(self._words, prefix), beyond

    def _most_frequent(self, places: NDArray[np.intp], most: int) -> Sequence[WordCount]:
        order = np.lexsort((places, -self._counted_words[1][places]))[:most]
        return [self._counted(place) for place in places[order].tolist()]

    def _counted(self, place: int) -> WordCount:
        return WordCount(self._words[place].decode("utf-8", "replace"), int(self._counted_words[1][place]))


def _glob(pattern: bytes) -> re.Pattern[bytes]:
    """Compile a pattern; what stands between two stars is taken where it comes first, so it takes linear time."""
    first, *others = [
        b"".join(_LETTER if letter == b"?" else re.escape(letter) for letter in re.findall(rb"(?s).", part))
        for part in re.split(rb"[*]+", pattern)
    ]
    if not others:
        return re.compile(first, re.DOTALL)
    middle = b"".join(b"(?>.*?" + part + b")" for part in others[:-1])
    return re.compile(first + middle + b".*" + others[-1], re.DOTALL)
