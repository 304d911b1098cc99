"""Terms by number and numbers by term, remembered between the queries of one open store."""

from collections.abc import Iterable

MAX_KNOWN = 65_536  # about 12 MB of them


class KnownTerms:
    """Remembers terms that were read. A number is given once and never changes; bears calls from several threads.

    What was not found is not remembered, since it may come.
    """

    __slots__ = ("ids", "texts")

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: dict[int, str] = {}

    def add(self, pairs: Iterable[tuple[int, str]]) -> None:
        """Remember terms by their numbers."""
        if len(self.ids) >= MAX_KNOWN:
            self.ids, self.texts = {}, {}
        for number, text in pairs:
            self.ids[text] = number
            self.texts[number] = text
