"""A SQLite file system layer that seals every page of the catalogue with a checksum.

SQLite notices a torn transaction but not a flipped bit. So each 8192-byte page of the main file ends in eight reserved
bytes that hold the XXH3 hash of the rest: written whenever a page goes to the file, checked whenever one comes back.
The write-ahead log carries SQLite's own checksums and passes through untouched.
"""

import apsw
import xxhash

PAGE_BYTES = 8192
SEAL_BYTES = 8


class PageDamagedError(apsw.IOError):
    """A page that was read is not the page that was written."""


class ChecksumVFS(apsw.VFS):
    """Sits on the file system layer named `base` (empty: the platform's own) and seals the main file's pages."""

    def __init__(self, name: str, base: str = "") -> None:
        super().__init__(name, base)
        self.name = name
        self._base = base

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file: the main one sealed, logs and journals as they are."""
        sealed = flags[0] & apsw.SQLITE_OPEN_MAIN_DB
        return SealedFile(self._base, name, flags) if sealed else apsw.VFSFile(self._base, name, flags)


class SealedFile(apsw.VFSFile):
    """The main database file, its pages sealed."""

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Read, and check what is a whole page."""
        data = super().xRead(amount, offset)
        if amount == PAGE_BYTES and len(data) == PAGE_BYTES and not is_sealed(data):
            message = f"page {offset // PAGE_BYTES + 1} of the catalogue fails its checksum"
            raise PageDamagedError(message)
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Seal what is a whole page, and write."""
        super().xWrite(seal(data) if len(data) == PAGE_BYTES else data, offset)


def seal(page: bytes) -> bytes:
    """Put the checksum of a page into its last eight bytes."""
    body = bytes(page[:-SEAL_BYTES])
    return body + xxhash.xxh3_64_digest(body)


def is_sealed(page: bytes) -> bool:
    """Say whether a page's last eight bytes are the checksum of the rest."""
    return xxhash.xxh3_64_digest(page[:-SEAL_BYTES]) == page[-SEAL_BYTES:]
