"""A passage that was fetched with its document's names, read when it is looked at."""

from typing import Any

from twofold.domain.types import Chunk, Metadata
from twofold.stores.local import serialization

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
