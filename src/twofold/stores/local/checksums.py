"""A SQLite file system layer that seals every page of the catalog with a checksum.

SQLite notices a torn transaction but not a flipped bit. So each 8192-byte page of the main file ends in eight reserved
bytes that hold the XXH3 hash of the rest, seeded with the page's number: written whenever a page goes to the file,
checked whenever one comes back. The write-ahead log carries SQLite's own checksums and passes through untouched.
"""

from collections.abc import Iterator
from pathlib import Path

import apsw
import xxhash

PAGE_BYTES = 8192
SEAL_BYTES = 8
HEADER_BYTES = 100  # SQLite reads the header by itself to learn the size of pages, then the page
LOCK_PAGE = 0x40000000 // PAGE_BYTES + 1  # the page at 1 GiB that SQLite locks and never writes


class PageDamagedError(apsw.IOError):
    """A page that was read is not the page that was written."""


class ChecksumVFS(apsw.VFS):
    """Sits on the file system layer named `base` (empty: the platform's own) and seals the main file's pages."""

    def __init__(self, name: str, base: str = "") -> None:
        super().__init__(name, base)
        self.name = name
        self.base = base

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file: the main one sealed, logs and journals as they are."""
        sealed = flags[0] & apsw.SQLITE_OPEN_MAIN_DB
        return SealedFile(self.base, name, flags) if sealed else apsw.VFSFile(self.base, name, flags)

    def damaged_pages(self, path: Path) -> Iterator[int]:
        """Return the numbers of the pages of a file that fail their checksums, reading it again from the disk.

        It goes through SQLite's file system layer: closing a file behind SQLite's back would drop its locks.
        """
        file = SealedFile(self.base, str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            for number in range(1, -(-file.xFileSize() // PAGE_BYTES) + 1):
                if number != LOCK_PAGE and not is_sealed(file.read_page(number), number):
                    yield number
        finally:
            file.xClose()


class SealedFile(apsw.VFSFile):
    """The main database file, its pages sealed."""

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Read, and check the page that is read of.

        SQLite reads the first bytes of the file by themselves, whole pages, and of long texts' pages all but the seal.
        """
        if amount <= HEADER_BYTES:
            return super().xRead(amount, offset)
        number, start = offset // PAGE_BYTES + 1, offset % PAGE_BYTES
        page = self.read_page(number)
        if not is_sealed(page, number):
            message = f"page {number} of the catalog fails its checksum"
            raise PageDamagedError(message)
        return page[start : start + amount]

    def read_page(self, number: int) -> bytes:
        """Read a page as it stands there."""
        return super().xRead(PAGE_BYTES, (number - 1) * PAGE_BYTES)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Seal what is a whole page, and write."""
        super().xWrite(seal(data, offset // PAGE_BYTES + 1) if len(data) == PAGE_BYTES else data, offset)


def seal(page: bytes, number: int) -> bytes:
    """Put the checksum of a page into its last eight bytes."""
    body = memoryview(page)[:-SEAL_BYTES]
    return b"".join((body, xxhash.xxh3_64_digest(body, seed=number)))


def is_sealed(page: bytes, number: int) -> bool:
    """Return whether a page is whole and its last eight bytes are the checksum of the rest."""
    body = memoryview(page)[:-SEAL_BYTES]  # no copy: a search reads some twenty pages
    return len(page) == PAGE_BYTES and xxhash.xxh3_64_digest(body, seed=number) == page[-SEAL_BYTES:]
