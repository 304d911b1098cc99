"""States of a collection that were given a name, and the stores that keep them."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Store
from twofold.domain.types import Vector


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A state of a collection that was given a name.

    `created` is the time in UTC, in ISO 8601. `retained_bytes` is what deleting it would free: what was deleted from
    the collection since and no other snapshot holds. `shared_bytes` are kept for other snapshots too.
    """

    name: str
    created: str
    documents: int
    chunks: int
    generation: int
    retained_bytes: int = 0
    shared_bytes: int = 0


@runtime_checkable
class StoredVectors(Protocol):
    """A view that can say which vector each passage has, for copies of a whole collection."""

    def vectors(self, keys: Sequence[int]) -> Sequence[Vector | None]:
        """Return the stored vectors in the order asked, None for one that is to follow. Raises NotFoundError."""


@runtime_checkable
class SnapshotStore(Store, Protocol):
    """A store that can give its state a name, and be read as it was then."""

    def create_snapshot(self, name: str, created: int) -> None:
        """Name the present state, durable when it returns; `created` is its time in seconds since 1970.

        Raises InvalidInputError for a name that is taken.
        """

    def snapshots(self) -> Sequence[SnapshotInfo]:
        """List the snapshots, oldest first."""

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot, and what was kept for it alone. Raises NotFoundError."""

    def at(self, name: str) -> Store:
        """Return the collection as it was, to be read only. Raises NotFoundError, also later when it was deleted."""
