"""The connections of one open store: readers are lent out and taken back, the writer's is kept under its lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, LifoQueue

import apsw

from twofold.stores.local.catalog import failures, open_catalog
from twofold.stores.local.checksums import ChecksumVFS


class Connections:
    """Opens connections when none is idle, and closes them all at the end."""

    def __init__(self, folder: Path, base_vfs: str) -> None:
        self._folder = folder
        # SQLite knows file system layers by name for the whole process: one of our own per store, gone with it.
        self._vfs = ChecksumVFS(f"twofold-{id(self):x}", base_vfs)
        self._idle: LifoQueue[apsw.Connection] = LifoQueue()
        self._writers: LifoQueue[apsw.Connection] = LifoQueue()

    @property
    def vfs(self) -> str:
        """Name the file system layer."""
        return self._vfs.name

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Lend a connection inside a read transaction."""
        with failures():
            connection = self._take(self._idle, writing=False)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._idle.put(connection)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Lend the writer's connection; the caller holds the writer's lock."""
        with failures():
            connection = self._take(self._writers, writing=True)
            try:
                yield connection
            finally:
                self._writers.put(connection)

    def close(self) -> None:
        """Close what is idle."""
        with failures():
            for queue in (self._idle, self._writers):
                while not queue.empty():
                    queue.get().close()

    def _take(self, queue: LifoQueue[apsw.Connection], *, writing: bool) -> apsw.Connection:
        try:
            return queue.get_nowait()
        except Empty:
            return open_catalog(self._folder, self.vfs, writing=writing)
