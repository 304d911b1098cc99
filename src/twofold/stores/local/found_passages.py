"""Where the passages stand that the searches of one view found: what follows asks for these alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import ChunkKeys
from twofold.kernels import locate
from twofold.stores.local.resolve import Offsets, Places

MAX_NOTED = 2_048  # passages of one search; more are looked up by key
MAX_SEARCHES = 16

Held = tuple[int, Offsets, Places]
"""A part, which of the keys are in it by their places among them, and their slots."""


class FoundPassages:
    """Remembers part and slot of each passage that the last few searches found."""

    __slots__ = ("_noted",)

    def __init__(self) -> None:
        self._noted: tuple[tuple[ChunkKeys, NDArray[np.uint32], Places], ...] = ()

    def note(self, keys: ChunkKeys, parts: NDArray[np.uint32], slots: Places) -> None:
        """Note in which part and slot a search found each key."""
        if len(keys) <= MAX_NOTED:
            self._noted = (*self._noted[1 - MAX_SEARCHES :], (keys, parts, slots))

    def places(self, keys: ChunkKeys, parts: int) -> Sequence[Held] | None:
        """Return the keys by part, `parts` in number; None where not all of them were found."""
        return locate(self._noted, keys, parts) if self._noted else None
