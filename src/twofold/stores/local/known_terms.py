"""Terms by number and numbers by term, remembered between the queries of one open store."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from twofold.text.analyzer import may_expand

MAX_KNOWN = 65_536  # about 12 MB of them
MAX_MARKED = 1 << 22  # numbers below this have their mark remembered, in a byte
UNKNOWN, NO, YES = range(3)


class KnownTerms:
    """Remembers terms that were read. A number is given once and never changes; bears calls from several threads.

    What was not found is not remembered, since it may come.
    """

    __slots__ = ("_marks", "ids", "texts")

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: dict[int, str] = {}
        self._marks = np.full(1, UNKNOWN, dtype=np.uint8)  # by number; the last is of all that are beyond

    def add(self, pairs: Iterable[tuple[int, str]]) -> None:
        """Remember terms by their numbers."""
        if len(self.ids) >= MAX_KNOWN:
            self.ids, self.texts = {}, {}
        for number, text in pairs:
            self.ids[text] = number
            self.texts[number] = text

    def marks(self, numbers: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Return of each term whether feedback may add it to a question: `YES`, `NO`, or `UNKNOWN` until `mark`."""
        marks = self._marks
        return marks[np.minimum(numbers, len(marks) - 1)]

    def mark(self, pairs: Iterable[tuple[int, str]]) -> None:
        """Note of some terms whether feedback may add them."""
        found = {number: YES if may_expand(text) else NO for number, text in pairs if number < MAX_MARKED}
        if not found:
            return
        marks = np.full(max(len(self._marks), max(found) + 2), UNKNOWN, dtype=np.uint8)  # others may read the old one
        marks[: len(self._marks)] = self._marks
        marks[list(found)] = list(found.values())
        self._marks = marks
