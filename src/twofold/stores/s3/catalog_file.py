"""SQLite's view of a catalog whose blocks are objects: a file system that keeps changes in memory.

A transaction that reads sees the newest state that was known when it began: SQLite asks for a lock, the file then
stands on that head, and SQLite notices by the counter in the first page whether what it remembers is older. What a
transaction writes goes to the file's own memory and from there, after SQLite's commit, into the bucket.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import apsw

from twofold.stores.s3.blocks import Blocks
from twofold.stores.s3.head import BLOCK_BYTES, Head

NAME = "catalog"
UNLOCKED = 0
SECTOR_BYTES = 8192


class CatalogFile:
    """The file of one connection. `newest` gives the head to stand on when a transaction begins."""

    def __init__(self, blocks: Blocks, newest: Callable[[], Head]) -> None:
        self._blocks = blocks
        self._newest = newest
        self._level = UNLOCKED
        self._written: dict[int, bytearray] = {}
        self.head = newest()
        self.size = self.head.size

    @property
    def written(self) -> Mapping[int, bytes]:
        """The blocks that were written since the head, by their numbers."""
        return {
            number: bytes(block[: self.size - number * BLOCK_BYTES])
            for number, block in sorted(self._written.items())
            if number * BLOCK_BYTES < self.size
        }

    def settle(self, head: Head) -> None:
        """Stand on the head that what was written has become."""
        self.head, self.size = head, head.size
        self._written.clear()

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Read; no page lies in two blocks."""
        number, start = divmod(offset, BLOCK_BYTES)
        block = self._written.get(number)
        if block is not None:
            return bytes(block[start : min(start + amount, self.size - number * BLOCK_BYTES)])
        if offset >= self.size or number >= len(self.head.blocks):
            return b""
        return self._blocks.read(self.head.blocks[number])[start : start + amount]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Write into memory."""
        number, start = divmod(offset, BLOCK_BYTES)
        block = self._written.get(number)
        if block is None:
            block = bytearray(BLOCK_BYTES)
            if number < len(self.head.blocks):
                held = self._blocks.read(self.head.blocks[number])
                block[: len(held)] = held
            self._written[number] = block
        block[start : start + len(data)] = data
        self.size = max(self.size, offset + len(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        """Cut off the end."""
        if size < self.size and size % BLOCK_BYTES:
            self.xWrite(b"", size)  # its last block is another one now
        self.size = size

    def forget(self) -> None:
        """Forget what was written: SQLite has rolled it back."""
        self._written.clear()
        self.size = self.head.size

    def xLock(self, level: int) -> None:  # noqa: N802
        """Stand on the newest head when a transaction begins. Among writers the bucket decides."""
        if self._level == UNLOCKED and not self._written:
            self.head = self._newest()
            self.size = self.head.size
        self._level = level

    def xUnlock(self, level: int) -> None:  # noqa: N802
        """End a transaction."""
        self._level = level

    def xFileSize(self) -> int:  # noqa: N802
        """Return the size."""
        return self.size

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Do nothing: the bucket is written after SQLite's commit."""

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        """Return false: no other connection writes to this file."""
        return False

    def xFileControl(self, op: int, pointer: int) -> bool:  # noqa: ARG002, N802
        """Know of no control."""
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        """Return the size of a page."""
        return SECTOR_BYTES

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        """Promise nothing."""
        return 0

    def xClose(self) -> None:  # noqa: N802
        """Close."""


class BucketVFS(apsw.VFS):
    """Opens the catalog's file once for each connection. `opened` is the one that this thread opened last."""

    def __init__(self, name: str, make: Callable[[], CatalogFile]) -> None:
        super().__init__(name, "")
        self.name = name
        self._make = make
        self._last = threading.local()

    @property
    def opened(self) -> CatalogFile:
        """The file that this thread opened last."""
        found: CatalogFile = self._last.file
        return found

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: ANN401, N802  # as apsw has them
        """Open the catalog. Raises apsw.CantOpenError for anything else: there are no journals and no other files."""
        if not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            raise apsw.CantOpenError(str(name))
        self._last.file = self._make()
        return self._last.file

    def xAccess(self, path: str, flags: int) -> bool:  # noqa: ARG002, N802
        """Return false: there are no other files."""
        return False

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        """Return the name as it is."""
        return name

    def xDelete(self, path: str, sync: bool) -> None:  # noqa: FBT001, N802
        """Do nothing: there are no other files."""
