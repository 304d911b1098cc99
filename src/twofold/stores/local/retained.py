"""Snapshots in the catalog: which there are, and the rows that were deleted since and are retained for them.

Nothing is copied when a snapshot is made: rows never change, so the numbers of the last ones say what it holds. A row
that is deleted later and that a snapshot holds moves to another table. Without snapshots nothing is kept there.
The caller holds the writer's lock wherever something changes, and opens the transactions.
"""

import json
from collections.abc import Sequence

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import IndexFingerprint
from twofold.domain.snapshots import SnapshotInfo
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.catalog import select
from twofold.stores.local.serialization import reading, write_fingerprint
from twofold.stores.local.snapshot import State, checked_state, current_fingerprint, read_state
from twofold.stores.past import name_taken, unknown, utc

DOCUMENT_ROW = "row, id, source, title, media_type, metadata, content_hash, characters, readers, blocks, text"
CHUNK_ROW = (
    "row, edition, document, ordinal, key, start, stop, page, place, metadata, heading, header, text, text_hash,"
    " words, terms, vector"
)
NAMED_COLUMNS = (
    "id, name, created, generation, edition, recipe, dimensions, last_document, last_chunk, documents, chunks, words,"
    " pending, preferences, synonyms"
)
_DOCUMENT_BYTES = "octet_length(text) + octet_length(blocks) + octet_length(metadata) + octet_length(source)"
_CHUNK_BYTES = "octet_length(text) + octet_length(terms) + coalesce(octet_length(vector), 0) + octet_length(metadata)"
_HOLDS_DOCUMENT = "snapshot.last_document >= held.row AND snapshot.generation < held.died"
_HOLDS_CHUNK = "snapshot.edition = held.edition AND snapshot.last_chunk >= held.row AND snapshot.generation < held.died"


@dataclass(frozen=True, slots=True)
class NamedState:
    """A snapshot as the catalog keeps it."""

    id: int
    name: str
    created: int
    generation: int
    edition: int
    recipe: str
    dimensions: int
    last_document: int
    last_chunk: int
    documents: int
    chunks: int
    words: int
    pending: int
    preferences: str
    synonyms: str

    def holds_the_same(self, other: "NamedState") -> bool:
        """Return whether two are of one state; a name may be given again."""
        return (self.generation, self.edition) == (other.generation, other.edition)

    @property
    def state(self) -> State:
        """The state as views know it. Raises CorruptError for counts that none has."""
        found = State(self.generation, 0, self.edition, self.dimensions, self.chunks, self.words, self.pending)
        return checked_state(found)


def create(connection: CatalogConnection, name: str, created: int) -> None:
    """Name the present state. Raises InvalidInputError for a name that is taken."""
    if connection.execute("SELECT 1 FROM snapshot WHERE name = ?", (name,)).fetchone():
        raise name_taken(name)
    state, recipe = read_state(connection), current_fingerprint(connection)
    (documents,) = connection.execute("SELECT count(*) FROM document WHERE row > 0").fetchone() or (0,)
    (rules,) = connection.execute("SELECT rules FROM synonyms").fetchone() or ("",)
    preferences = dict(select(connection, "SELECT name, value FROM preference ORDER BY name"))
    row = (
        *(name, created, state.generation, state.edition, _written(recipe), state.dimensions),
        *(_newest(connection, "document"), _newest(connection, "chunk")),
        *(documents, state.chunks, state.words, state.pending, json.dumps(preferences, ensure_ascii=False)),
        rules,
    )
    columns = NAMED_COLUMNS.partition(", ")[2]
    connection.execute(f"INSERT INTO snapshot ({columns}) VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608


def _written(recipe: IndexFingerprint | None) -> str:
    return "" if recipe is None else write_fingerprint(recipe)


def _newest(connection: CatalogConnection, table: str) -> int:
    """Return the number of a table's newest row; those that come later have higher ones."""
    (last,) = connection.execute(f"SELECT coalesce(max(row), 0) FROM {table}").fetchone() or (0,)  # noqa: S608
    return int(last)


def find(connection: CatalogConnection, name: str) -> NamedState:
    """Return a snapshot. Raises NotFoundError."""
    row = connection.execute(f"SELECT {NAMED_COLUMNS} FROM snapshot WHERE name = ?", (name,)).fetchone()  # noqa: S608
    if row is None:
        raise unknown(name)
    return NamedState(*row)


def list_all(connection: CatalogConnection) -> list[NamedState]:
    """List the snapshots in the order in which they were made."""
    return [NamedState(*row) for row in select(connection, f"SELECT {NAMED_COLUMNS} FROM snapshot ORDER BY id")]  # noqa: S608


@reading("the list of snapshots")
def described(connection: CatalogConnection, named: NamedState) -> SnapshotInfo:
    """Describe a snapshot, with the bytes that are retained for it alone, and for others too."""
    alone = both = 0
    for table, size, holds in (
        ("retained_document", _DOCUMENT_BYTES, _HOLDS_DOCUMENT),
        ("retained_chunk", _CHUNK_BYTES, _HOLDS_CHUNK),
    ):
        held = f"EXISTS (SELECT 1 FROM snapshot WHERE id = ?1 AND {holds})"  # noqa: S608
        others = f"EXISTS (SELECT 1 FROM snapshot WHERE id <> ?1 AND {holds})"  # noqa: S608
        query = (
            "SELECT coalesce(sum(bytes), 0), coalesce(sum(CASE WHEN others THEN bytes ELSE 0 END), 0)"  # noqa: S608
            f" FROM (SELECT {size} AS bytes, {others} AS others FROM {table} AS held WHERE {held})"
        )
        total, shared = connection.execute(query, (named.id,)).fetchone() or (0, 0)
        alone, both = alone + total - shared, both + shared
    created = utc(named.created)
    return SnapshotInfo(named.name, created, named.documents, named.chunks, named.generation, alone, both)


def forget(connection: CatalogConnection, name: str) -> None:
    """Delete a snapshot; what was retained for it goes with `drop_unheld`. Raises NotFoundError."""
    if not connection.execute("DELETE FROM snapshot WHERE name = ? RETURNING 1", (name,)).fetchall():
        raise unknown(name)


def drop_unheld(connection: CatalogConnection, after: tuple[int, int], most: int) -> tuple[int, int] | None:
    """Delete rows that no snapshot holds any more, among the next `most` after those of the numbers `after`.

    Return the numbers to go on from; None when all were looked at.
    """
    tables = (("retained_document", _HOLDS_DOCUMENT), ("retained_chunk", _HOLDS_CHUNK))
    reached = list(after)
    for at, (table, holds) in enumerate(tables):
        query = f"SELECT max(row) FROM (SELECT row FROM {table} WHERE row > ? ORDER BY row LIMIT ?)"  # noqa: S608
        (last,) = connection.execute(query, (after[at], most)).fetchone() or (None,)
        if last is None:
            continue
        unheld = f"NOT EXISTS (SELECT 1 FROM snapshot WHERE {holds})"  # noqa: S608
        connection.execute(f"DELETE FROM {table} AS held WHERE row > ? AND row <= ? AND {unheld}", (after[at], last))  # noqa: S608
        reached[at] = last
    found = (reached[0], reached[1])
    return None if found == after else found


def retain_document(connection: CatalogConnection, row: int, died: int) -> None:
    """Keep what snapshots hold of a document that is about to be deleted, its passages included.

    `died` is the generation that no longer has it.
    """
    if not _are_any(connection):
        return
    rows = [one for (one,) in select(connection, "SELECT row FROM chunk WHERE document = ?", (row,))]
    retain_chunks(connection, rows, died)
    connection.execute(
        f"INSERT INTO retained_document ({DOCUMENT_ROW}, died) SELECT {DOCUMENT_ROW}, ?1 FROM document"  # noqa: S608
        " WHERE row = ?2 AND EXISTS (SELECT 1 FROM snapshot WHERE last_document >= document.row)",
        (died, row),
    )
    connection.execute(  # who lost it before it was deleted does not get it back by an older version
        "UPDATE retained_document SET readers = (SELECT readers FROM document WHERE row = ?1)"
        " WHERE id = (SELECT id FROM document WHERE row = ?1)",
        (row,),
    )


def retain_chunks(connection: CatalogConnection, rows: Sequence[int], died: int) -> None:
    """Keep what snapshots hold of passages that are about to be deleted; `died` as for `retain_document`."""
    if not _are_any(connection):
        return
    listed, bound = connection.among(rows)
    connection.execute(
        f"INSERT INTO retained_chunk ({CHUNK_ROW}, died) SELECT {CHUNK_ROW}, ?1 FROM chunk"  # noqa: S608
        f" WHERE row IN {listed.replace('?', '?2')} AND EXISTS (SELECT 1 FROM snapshot"
        " WHERE snapshot.edition = chunk.edition AND snapshot.last_chunk >= chunk.row)",
        (died, bound),
    )


def _are_any(connection: CatalogConnection) -> bool:
    return connection.execute("SELECT 1 FROM snapshot LIMIT 1").fetchone() is not None
