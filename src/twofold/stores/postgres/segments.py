"""Segments in a database: parts of at most a megabyte, and a cache of whole segments in a folder of this machine."""

import mmap
import os
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import xxhash

from twofold.domain.errors import CorruptError, TwofoldError
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.durable import make_folder
from twofold.stores.local.segment import Segment, open_segment, read_segment
from twofold.stores.local.snapshot import Listed
from twofold.stores.postgres.dialect import PART_BYTES

_SUFFIX = ".segment"
_PART_COLUMNS = ("name", "part", "checksum", "data")


class SegmentCache:
    """Whole segments by their checksums, in a folder. The least recently opened go when it grows beyond `most` bytes.

    It is shared by all indexes and processes of the machine. Without a folder, or where it cannot be written, there is
    no cache.
    """

    def __init__(self, folder: Path | None, most: int) -> None:
        self._folder = folder
        self._most = most

    def opened(self, listed: Listed, dimensions: int) -> Segment | None:
        """Return a segment that is here and sound."""
        path = self._path(listed.checksum)
        if path is None:
            return None
        try:
            segment = open_segment(path, listed.checksum, (listed.first, listed.last), dimensions)
        except CorruptError:
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return segment

    def keep(self, checksum: bytes, pieces: Sequence[bytes | memoryview]) -> None:
        """Keep a segment, if there is room."""
        path = self._path(checksum)
        if path is None or sum(map(len, pieces)) > self._most:
            return
        beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        try:
            make_folder(path.parent)
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.writelines(pieces)
            beside.replace(path)
            self._shrink(path)
        except (OSError, TwofoldError):
            with suppress(OSError):
                beside.unlink()

    def _path(self, checksum: bytes) -> Path | None:
        return None if self._folder is None else self._folder / (checksum.hex() + _SUFFIX)

    def _shrink(self, newest: Path) -> None:
        held = []
        for path in newest.parent.iterdir():
            with suppress(OSError):
                found = path.stat()
                held.append((found.st_mtime_ns, found.st_size, path))
        total = sum(size for _, size, _ in held)
        for _, size, path in sorted(held):
            if total <= self._most:
                return
            if path != newest:
                with suppress(OSError):
                    path.unlink()
                    total -= size


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
        data = _mapped(list(_parts(connection, listed.name)))
        segment = read_segment(data, listed.name, listed.checksum, (listed.first, listed.last), dimensions)
        self._cache.keep(listed.checksum, [memoryview(data)])
        return self._cache.opened(listed, dimensions) or segment  # mapped, so that processes share the memory

    def write(self, connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Write a segment's parts."""
        connection.insert("segment_part", _PART_COLUMNS, _rows(name, b"".join(pieces)))

    def keep_only(self, names: Collection[str]) -> None:
        """Do nothing: parts go with the rows that list their segments."""


def _mapped(parts: Sequence[bytes]) -> mmap.mmap:
    """Return parts as one, at the start of a page of memory: kernels load arrays from multiples of 64 bytes."""
    held = mmap.mmap(-1, max(1, sum(map(len, parts))))
    for part in parts:
        held.write(part)
    return held


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
