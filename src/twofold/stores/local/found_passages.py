"""Where the passages stand that the searches of one view found: what follows asks for these alone."""

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import ChunkKeys
from twofold.stores.local.resolve import Offsets

MAX_NOTED = 2_048  # passages of one search and part; more are looked up by key
MAX_SEARCHES = 16


class FoundPassages:
    """Remembers part and slot of each passage that the last few searches found."""

    __slots__ = ("_directory", "_found")

    def __init__(self) -> None:
        self._found: list[tuple[int, ChunkKeys, NDArray[np.uint32]]] = []
        self._directory: tuple[ChunkKeys, NDArray[np.intp], Offsets] | None = None

    def note(self, place: int, keys: ChunkKeys, slots: NDArray[np.uint32]) -> None:
        """Note what a search found in one part."""
        if len(keys) <= MAX_NOTED:
            self._found = [*self._found[1 - MAX_SEARCHES :], (place, keys, slots)]
            self._directory = None

    def places(self, keys: ChunkKeys) -> tuple[NDArray[np.intp], Offsets] | None:
        """Return the part and the slot of each key; None where not all of them were found."""
        if not self._found:
            return None
        if self._directory is None:
            held = np.concatenate([one for _, one, _ in self._found])
            parts = np.repeat([place for place, _, _ in self._found], [len(one) for _, one, _ in self._found])
            order = np.argsort(held)
            slots = np.concatenate([slots for _, _, slots in self._found]).astype(np.int64)
            self._directory = held[order], parts[order], slots[order]
        rising, parts, slots = self._directory
        at = np.minimum(rising.searchsorted(keys), max(len(rising) - 1, 0))
        return (parts[at], slots[at]) if len(rising) and (rising[at] == keys).all() else None
