"""Making every passage again: the next edition is written next to the current one, then the two are switched."""

from collections.abc import Callable, Sequence

from twofold.domain.errors import WriterBusyError
from twofold.domain.ports import IndexFingerprint, Remake
from twofold.domain.types import Document, IndexedChunk
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local import serialization, writing
from twofold.stores.local.catalog import select
from twofold.stores.local.maintenance import Upkeep, transaction
from twofold.stores.local.retained import retain_chunks
from twofold.stores.local.snapshot import read_state
from twofold.stores.local.vocabulary import Vocabulary

CHUNKS_DELETED_PER_DOCUMENT = 8
_WITHOUT = "NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.document = document.row AND chunk.edition = ?2)"


def rebuild(
    connection: CatalogConnection,
    vocabulary: Vocabulary,
    fingerprint: IndexFingerprint,
    remake: Remake,
    upkeep: Upkeep,
    after_each: Callable[[], None],
) -> None:
    """Write the next edition, resuming one of the same recipe, and switch over. The caller holds the writer's lock.

    `after_each` is called after each transaction.
    """
    edition = _edition_to_write(connection, fingerprint)
    last = 0
    while True:
        found = _documents_without(connection, (edition, last), upkeep.documents_at_once)
        if not found:
            if _switched(connection, edition, last):
                break
            continue
        last = found[-1][0]
        made = remake([document for _, document in found])
        with transaction(connection):
            batch, made = _still_without(connection, edition, found, made)
            terms = vocabulary.numbered(connection, [[one.terms.counts for one in chunks] for chunks in made])
            for (row, document), chunks, packed in zip(batch, made, terms, strict=True):
                vectors = writing.check_chunks(document, chunks, fingerprint.embedder.dimensions)
                writing.put_chunks(connection, (edition, row), chunks, zip(packed, vectors, strict=True))
        after_each()
    after_each()
    while _drop_some_of_others(connection, edition, upkeep.documents_at_once * CHUNKS_DELETED_PER_DOCUMENT):
        after_each()


def _edition_to_write(connection: CatalogConnection, fingerprint: IndexFingerprint) -> int:
    current = read_state(connection).edition
    text = serialization.write_fingerprint(fingerprint)
    found = connection.execute("SELECT id FROM edition WHERE recipe = ? AND id <> ?", (text, current)).fetchone()
    if found is not None:
        return int(found[0])
    with transaction(connection):
        return writing.begin_edition(connection, fingerprint)


def _switched(connection: CatalogConnection, edition: int, last: int) -> bool:
    """Search an edition from now on, if every document has been looked at; say whether.

    Another writer may have put documents meanwhile: they have rows after `last`.
    """
    query = f"SELECT 1 FROM document WHERE row > ?1 AND {_WITHOUT} LIMIT 1"  # noqa: S608
    with transaction(connection):
        _check_still_current(connection, edition)
        if connection.execute(query, (last, edition)).fetchone():
            return False
        writing.switch_edition(connection, edition)
        return True


def _documents_without(
    connection: CatalogConnection, beyond: tuple[int, int], at_once: int
) -> list[tuple[int, Document]]:
    """Return documents that have no passages in an edition yet; `beyond` is (edition, the row they come after)."""
    edition, last = beyond
    query = (
        f"SELECT row, {serialization.DOCUMENT_COLUMNS} FROM document WHERE row > ?1 AND {_WITHOUT}"  # noqa: S608
        " ORDER BY row LIMIT ?3"
    )
    found = select(connection, query, (last, edition, at_once))
    return [(row[0], serialization.read_document(row[1:])) for row in found]


def _still_without(
    connection: CatalogConnection,
    edition: int,
    found: Sequence[tuple[int, Document]],
    made: Sequence[tuple[IndexedChunk, ...]],
) -> tuple[list[tuple[int, Document]], list[tuple[IndexedChunk, ...]]]:
    """Return the documents, and what was made of them, that nobody has replaced or made again meanwhile."""
    _check_still_current(connection, edition)
    listed, bound = connection.among([row for row, _ in found])
    query = f"SELECT row FROM document WHERE row IN {listed.replace('?', '?1')} AND {_WITHOUT}"  # noqa: S608
    rows = {row for (row,) in connection.execute(query, (bound, edition))}
    kept = [(one, chunks) for one, chunks in zip(found, made, strict=True) if one[0] in rows]
    return [one for one, _ in kept], [chunks for _, chunks in kept]


def _check_still_current(connection: CatalogConnection, edition: int) -> None:
    """Raise WriterBusyError where another writer has switched to an edition of its own: this one is being deleted."""
    if not connection.execute("SELECT 1 FROM edition WHERE id = ? AND recipe <> ''", (edition,)).fetchall():
        raise WriterBusyError("Another process has reindexed this index meanwhile.", "Look at it, then decide again.")


def _drop_some_of_others(connection: CatalogConnection, edition: int, most: int) -> bool:
    """Delete passages of other editions, a few at a time, so that the log stays short. Say whether there were any."""
    query = "SELECT row FROM chunk WHERE edition <> ? LIMIT ?"
    with transaction(connection):
        rows = [row for (row,) in select(connection, query, (edition, most))]
        if rows:
            retain_chunks(connection, rows, read_state(connection).generation + 1)
            listed, bound = connection.among(rows)
            connection.execute(f"DELETE FROM chunk WHERE row IN {listed}", (bound,))  # noqa: S608
            return True
        connection.execute("DELETE FROM edition WHERE id <> ?", (edition,))
        return False
