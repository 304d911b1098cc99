"""Terms by number and numbers by term, remembered between the queries of one open store."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.text.analyzer import may_expand

MAX_KNOWN = 65_536  # about 12 MB of them
MAX_MARKED = 1 << 22  # numbers below this have their mark remembered, in a byte
UNKNOWN, NO, YES = range(3)


class KnownTerms:
    """Remembers terms that were read. A number is given once and never changes; safe to use from several threads.

    What was not found is not remembered, since it may come.
    """

    __slots__ = ("_marks", "ids", "texts")

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: dict[int, str] = {}
        self._marks = np.full(1, UNKNOWN, dtype=np.uint8)  # by number; the last is of all that are beyond

    @property
    def marks(self) -> NDArray[np.uint8]:
        """Whether feedback may add each term, by its number: `UNKNOWN`, `NO` or `YES`; the last is of all beyond."""
        return self._marks

    def add(self, pairs: Iterable[tuple[int, str]]) -> None:
        """Remember terms by their numbers."""
        if len(self.ids) >= MAX_KNOWN:
            self.ids, self.texts = {}, {}
        for number, text in pairs:
            self.ids[text] = number
            self.texts[number] = text

    def may_expand(
        self, numbers: NDArray[np.uint32], read: Callable[[NDArray[np.uint32]], Sequence[str]]
    ) -> NDArray[np.bool_]:
        """Mark the terms that feedback may add to a question; `read` gives the texts of those not looked at yet."""
        marks = self._marks[np.minimum(numbers, len(self._marks) - 1)]
        new = marks == UNKNOWN
        if new.any():
            fresh = numbers[new]
            found = [YES if may_expand(text) else NO for text in read(fresh)]
            marks[new] = found
            self._mark(dict(zip(fresh.tolist(), found, strict=True)))
        return np.equal(marks, YES)

    def _mark(self, found: Mapping[int, int]) -> None:
        kept = {number: mark for number, mark in found.items() if number < MAX_MARKED}
        if not kept:
            return
        held = self._marks
        marks = np.full(max(len(held), max(kept) + 2), UNKNOWN, dtype=np.uint8)  # others may be reading the old one
        marks[: len(held)] = held
        marks[list(kept)] = list(kept.values())
        self._marks = marks
