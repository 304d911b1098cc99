"""Diversity: a limited number of passages of a page and of a source, and no duplicates of a better passage.

Near-duplicates are recognized by word shingles (Broder, "On the resemblance and containment of documents", 1997): with
S(x) the set of a passage's runs of three words, a passage x repeats a better one y where

    |S(x) ∩ S(y)| / |S(x)| ≥ overlap     and every word of x with a digit in it is in y as well

Containment, not resemblance: a passage that lies within a longer one adds nothing, one that holds more does. Records
that differ in a number alone are never duplicates, however long the words around it. There is no measure of marginal
relevance here: it would reorder what was measured.
"""

import re
from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

SHINGLE: Final = 3  # words
MAX_COMPARED_LENGTH: Final = 20_000  # characters of a passage
_WORD = (  # compiled when first used, and kept by `re`
    r"[\u0e00-\u109f\u1780-\u17ff\u2e80-\U0010ffff]|[^\W\u0e00-\u109f\u1780-\u17ff\u2e80-\U0010ffff]++"
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What diversity looks at. `page` is None in a document without pages, which counts as one page."""

    key: int
    source: str
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much alike the passages of one answer may be; 0 leaves a limit out.

    `per_page` and `per_source` are the most passages of one (source, page) and of one source. `max_overlap`, in [0, 1],
    is the share of a passage's shingles in one better passage from which on it counts as said already; try 0.9.

    Raises InvalidInputError for a number out of range.
    """

    per_page: int = 0
    per_source: int = 0
    max_overlap: float = 0.0

    def __post_init__(self) -> None:
        if self.per_page < 0 or self.per_source < 0:
            raise InvalidInputError("a limit on passages must be at least 0.", "Use 0 for no limit.")
        if not 0.0 <= self.max_overlap <= 1.0:
            raise InvalidInputError(
                f"the overlap must be from 0 to 1, not {self.max_overlap}.", "Try 0.9, or 0 for none."
            )


class Reason(StrEnum):
    """Why a passage was left out."""

    SAME = "same passage"
    PAGE = "page full"
    SOURCE = "source full"
    DUPLICATE = "said already"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A passage that was left out, and the best-ranked passage that stands for it.

    `keeper` is the duplicate's better, or the first passage of the full page or source; the key itself for a passage
    that came twice.
    """

    key: int
    reason: Reason
    keeper: int


@dataclass(frozen=True, slots=True)
class Diversified:
    """The keys that stay, in the order they came, and those left out of the candidates that were looked at."""

    kept: tuple[int, ...]
    dropped: tuple[Dropped, ...]


def diversified(candidates: Iterable[Candidate], limits: Limits, k: int) -> Diversified:
    """Keep the first k candidates, best first, that the limits allow; no more are drawn than it takes.

    A document without pages counts as one page of its source. Nothing moves up but into the place of what was left out.
    A passage is held against those that stay alone.

    Five passages of one page and a cap of 2 leave the first two:

    >>> page = [Candidate(key, "report.pdf", 3, f"passage {key}") for key in (9, 4, 7, 1, 3)]
    >>> diversified(page, Limits(per_page=2), k=10).kept
    (9, 4)
    """
    kept: list[int] = []
    dropped: list[Dropped] = []
    shelf = _Shelf(limits)
    waiting = iter(candidates)
    while len(kept) < k and (candidate := next(waiting, None)) is not None:
        objection = shelf.objection(candidate)
        if objection is None:
            kept.append(candidate.key)
        else:
            dropped.append(objection)
    return Diversified(tuple(kept), tuple(dropped))


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of three words of a text's first 20,000 characters, in small letters; of fewer words, all as one.

    A character of a script without spaces is a word.

    >>> sorted(shingles("To be, or not"))
    [('be', 'or', 'not'), ('to', 'be', 'or')]
    """
    return frozenset(_runs(_words(text)))


def overlap(text: str, better: str) -> float:
    """Return which share of a text's shingles another holds, in [0, 1]; 0.0 for a text without words.

    `to be or` is one of the two shingles of `to be or not`:

    >>> overlap("To be or not", "to be or what"), overlap("to be or", "To be or not.")
    (0.5, 1.0)
    """
    mine = shingles(text)
    return len(mine & shingles(better)) / len(mine) if mine else 0.0


def _words(text: str) -> list[str]:
    return re.findall(_WORD, text[:MAX_COMPARED_LENGTH].casefold())


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    if not words:
        return ()
    return zip(words, words[1:], words[2:], strict=False) if len(words) >= SHINGLE else (tuple(words),)


def _numbers(words: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(_DIGIT.search, words))


@dataclass(frozen=True, slots=True)
class _PassageText:
    """What one passage that stays says."""

    key: int
    words: list[str]
    runs: frozenset[tuple[str, ...]]


@dataclass(slots=True)
class _Shelf:
    """What was kept so far, by what it is compared by."""

    limits: Limits
    seen: set[int] = field(default_factory=set)
    of_page: dict[tuple[str, int | None], list[int]] = field(default_factory=dict)
    of_source: dict[str, list[int]] = field(default_factory=dict)
    said: list[_PassageText] = field(default_factory=list)
    runs: set[tuple[str, ...]] = field(default_factory=set)

    def objection(self, candidate: Candidate) -> Dropped | None:
        """Return what is against a candidate; where nothing is, put it on the shelf."""
        key, source = candidate.key, candidate.source
        if key in self.seen:
            return Dropped(key, Reason.SAME, key)
        page = self.of_page.setdefault((source, candidate.page), [])
        if 0 < self.limits.per_page <= len(page):
            return Dropped(key, Reason.PAGE, page[0])
        others = self.of_source.setdefault(source, [])
        if 0 < self.limits.per_source <= len(others):
            return Dropped(key, Reason.SOURCE, others[0])
        better = self._better(candidate) if self.limits.max_overlap > 0.0 else None
        if better is not None:
            return Dropped(key, Reason.DUPLICATE, better)
        self.seen.add(key)
        page.append(key)
        others.append(key)
        return None

    def _better(self, candidate: Candidate) -> int | None:
        """Find the first passage that says it already; else note what this one says.

        Where too many of its shingles stand in no passage at all, no single one can hold enough of them.
        """
        words = _words(candidate.text)
        mine = frozenset(_runs(words))
        held = len(mine & self.runs)
        for other in self.said if held and held / len(mine) >= self.limits.max_overlap else ():
            if len(mine & other.runs) / len(mine) >= self.limits.max_overlap and _numbers(words) <= _numbers(
                other.words
            ):
                return other.key
        self.said.append(_PassageText(candidate.key, words, mine))
        self.runs |= mine
        return None
