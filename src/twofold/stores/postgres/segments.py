"""Segments in a database: parts of at most a megabyte."""

from collections.abc import Collection, Iterator, Sequence

import xxhash

from twofold.domain.errors import CorruptError
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.segment import Segment, read_segment
from twofold.stores.local.snapshot import Listed
from twofold.stores.postgres.dialect import PART_BYTES
from twofold.stores.segment_cache import SegmentCache, mapped

_PART_COLUMNS = ("name", "part", "checksum", "data")


class PostgresSegments:
    """Segments as rows of `segment_part`, which come and go with the rows of `segment`."""

    def __init__(self, cache: SegmentCache) -> None:
        self._cache = cache

    def holds(self, connection: CatalogConnection, name: str) -> bool:  # noqa: ARG002  # the port's
        """Return true: what a transaction sees listed, it sees whole."""
        return True

    def open(self, connection: CatalogConnection, listed: Listed, dimensions: int) -> Segment:
        """Open a segment from the cache, else from the database."""
        cached = self._cache.opened(listed, dimensions)
        if cached is not None:
            return cached
        data = mapped(list(_parts(connection, listed.name)))
        segment = read_segment(data, listed.name, listed.checksum, (listed.first, listed.last), dimensions)
        self._cache.keep(listed.checksum, [memoryview(data)])
        return self._cache.opened(listed, dimensions) or segment  # mapped, so that processes share the memory

    def write(self, connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Write a segment's parts."""
        connection.insert("segment_part", _PART_COLUMNS, _rows(name, b"".join(pieces)))

    def keep_only(self, names: Collection[str]) -> None:
        """Do nothing: parts go with the rows that list their segments."""


def _rows(name: str, data: bytes) -> Iterator[tuple[str, int, bytes, bytes]]:
    for part, start in enumerate(range(0, len(data), PART_BYTES)):
        piece = data[start : start + PART_BYTES]
        yield name, part, xxhash.xxh3_128_digest(piece), piece


def _parts(connection: CatalogConnection, name: str) -> Iterator[bytes]:
    """Yield a segment's parts. Raises CorruptError for one that is not what was written."""
    part = 0
    query = "SELECT checksum, data FROM segment_part WHERE name = ? AND part = ?"
    while (found := connection.execute(query, (name, part)).fetchone()) is not None:
        checksum, data = found
        if xxhash.xxh3_128_digest(data) != checksum:
            raise CorruptError(f"A part of segment {name} fails its checksum.", "It is made again from the catalog.")
        yield data
        part += 1
