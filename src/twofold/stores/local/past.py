"""A collection as a snapshot holds it: the segments of today without what is newer, and what died since made again.

Statements that name `chunk` and `document` see the rows of then: on these connections the names are views, or stand in
front of each statement.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from twofold.domain.access import Viewer
from twofold.domain.errors import CorruptError, StoreError
from twofold.domain.ports import StoreInfo
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local import retained
from twofold.stores.local.catalog import HINT, LocalConnection, select
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.maintenance import transaction
from twofold.stores.local.retained import CHUNK_ROW, DOCUMENT_ROW, NamedState, find
from twofold.stores.local.segment import SegmentRows
from twofold.stores.local.serialization import INFO_COLUMNS, read_fingerprint, reading
from twofold.stores.local.snapshot import (
    ROW_COLUMNS,
    OpenSegment,
    SegmentSnapshot,
    cross_check,
    read_state,
    segment_of,
)
from twofold.stores.local.view import LocalSnapshot
from twofold.stores.past import PastStore, unknown

_COUNT = "(SELECT count(*) FROM chunk AS own WHERE own.document = document.row AND own.edition = ?1)"
_COUNTS = (  # one for each table: SQLite counts a view of both by reading all of it
    "((SELECT count(*) FROM main.chunk AS own WHERE own.document = document.row AND own.edition = ?1"
    " AND own.row <= {last}) + (SELECT count(*) FROM main.retained_chunk AS own WHERE own.document = document.row"
    " AND own.edition = ?1 AND own.row <= {last} AND own.died > {generation}))"
)
_READERS_TODAY = (
    "CASE WHEN EXISTS (SELECT 1 FROM main.document AS now WHERE now.id = kept.id)"
    " THEN (SELECT now.readers FROM main.document AS now WHERE now.id = kept.id) ELSE kept.readers END"
)
ID_BITS = 32
DROP_BATCH_SIZE = 1_024
_DOCUMENT_TODAY = DOCUMENT_ROW.replace("readers", f"{_READERS_TODAY} AS readers")


Catalog = TypeVar("Catalog", bound=CatalogConnection)
Lent_co = TypeVar("Lent_co", bound=CatalogConnection, covariant=True)


class CatalogConnections(Protocol[Lent_co]):
    """Lends connections to readers."""

    def reading(self) -> AbstractContextManager[Lent_co]:
        """Lend a connection inside a read transaction."""


class ClosableConnections(Protocol):
    """Lends connections to readers, until it is closed."""

    def reading(self) -> AbstractContextManager[CatalogConnection]:
        """Lend a connection inside a read transaction."""

    def close(self) -> None:
        """Close the connections."""


class PastView(LocalSnapshot):
    """Answers one question from the rows that a snapshot holds."""

    pending_table = "chunk"

    def __init__(
        self,
        connection: CatalogConnection,
        known: KnownTerms,
        snapshot: SegmentSnapshot,
        named: NamedState,
        viewer: Viewer | None,
    ) -> None:
        super().__init__(connection, known, (snapshot.state, lambda: snapshot), viewer)
        counts = _COUNTS.format(last=named.last_chunk, generation=named.generation)
        self.info_columns = INFO_COLUMNS.replace(_COUNT, counts)


class Past:
    """One snapshot of an open store: what is loaded of it, and its connections. Safe to use from several threads."""

    def __init__(self, named: NamedState, parts: SegmentSnapshot, connections: ClosableConnections) -> None:
        self.named = named
        self._parts = parts
        self._known = KnownTerms()
        self._connections = connections

    @contextmanager
    def view(self, viewer: Viewer | None) -> Iterator[PastView]:
        """Open the state, as one viewer may see it today. Raises NotFoundError when the snapshot was deleted."""
        with self._connections.reading() as connection:
            if not find(connection, self.named.name).holds_the_same(self.named):
                raise unknown(self.named.name)
            yield PastView(connection, self._known, self._today(connection), self.named, viewer)

    def _today(self, connection: CatalogConnection) -> SegmentSnapshot:
        """Return what was loaded; what viewers could see is forgotten when the collection has changed since.

        Segments remember the readers of their documents by `access`, and other states share them, with rows that this
        one does not hold. So its number is negative, and no other state's.
        """
        access = -1 - (read_state(connection).generation << ID_BITS | self.named.id)
        parts = self._parts
        if parts.state.access != access:
            parts = self._parts = replace(parts, state=replace(parts.state, access=access), seen={})
        return parts

    def info(self) -> StoreInfo:
        """Describe the collection as it was."""
        named, parts = self.named, self._parts
        return StoreInfo(
            parts.fingerprint, named.documents, named.chunks, named.generation, len(parts.parts), 0, {}, named.pending
        )

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()


def tables_then(named: NamedState) -> Iterator[tuple[str, str]]:
    """Yield each table's name, and the query of the rows that a snapshot holds of it."""
    for table, columns, kept, last in (
        ("document", DOCUMENT_ROW, _DOCUMENT_TODAY, named.last_document),
        ("chunk", CHUNK_ROW, CHUNK_ROW, named.last_chunk),
    ):
        died = f"kept.died > {named.generation:d}"
        rows = (
            f"SELECT {columns} FROM main.{table} WHERE row <= {last:d} UNION ALL"  # noqa: S608
            f" SELECT {kept} FROM main.retained_{table} AS kept WHERE row <= {last:d} AND {died}"
        )
        yield table, rows


def see_then(named: NamedState, connection: LocalConnection) -> None:
    """Let the names of the tables mean the rows that a snapshot holds."""
    connection.pragma("query_only", False)
    connection.pragma("temp_store", "memory")
    for table, rows in tables_then(named):
        connection.execute(f"CREATE TEMP VIEW {table} AS {rows}")
    connection.pragma("query_only", True)


class Pasts(Generic[Catalog]):
    """The snapshots of an open store; each is loaded when it is first looked at, and of many the oldest is let go.

    `seeing` makes connections whose statements see the rows of a snapshot.
    """

    MOST = 4

    def __init__(
        self,
        seeing: Callable[[NamedState], ClosableConnections],
        connections: CatalogConnections[Catalog],
        follow: Callable[[Catalog], SegmentSnapshot],
        rows_at_once: int,
    ) -> None:
        self._seeing = seeing
        self._connections = connections
        self._follow = follow
        self._rows_at_once = rows_at_once
        self._turn = threading.Lock()
        self._held: dict[int, Past] = {}

    def at(self, name: str) -> PastStore:
        """Return a snapshot as a store. Raises NotFoundError, also when it is read after it was deleted."""
        with self._connections.reading() as connection:
            named = find(connection, name)

        @contextmanager
        def view(viewer: Viewer | None) -> Iterator[PastView]:
            with ExitStack() as stack:
                yield self._viewed(stack, named, viewer)

        return PastStore(name, view, lambda: self._loaded(named).info(), settings_of(named))

    def _viewed(self, stack: ExitStack, named: NamedState, viewer: Viewer | None) -> PastView:
        """Open a view; a snapshot that another thread lets go meanwhile is loaded again."""
        while True:
            held = self._loaded(named)
            try:
                return stack.enter_context(held.view(viewer))
            except StoreError:
                with self._turn:
                    if self._held.get(named.id) is held:
                        raise

    def close(self) -> None:
        """Forget all that were loaded."""
        with self._turn:
            while self._held:
                self._held.popitem()[1].close()

    def _loaded(self, named: NamedState) -> Past:
        with self._turn:
            held = self._held.get(named.id)
        if held is not None:
            return held
        with self._connections.reading() as connection:
            current = self._follow(connection)
            if not find(connection, named.name).holds_the_same(named):
                raise unknown(named.name)
            parts = load_parts(connection, named, current, self._rows_at_once)
        return self._cached(Past(named, parts, self._seeing(named)))

    def _cached(self, made: Past) -> Past:
        """Keep what was loaded; return what another thread kept before."""
        with self._turn:
            kept = self._held.setdefault(made.named.id, made)
            if kept is not made:
                made.close()
            while len(self._held) > self.MOST:
                self._held.pop(next(iter(self._held))).close()
            return kept


def drop_unheld(connection: CatalogConnection, after_each: Callable[[], None]) -> None:
    """Delete what no snapshot holds any more, some rows in each transaction, so that the log stays short."""
    after: tuple[int, int] | None = (0, 0)
    while after is not None:
        with transaction(connection):
            after = retained.drop_unheld(connection, after, DROP_BATCH_SIZE)
        after_each()


@reading("a snapshot")
def settings_of(named: NamedState) -> Mapping[str, str]:
    """Return the settings that the collection kept then."""
    return {str(name): str(value) for name, value in json.loads(named.preferences).items()}


def load_parts(
    connection: CatalogConnection, named: NamedState, current: SegmentSnapshot, most: int
) -> SegmentSnapshot:
    """Put together the segments of a snapshot. Raises CorruptError when they do not add up to its own totals.

    `current` is the collection's present state, and the connection stands in the same transaction. At most `most` rows
    are read at once.
    """
    state = named.state
    same = current.state.edition == named.edition
    parts = [one for part in current.parts for one in _until(part, named.last_chunk)] if same else []
    for table in ("retained_chunk",) if same else ("retained_chunk", "chunk"):
        after = 0
        while rows := SegmentRows.of(_rows_of(connection, table, named, (after, most))):
            parts.append(OpenSegment(segment_of(connection, rows, state.dimensions)))
            after = rows.row[-1]
    recipe = read_fingerprint(named.recipe) if named.recipe else None
    if recipe is not None and recipe.embedder.dimensions != state.dimensions:
        raise CorruptError("The index is damaged: a snapshot's recipe has another width than its vectors.", HINT)
    found = SegmentSnapshot(state, recipe, tuple(parts), synonyms=[named.synonyms])
    cross_check(found)
    return found


def _until(part: OpenSegment, last: int) -> Iterator[OpenSegment]:
    """Yield a segment without what was written after the row `last`; nothing where that is all of it."""
    old = part.segment.rows <= last
    if old.all():
        yield part
    elif old.any():
        live = old.astype(np.uint8) if part.live is None else part.live & old.astype(np.uint8)
        yield OpenSegment(part.segment, part.name, part.damaged, live)


def _rows_of(
    connection: CatalogConnection, table: str, named: NamedState, which: tuple[int, int]
) -> Iterator[tuple[object, ...]]:
    """Read passages of a table that a snapshot holds, by rising rows; `which` is (after which row, how many)."""
    died = f"AND died > {named.generation:d}" if table == "retained_chunk" else ""
    documents = (
        "SELECT row, source, title, media_type, metadata FROM document UNION ALL"
        " SELECT row, source, title, media_type, metadata FROM retained_document"
    )
    query = (
        f"SELECT {ROW_COLUMNS} FROM (SELECT * FROM {table} WHERE row > ? AND row <= ? AND edition = ? {died}"  # noqa: S608
        f" ORDER BY row LIMIT ?) AS chunk CROSS JOIN ({documents}) AS document ON document.row = chunk.document"
        " ORDER BY chunk.row"
    )
    return iter(select(connection, query, (which[0], named.last_chunk, named.edition, which[1])))
