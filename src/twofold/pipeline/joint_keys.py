"""Keys of passages among several collections, in the order that they have in each."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import ChunkKeys

LARGEST_KEY = 2**63 - 1
UNKNOWN = -1

Places = NDArray[np.intp]


class JointKeys:
    """Turns the keys of `count` collections into keys of the whole, which rise as they do, and back.

    A key's lowest bits make room for the number of its collection: of two, the second one's keys 8 and 9 are both 9.
    Two keys of a collection that are alike but for those bits are one pair in 10^18; the one that comes later then
    moves up to the next that is free, 11. What was never joined cannot be split.
    """

    def __init__(self, count: int) -> None:
        self._step = 1 << (count - 1).bit_length()
        self._local: dict[int, int] = {}

    def join(self, number: int, keys: ChunkKeys) -> ChunkKeys:
        """Give the joint keys of one collection's keys, in their order."""
        made = (keys & -self._step) | number
        for place, (joint, local) in enumerate(zip(made.tolist(), keys.tolist(), strict=True)):
            if self._local.setdefault(joint, local) != local:
                made[place] = self._beside(joint, local)
        return made

    def split(self, keys: ChunkKeys) -> Iterator[tuple[int, Places, ChunkKeys]]:
        """Give each collection that some keys are of: its number, where they stand, and what they are there."""
        local = np.array([self._local.get(key, UNKNOWN) for key in keys.tolist()], dtype=np.int64)
        numbers = np.where(local == UNKNOWN, UNKNOWN, keys & (self._step - 1))
        for number in sorted(set(numbers.tolist()) - {UNKNOWN}):
            places = np.flatnonzero(numbers == number)
            yield number, places, local[places]

    def _beside(self, joint: int, local: int) -> int:
        while self._local.setdefault(joint, local) != local:
            joint = (joint + self._step) & LARGEST_KEY
        return joint
