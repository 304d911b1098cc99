"""Where segments are kept: for the local store one file each, in a folder of the index."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.durable import write_durably
from twofold.stores.local.place import SEGMENT_FOLDER, is_segment_file
from twofold.stores.local.segment import Segment, open_segment


class Listed(NamedTuple):
    """A segment as the catalog lists it: the rows `first` to `last`, both included."""

    name: str
    first: int
    last: int
    chunks: int
    checksum: bytes


class SegmentFiles(Protocol):
    """Keeps the bytes of segments, which are immutable, by their names. The catalog says which there are."""

    def holds(self, connection: CatalogConnection, name: str) -> bool:
        """Return whether a segment is there."""

    def open(self, connection: CatalogConnection, listed: Listed, dimensions: int) -> Segment:
        """Open a segment. Raises CorruptError when it is missing or is not what was written."""

    def write(self, connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Keep a new segment, durable when the transaction that the connection stands in is."""

    def keep_only(self, names: Collection[str]) -> None:
        """Remove the segments that are not among these. A reader that still has one open keeps it."""


class FolderSegments:
    """Segments in the folder of a local index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / SEGMENT_FOLDER

    def holds(self, _connection: CatalogConnection, name: str) -> bool:
        """Return whether a segment's file is there."""
        return (self._folder / name).exists()

    def open(self, _connection: CatalogConnection, listed: Listed, dimensions: int) -> Segment:
        """Map a segment's file."""
        return open_segment(self._folder / listed.name, listed.checksum, (listed.first, listed.last), dimensions)

    def write(self, _connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Write a segment's file."""
        write_durably(self._folder / name, pieces)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove other segments' files; what is not named as segments are is not ours to remove."""
        for path in self._folder.iterdir():
            if path.name not in names and is_segment_file(path.name):
                with suppress(OSError):
                    path.unlink()
