"""The connections of one open store: readers are lent out and taken back, the writer's is kept under its lock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Event

from twofold.domain.errors import StoreError
from twofold.stores.local.catalog import LocalConnection, failures, open_catalog
from twofold.stores.local.checksums import ChecksumVFS


class Connections:
    """Opens connections when none is idle, and closes them all at the end, those still lent when they come back.

    `prepare` is done to each connection that is opened.
    """

    def __init__(self, folder: Path, base_vfs: str, prepare: Callable[[LocalConnection], None] | None = None) -> None:
        self._folder = folder
        self._prepare = prepare
        self._closed = Event()
        # SQLite knows file system layers by name for the whole process: one of our own per store, gone with it.
        self._vfs = ChecksumVFS(f"twofold-{id(self):x}", base_vfs)
        self._idle: LifoQueue[LocalConnection] = LifoQueue()
        self._writers: LifoQueue[LocalConnection] = LifoQueue()

    @property
    def vfs(self) -> ChecksumVFS:
        """The file system layer."""
        return self._vfs

    @contextmanager
    def reading(self) -> Iterator[LocalConnection]:
        """Lend a connection inside a read transaction."""
        with self._borrowed(self._idle, writing=False) as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[LocalConnection]:
        """Lend the writer's connection; the caller holds the writer's lock."""
        with self._borrowed(self._writers, writing=True) as connection:
            yield connection

    def close(self) -> None:
        """Close what is idle."""
        self._closed.set()
        self._close_idle()

    def _close_idle(self) -> None:
        with failures():
            for queue in (self._idle, self._writers):
                with suppress(Empty):  # several threads may be at it: asking whether it is empty first would not do
                    while True:
                        queue.get_nowait().close()

    @contextmanager
    def _borrowed(self, queue: LifoQueue[LocalConnection], *, writing: bool) -> Iterator[LocalConnection]:
        if self._closed.is_set():
            raise StoreError("The index was closed.", "Open it again.")
        try:
            connection = queue.get_nowait()
        except Empty:
            connection = self._opened(writing=writing)
        try:
            with failures(connection):
                yield connection
        finally:
            if self._closed.is_set() or connection.in_transaction:  # an error that could not even be rolled back
                connection.close()
            else:
                queue.put(connection)
                if self._closed.is_set():  # meanwhile, by another thread, which did not see this connection
                    self._close_idle()

    def _opened(self, *, writing: bool) -> LocalConnection:
        connection = open_catalog(self._folder, self._vfs.name, writing=writing)
        if self._prepare is not None:
            try:
                with failures(connection):
                    self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection
