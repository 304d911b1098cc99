"""Between queries and the writer: vectors that queries made of passages without one, and texts to embed first."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from twofold.domain.types import Vector

MAX_VECTORS = 4_096
MAX_WANTED = 4_096


class PendingVectors:
    """Keeps what queries made and wanted until a sync of this process takes it. Bears calls from several threads.

    Where nothing in this process writes, it saves the next query the work; the oldest are dropped.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._made: OrderedDict[str, Vector] = OrderedDict()
        self._wanted: OrderedDict[str, None] = OrderedDict()

    def made_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are here for some indexed texts."""
        with self._turn:
            return {text: self._made[text] for text in texts if text in self._made}

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by their indexed texts."""
        with self._turn:
            self._made.update(vectors)
            for text in vectors:
                self._wanted.pop(text, None)
            while len(self._made) > MAX_VECTORS:
                self._made.popitem(last=False)

    def want(self, texts: Iterable[str]) -> None:
        """Ask that these texts are embedded before others."""
        with self._turn:
            self._wanted.update((text, None) for text in texts if text not in self._made)
            while len(self._wanted) > MAX_WANTED:
                self._wanted.popitem(last=False)

    def has_made(self) -> bool:
        """Return whether there are vectors to be stored."""
        return bool(self._made)

    def take_made(self) -> Mapping[str, Vector]:
        """Return all vectors, to be stored; they are forgotten here."""
        with self._turn:
            taken, self._made = self._made, OrderedDict()
            return taken

    def take_wanted(self, most: int) -> Sequence[str]:
        """Return at most `most` of the texts that were wanted, the first first; they are forgotten here."""
        with self._turn:
            return [self._wanted.popitem(last=False)[0] for _ in range(min(most, len(self._wanted)))]
