"""The ids and keys that passages of several collections have among them all."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import FetchedPassage
from twofold.domain.types import Chunk, ChunkKeys, Metadata

MAX_KEY = 2**63 - 1
UNKNOWN = -1

Places = NDArray[np.intp]


class JointKeys(Protocol):
    """Turns keys of several collections into keys of the whole, and back."""

    def join(self, number: int, keys: ChunkKeys) -> ChunkKeys:
        """Return the joint keys of one collection's keys, in their order."""

    def split(self, keys: ChunkKeys) -> Iterator[tuple[int, Places, ChunkKeys]]:
        """Yield each collection that some keys are of: its number, where they stand, and what they are there."""


class FederatedKeys:
    """Turns the keys of `count` collections into keys of the whole, which rise as they do, and back.

    A key's lowest bits make room for the number of its collection: of two, the second one's keys 8 and 9 are both 9.
    Two keys of a collection that are alike but for those bits are one pair in 10^18; the one that comes later then
    moves up to the next that is free, 11. What was never joined cannot be split.
    """

    def __init__(self, count: int) -> None:
        self._step = 1 << (count - 1).bit_length()
        self._local: dict[int, int] = {}

    def join(self, number: int, keys: ChunkKeys) -> ChunkKeys:
        """Return the joint keys of one collection's keys, in their order."""
        made = (keys & -self._step) | number
        for place, (joint, local) in enumerate(zip(made.tolist(), keys.tolist(), strict=True)):
            if self._local.setdefault(joint, local) != local:
                made[place] = self._beside(joint, local)
        return made

    def split(self, keys: ChunkKeys) -> Iterator[tuple[int, Places, ChunkKeys]]:
        """Return each collection that some keys are of: its number, where they stand, and what they are there."""
        local = np.array([self._local.get(key, UNKNOWN) for key in keys.tolist()], dtype=np.int64)
        numbers = np.where(local == UNKNOWN, UNKNOWN, keys & (self._step - 1))
        for number in sorted(set(numbers.tolist()) - {UNKNOWN}):
            places = np.flatnonzero(numbers == number)
            yield number, places, local[places]

    def _beside(self, joint: int, local: int) -> int:
        while self._local.setdefault(joint, local) != local:
            joint = (joint + self._step) & MAX_KEY
        return joint


OWN_FIELDS = tuple(one.name for one in fields(Chunk) if one.name != "document")


@dataclass(frozen=True, slots=True)
class FederatedChunk(Chunk):
    """A passage of one of several collections; `joint` is its key among them all."""

    joint: int = 0

    @property
    def key(self) -> int:
        """The passage's number in rankings."""
        return self.joint


@dataclass(frozen=True, slots=True)
class FederatedPassage:
    """A passage that one of several collections fetched; see `FetchedPassage`."""

    collection: str
    own: FetchedPassage
    joint: int

    @property
    def chunk(self) -> Chunk:
        """The passage, by the ids that it has among all."""
        return joint_chunk(self.collection, self.own.chunk, self.joint)

    @property
    def source(self) -> str:
        """The document's path or address."""
        return self.own.source

    @property
    def title(self) -> str:
        """The document's title."""
        return self.own.title

    @property
    def metadata(self) -> Metadata:
        """The document's fields."""
        return self.own.metadata


def federated_id(collection: str, own: str) -> str:
    """Return the id of a document, or a passage, among several collections.

    >>> federated_id("notes", "3f2a_chunk_0")
    'notes/3f2a_chunk_0'
    """
    return f"{collection}/{own}"


def check_names(names: Sequence[str]) -> None:
    """Refuse names that make ids ambiguous: two that are equal, or `a` and `a/b`.

    Raises InvalidInputError.
    """
    for place, one in enumerate(names):
        for other in names[:place]:
            if federated_id(one, "").startswith(federated_id(other, "")) or federated_id(other, "").startswith(
                federated_id(one, "")
            ):
                raise InvalidInputError(
                    f"Several collections cannot be called {other!r} and {one!r}.", "Give each a name of its own."
                )


def joint_chunk(collection: str, chunk: Chunk, key: int) -> FederatedChunk:
    """Return a passage of one collection by the ids that it has among all."""
    own = {name: getattr(chunk, name) for name in OWN_FIELDS}
    return FederatedChunk(document=federated_id(collection, chunk.document), **own, joint=key)
