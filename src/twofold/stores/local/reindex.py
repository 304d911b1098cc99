"""Making every passage again: the next edition is written next to the current one, then the two are switched."""

from collections.abc import Callable, Iterator

import apsw

from twofold.domain.ports import IndexFingerprint, Remake
from twofold.domain.types import Document
from twofold.stores.local import serialization, writing
from twofold.stores.local.catalog import select
from twofold.stores.local.maintenance import Upkeep, transaction
from twofold.stores.local.snapshot import read_state
from twofold.stores.local.vocabulary import Vocabulary

CHUNKS_DELETED_PER_DOCUMENT = 8


def rebuild(
    connection: apsw.Connection,
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
    for batch in _documents_without(connection, edition, upkeep.documents_at_once):
        made = remake([document for _, document in batch])
        with transaction(connection):
            terms = vocabulary.numbered(connection, [[one.terms.counts for one in chunks] for chunks in made])
            for (row, document), chunks, packed in zip(batch, made, terms, strict=True):
                vectors = writing.check_chunks(document, chunks, fingerprint.embedder.dimensions)
                writing.put_chunks(connection, (edition, row), chunks, zip(packed, vectors, strict=True))
        after_each()
    with transaction(connection):
        writing.switch_edition(connection, edition)
    after_each()
    while _drop_some_of_others(connection, edition, upkeep.documents_at_once * CHUNKS_DELETED_PER_DOCUMENT):
        after_each()


def _edition_to_write(connection: apsw.Connection, fingerprint: IndexFingerprint) -> int:
    current = read_state(connection).edition
    text = serialization.write_fingerprint(fingerprint)
    found = connection.execute("SELECT id FROM edition WHERE recipe = ? AND id <> ?", (text, current)).fetchone()
    if found is not None:
        return int(found[0])
    with transaction(connection):
        return writing.begin_edition(connection, fingerprint)


def _documents_without(connection: apsw.Connection, edition: int, at_once: int) -> Iterator[list[tuple[int, Document]]]:
    """Return the documents that have no passages in an edition yet, in batches by rising row."""
    query = (
        f"SELECT row, {serialization.DOCUMENT_COLUMNS} FROM document WHERE row > ?1 AND NOT EXISTS"  # noqa: S608
        " (SELECT 1 FROM chunk WHERE chunk.document = document.row AND chunk.edition = ?2) ORDER BY row LIMIT ?3"
    )
    last = 0
    while found := list(select(connection, query, (last, edition, at_once))):
        yield [(row[0], serialization.read_document(row[1:])) for row in found]
        last = found[-1][0]


def _drop_some_of_others(connection: apsw.Connection, edition: int, most: int) -> bool:
    """Delete passages of other editions, a few at a time, so that the log stays short. Say whether there were any."""
    query = "DELETE FROM chunk WHERE row IN (SELECT row FROM chunk WHERE edition <> ? LIMIT ?)"
    with transaction(connection):
        connection.execute(query, (edition, most))
        if connection.changes():
            return True
        connection.execute("DELETE FROM edition WHERE id <> ?", (edition,))
        return False
