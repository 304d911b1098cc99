"""The store in a PostgreSQL database. The rows are the truth; segments are made from them and lie next to them.

A change is one transaction, alone among the writers of its index by an advisory lock, which goes with the transaction
however that ends. A reader's question is one short transaction that sees one state.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from twofold.domain.access import Viewer
from twofold.domain.errors import NotFoundError, TwofoldError
from twofold.domain.ports import Finding
from twofold.stores.database_address import Address
from twofold.stores.local import maintenance
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.retained import NamedState
from twofold.stores.local.snapshot import Share, read_state
from twofold.stores.local.store import SnapshottedStore
from twofold.stores.local.verify import verify_contents
from twofold.stores.local.view import LocalSnapshot
from twofold.stores.postgres.connection import PastConnection, PostgresConnection, schema_of
from twofold.stores.postgres.connections import Connections
from twofold.stores.postgres.notices import Notices, notification_problem
from twofold.stores.postgres.posting_rows import is_whole, make_graph, posting_rows, remove_posting_rows
from twofold.stores.postgres.registry import drop_index, index_names, name_index, name_taken, number_of, unfinished
from twofold.stores.postgres.segments import PostgresSegments
from twofold.stores.postgres.server_rows import CachedState
from twofold.stores.postgres.server_view import ServerView
from twofold.stores.segment_cache import CACHE_BYTES, SegmentCache
from twofold.stores.transactional import TransactionalStore

UPKEEP = maintenance.Upkeep(flush_from=2_048)  # a new reader makes the tail's segment itself: keep it short

logger = logging.getLogger(__name__)


class PostgresStore(TransactionalStore[PostgresConnection], SnapshottedStore[PostgresConnection]):
    """Keeps a collection in a database.

    With `create`, an index that is not there is made. `wait_seconds` is how long a writer waits for another one.
    `cache` is a folder for copies of segments, of `cache_bytes` at most. Raises NotFoundError, MismatchError (another
    format), StoreError.
    """

    _connections: Connections

    def __init__(
        self,
        address: Address,
        *,
        create: bool = True,
        wait_seconds: float = 10.0,
        cache: Path | None = None,
        cache_bytes: int = CACHE_BYTES,
        upkeep: maintenance.Upkeep = UPKEEP,
    ) -> None:
        self.address = address
        self._number = number_of(address, create=create)
        self._wait_seconds = wait_seconds
        self._writers = threading.RLock()
        self._unsettled = False
        opener = partial(PostgresConnection, address.dsn, self._number, wait_seconds)
        segments = PostgresSegments(SegmentCache(cache, cache_bytes))
        super().__init__(Connections(opener, self._forget), segments, upkeep)
        self._remembered = CachedState()
        self._tables = posting_rows(address.dsn, self._number) if address.ranks_there else None

    @contextmanager
    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> Iterator[LocalSnapshot]:
        """Open one consistent state, as one viewer may see it, from segments or as the database itself ranks."""
        if self._tables is None:
            with super().view(viewer, rows_only=rows_only) as view:
                yield view
            return
        with self._connections.reading() as connection:
            state = read_state(connection)
            yield ServerView(connection, self._known, state, viewer, self._remembered, self._tables)

    def hold(self, share: Share, kind: type[LocalSnapshot]) -> None:
        """Hold a share of the segments from now on, and rank it here."""
        self._tables = None
        super().hold(share, kind)

    def compact(self) -> None:
        """Merge all segments into one, and make a graph of many vectors where the database ranks."""
        super().compact()
        if self._tables is not None:
            if self._wrong_postings():
                remove_posting_rows(self.address.dsn, self._number)
                posting_rows(self.address.dsn, self._number)
            make_graph(self.address.dsn, self._number, self._upkeep.graph_from)
            self._tables = posting_rows(self.address.dsn, self._number)

    @staticmethod
    def names(address: Address) -> Sequence[str]:
        """List the indexes of a database."""
        return index_names(address)

    @staticmethod
    def notices(address: Address, names: Callable[[], Collection[str]], changed: Callable[[str], None]) -> Notices:
        """Call a function with the name of each index of a database that has changed, of those that matter."""
        return Notices(address, names, changed)

    @staticmethod
    def unheard(address: Address) -> str:
        """Return why a server of this database would not be notified of changes; empty where it would be."""
        return notification_problem(address)

    @classmethod
    @contextmanager
    def making(cls, address: Address, wait_seconds: float, cache: Path | None) -> Iterator["PostgresStore"]:
        """Yield a new index to be filled; it gets its name when all went well, and is deleted when it did not.

        What a killed process left of the same is deleted first. Raises InvalidInputError for a name that is taken.
        """
        if address.index in index_names(address):
            raise name_taken(address)
        beside = unfinished(address)
        with suppress(NotFoundError):
            drop_index(beside, wait_seconds)
        store = cls(beside, wait_seconds=wait_seconds, cache=cache)
        try:
            try:
                yield store
            finally:
                store.close()
            name_index(address)
        except BaseException:
            with suppress(TwofoldError):
                drop_index(beside, wait_seconds)
            raise

    @staticmethod
    def drop(address: Address, wait_seconds: float) -> None:
        """Delete an index that is closed, for good. Raises NotFoundError, WriterBusyError while it is used."""
        drop_index(address, wait_seconds)

    def _seeing(self, named: NamedState) -> Connections:
        opener = partial(PastConnection, self.address.dsn, self._number, self._wait_seconds, named)
        return Connections(opener, self._forget)

    def verify(self) -> Sequence[Finding]:
        """Hold passages against documents, and segments against passages; pages are the server's own to check."""
        with self._connections.reading() as connection:
            return [*verify_contents(connection, self._segments), *self._wrong_postings()]

    def _wrong_postings(self) -> Sequence[Finding]:
        if self._tables is None:
            return ()
        with self._connections.reading() as connection:
            whole = is_whole(connection)
        return () if whole else (Finding("posting", "its rows are not those of the passages", repairable=True),)

    def close(self) -> None:
        """Leave a state that new readers open fast, and close. Calling it twice does nothing more."""
        try:
            if self._unsettled:
                self._unsettled = False
                self._settle()
        except TwofoldError as error:
            logger.warning("The index was closed as it stood: %s", error.message)
        finally:
            self._pasts.close()
            self._connections.close()

    def _bytes(self, connection: PostgresConnection) -> int:
        query = (
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"  # noqa: S608  # a number
            f" JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{schema_of(self._number)}'"
            " AND c.relkind = 'r'"
        )
        (total,) = connection.execute(query).fetchone() or (0,)
        return int(total)

    def _forget(self) -> None:
        """Forget what was read: the database may come back as a replica or a copy that lacks the last changes."""
        self._vocabulary.forget()
        self._known = KnownTerms()
        self._remembered = CachedState()
        self._snapshot = None
        self._pasts.close()
