"""The connections of one open store: readers are lent out and taken back, and a writer's as well."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue
from threading import Event

import psycopg

from twofold.domain.errors import StoreError
from twofold.stores.postgres.connection import DatabaseLostError, PostgresConnection, failures

MAX_IDLE = 8


class Connections:
    """Opens connections when none is idle, and closes them all at the end, those still lent when they come back.

    `lost` is called when the database was not there any more: it may come back in another state.
    """

    def __init__(self, opener: Callable[[], PostgresConnection], lost: Callable[[], None]) -> None:
        self._opener = opener
        self._lost = lost
        self._closed = Event()
        self._idle: LifoQueue[PostgresConnection] = LifoQueue()
        weakref.finalize(self, close_idle, self._idle)  # a store that nobody closed keeps no connections of the server

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """Lend a connection inside a read transaction."""
        with self._borrowed(PostgresConnection.begin_reading) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[PostgresConnection]:
        """Lend a connection outside of a transaction."""
        with self._borrowed(PostgresConnection.look) as connection:
            yield connection

    def close(self) -> None:
        """Close what is idle."""
        self._closed.set()
        self._drop_idle()

    @contextmanager
    def _borrowed(self, begin: Callable[[PostgresConnection], object]) -> Iterator[PostgresConnection]:
        if self._closed.is_set():
            raise StoreError("The index was closed.", "Open it again.")
        try:
            with failures():
                connection = self._begun(begin)
                try:
                    yield connection
                finally:
                    self._take_back(connection)
        except DatabaseLostError:
            self._drop_idle()
            self._lost()
            raise

    def _begun(self, begin: Callable[[PostgresConnection], object]) -> PostgresConnection:
        """Return a connection that has begun; one that was idle may have been closed by the server meanwhile."""
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = self._opener()
        else:
            try:
                begin(connection)
            except psycopg.OperationalError:
                connection.close()
                self._drop_idle()
                self._lost()
                connection = self._opener()
            except BaseException:
                connection.close()
                raise
            else:
                return connection
        try:
            begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _take_back(self, connection: PostgresConnection) -> None:
        connection.release()
        if self._closed.is_set() or not connection.usable or self._idle.qsize() >= MAX_IDLE:
            connection.close()
        else:
            self._idle.put(connection)
            if self._closed.is_set():  # meanwhile, by another thread, which did not see this connection
                self._drop_idle()

    def _drop_idle(self) -> None:
        close_idle(self._idle)


def close_idle(idle: LifoQueue[PostgresConnection]) -> None:
    """Close all that are idle."""
    while True:
        try:
            idle.get_nowait().close()
        except Empty:
            return
