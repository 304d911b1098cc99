"""The words of passages as people write them, counted: what wildcards, spelling and suggestions choose from.

A word is a run of letters, digits and underscores of a text folded by `phrases.squeeze`; what hyphens, dots and
apostrophes join, such as `err-12345`, is a word too, in addition to its parts. Words of scripts written without spaces
are not parted. It knows nothing of who may see a word, nor of terms.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, islice, pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import WordCount
from twofold.kernels import count_words, edit_distances, letter_kinds
from twofold.text.phrases import squeeze

MAX_TITLES = 256
_WORD = re.compile(r"\w+")
_JOINED = re.compile(r"\w+(?:[-.']\w+)+")
_LETTER = rb"(?:[\x00-\x09\x0b-\x7f]|[\xc0-\xff][\x80-\xbf]*)"


class WordTable(NamedTuple):
    """The m different words of some texts in the order of their bytes, as UTF-8, and how often each occurs."""

    texts: NDArray[np.uint8]  # one after the other
    offsets: NDArray[np.int64]  # (m + 1,)
    counts: NDArray[np.int64]  # (m,)

    @classmethod
    def of(cls, texts: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Self:
        """Count the words of folded texts: text i is the UTF-8 `texts[offsets[i]:offsets[i + 1]]`.

        >>> texts = [b"fix err-12. the dog's", b"dog"]
        >>> bounds = np.array([0, 21, 24])
        >>> words = WordTable.of(np.frombuffer(b"".join(texts), np.uint8), bounds)
        >>> {words.word(at).decode(): int(words.counts[at]) for at in range(len(words.counts))}
        {'12': 1, 'dog': 2, "dog's": 1, 'err': 1, 'err-12': 1, 'fix': 1, 's': 1, 'the': 1}
        """
        return cls(*count_words(texts, offsets, _words_of))

    def word(self, place: int) -> bytes:
        """Return one word."""
        return self.texts[self.offsets[place] : self.offsets[place + 1]].tobytes()


def _words_of(run: bytes) -> list[bytes]:
    """Part a run with more than ASCII in it."""
    whole = run.decode("utf-8", "replace")
    parts = _WORD.findall(whole)
    joined = len(parts) > 1 and _JOINED.fullmatch(whole)
    return [*(part.encode() for part in parts), *([run] if joined else [])]


class PlainVocabulary:
    """Words with their counts, titles and names of fields; see `domain.types.Vocabulary`. Arrays are made when asked.

    Safe to use from several threads.
    """

    def __init__(self, counted: Callable[[], WordTable], titles: Iterable[str], fields: frozenset[str]) -> None:
        self._count = counted
        self._titles = list(dict.fromkeys(title for title in titles if title))
        self._fields = fields

    @classmethod
    def of(cls, texts: Iterable[str], titles: Iterable[str], fields: frozenset[str]) -> Self:
        """Count the words of texts that were folded by `squeeze`."""
        held = [text.encode("utf-8", "replace") for text in texts]
        offsets = np.fromiter(accumulate(map(len, held), initial=0), np.int64, len(held) + 1)
        joined = np.frombuffer(b"".join(held), dtype=np.uint8)
        return cls(partial(WordTable.of, joined, offsets), titles, fields)

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
        bounds = self._words.offsets[first : beyond + 1]
        texts = self._words.texts[bounds[0] : bounds[-1]].tobytes()
        places = pairwise((bounds - bounds[0]).tolist())
        found = [first + at for at, (start, end) in enumerate(places) if matches(texts, start, end)]
        return self._most_frequent(np.array(found, dtype=np.intp), most)

    def near(self, word: str, distance: int) -> Sequence[tuple[WordCount, int]]:
        """Return the words within an edit distance of 1 or 2 of a folded word, each with it."""
        wanted = np.frombuffer(word.encode("utf-8", "replace"), np.uint8)
        words = self._words
        distances = edit_distances(words.texts, words.offsets, self._kinds, wanted, distance)
        return [
            (self._counted(place), int(distances[place])) for place in np.flatnonzero(distances <= distance).tolist()
        ]

    def titles(self, prefix: str, most: int) -> Sequence[str]:
        """Return titles in which a word begins with a folded prefix; those that begin with it come first."""
        words, numbers, folded = self._title_words
        first, *others = prefix.split() or [""]
        low = bisect_left(words, first)
        high = bisect_left(words, first + chr(0x10FFFF)) if not others else low + (words[low : low + 1] == [first])
        some = dict.fromkeys(islice((one for word in words[low:high] for one in numbers[word]), MAX_TITLES))
        held = [one for one in some if not others or f" {prefix}" in f" {folded[one]}"]
        held.sort(key=lambda one: (not folded[one].startswith(prefix), len(folded[one])))
        return [self._titles[one] for one in held[:most]] if first else []

    @cached_property
    def _words(self) -> WordTable:
        return self._count()

    @cached_property
    def _kinds(self) -> NDArray[np.uint64]:
        """Which letters each word has."""
        return letter_kinds(self._words.texts, self._words.offsets)

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
            return 0, len(self._words.counts)
        places = range(len(self._words.counts))
        after = prefix[:-1] + bytes([prefix[-1] + 1])  # no UTF-8 ends in 255
        first, beyond = (bisect_left(places, one, key=self._words.word) for one in (prefix, after))
        return first, beyond

    def _most_frequent(self, places: NDArray[np.intp], most: int) -> Sequence[WordCount]:
        order = np.lexsort((places, -self._words.counts[places]))[:most]
        return [self._counted(place) for place in places[order].tolist()]

    def _counted(self, place: int) -> WordCount:
        return WordCount(self._words.word(place).decode("utf-8", "replace"), int(self._words.counts[place]))


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
