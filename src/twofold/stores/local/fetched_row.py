"""A passage that was fetched with its document's names, read when it is looked at."""

from typing import Any

from twofold.domain.errors import NotFoundError
from twofold.domain.types import Chunk, Metadata
from twofold.stores.local import serialization
from twofold.stores.local.snapshot import SegmentSnapshot

FETCHED_COLUMNS = f"{serialization.CHUNK_COLUMNS}, source, title, document.metadata"


class FetchedRow:
    """A passage as its row holds it, read when it is looked at; see `FetchedPassage`."""

    __slots__ = ("_row",)

    def __init__(self, row: tuple[Any, ...]) -> None:
        self._row = row

    @property
    def chunk(self) -> Chunk:
        """The passage."""
        return serialization.read_chunk(self._row[1:-3])

    @property
    def source(self) -> str:
        """The document's path or address."""
        return str(self._row[-3])

    @property
    def title(self) -> str:
        """The document's title."""
        return str(self._row[-2])

    @property
    def metadata(self) -> Metadata:
        """The document's fields."""
        return serialization.read_metadata(str(self._row[-1]))


def row_of(snapshot: SegmentSnapshot, key: int, place: tuple[int, int] | None) -> int:
    """Return the catalog's row of a passage. Raises NotFoundError where it has no place in the snapshot."""
    if place is None:
        raise absent(key)
    return int(snapshot.parts[place[0]].segment.rows[place[1]])


def absent(key: int) -> NotFoundError:
    """Return the error for a passage that is not there."""
    return NotFoundError(f"There is no passage with the key {key}.", "Search again: it was deleted.")
