"""What stores share whose changes are one transaction each: all of a change, with what tidies up, or nothing."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Protocol

from twofold.domain.errors import WriterBusyError
from twofold.stores.local import maintenance
from twofold.stores.local.past import Catalog, CatalogConnections, Lent_co
from twofold.stores.local.snapshot import SegmentSnapshot, follow, read_state
from twofold.stores.local.store import SegmentedStore


class WritableConnections(CatalogConnections[Lent_co], Protocol[Lent_co]):
    """Lends connections to readers and to writers."""

    def writing(self) -> AbstractContextManager[Lent_co]:
        """Lend a connection outside of a transaction."""


class TransactionalStore(SegmentedStore[Catalog]):
    """A segmented store whose connections begin and end a change as a whole; of its threads one writes at a time."""

    _connections: WritableConnections[Catalog]
    _wait_seconds: float
    _writers: RLock
    _unsettled: bool

    def _settle(self) -> None:
        """Make a segment of the newest rows, so that new readers open fast."""
        with self._changing() as connection:
            if maintenance.tail_rows(connection) >= self._upkeep.flush_at_close_from:
                maintenance.flush(connection, self._segments, self._upkeep.segment_chunks)
                self._merge(connection)
        self._unsettled = False

    @contextmanager
    def _changing(self) -> Iterator[Catalog]:
        """Lend a connection inside one transaction: all of a change, with what tidies up after it, or nothing."""
        with self._changing_in_steps() as connection, maintenance.transaction(connection):
            yield connection

    @contextmanager
    def _changing_in_steps(self) -> Iterator[Catalog]:
        if not self._writers.acquire(timeout=self._wait_seconds):
            raise WriterBusyError(
                f"Another thread is writing to this index (waited {self._wait_seconds:g} s).",
                "Wait until it has finished, then try again.",
            )
        try:
            with self._connections.writing() as connection:
                self._unsettled = True
                yield connection
        except BaseException:
            self._vocabulary.forget()
            raise
        finally:
            self._writers.release()

    def _writers_snapshot(self, connection: Catalog) -> SegmentSnapshot:
        """Return the state that a writer stands in. No reader is shown it: it may yet be rolled back."""
        state, held = read_state(connection), self._snapshot
        known = held if held is not None and held.state.generation <= state.generation else None
        return follow(connection, self._segments, known, state, rebuild=True)
