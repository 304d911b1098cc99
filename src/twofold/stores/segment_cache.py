"""Copies of whole segments in a folder of this machine, for stores that keep segments elsewhere."""

import mmap
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import CorruptError, TwofoldError
from twofold.stores.local.durable import make_folder
from twofold.stores.local.segment import Segment, open_segment
from twofold.stores.local.snapshot import Listed
from twofold.system.files import open_plain

CACHE_BYTES = 8 * 1024**3
_SUFFIX = ".segment"


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
            with os.fdopen(open_plain(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
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


def mapped(parts: Sequence[bytes]) -> mmap.mmap:
    """Return parts as one, at the start of a page of memory: kernels load arrays from multiples of 64 bytes."""
    held = mmap.mmap(-1, max(1, sum(map(len, parts))))
    for part in parts:
        held.write(part)
    return held
