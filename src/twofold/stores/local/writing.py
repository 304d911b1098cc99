"""The writer's steps on the catalog. Each runs inside one transaction that the store opens and commits."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from twofold.domain.access import Readers, readers_of
from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.ports import EmbedderIdentity, IndexFingerprint
from twofold.domain.types import Document, Entry, IndexedChunk, Metadata, Vector
from twofold.stores.catalog_connection import CatalogConnection, SQLValue
from twofold.stores.checks import check_document, check_new_metadata, check_passages
from twofold.stores.local import serialization
from twofold.stores.local.catalog import select
from twofold.stores.local.retained import retain_chunks, retain_document
from twofold.stores.local.scoping import storable
from twofold.stores.local.snapshot import State, current_fingerprint, read_state
from twofold.stores.local.vocabulary import Vocabulary

CHUNK_TABLE = (
    *("edition", "document", "ordinal", "key", "start", "stop", "page", "place", "metadata", "heading", "header"),
    *("text", "text_hash", "words", "terms", "vector"),
)
DOCUMENT_TABLE = "id, source, title, media_type, metadata, content_hash, characters, blocks, text, readers"
_WORDS = CHUNK_TABLE.index("words")
MAX_HALF = 65_504.0  # what float16 can hold


def begin_edition(connection: CatalogConnection, fingerprint: IndexFingerprint) -> int:
    """Add an edition of a recipe; it is not searched yet."""
    text = serialization.write_fingerprint(fingerprint)
    query = "INSERT INTO edition (recipe, dimensions) VALUES (?, ?) RETURNING id"
    ((edition,),) = connection.execute(query, (text, fingerprint.embedder.dimensions)).fetchall()
    return int(edition)


def ensure_fingerprint(connection: CatalogConnection, fingerprint: IndexFingerprint) -> None:
    """Set the recipe of a collection that has none; of one without documents, replace it."""
    held = current_fingerprint(connection)
    if held == fingerprint:
        return
    if held is not None and connection.execute("SELECT 1 FROM document LIMIT 1").fetchone():
        raise MismatchError(
            difference(held, fingerprint), "Run `twofold index reindex`, or open it with its own settings."
        )
    edition = begin_edition(connection, fingerprint)
    switch_edition(connection, edition)
    connection.execute("DELETE FROM edition WHERE id <> ?", (edition,))


def switch_edition(connection: CatalogConnection, edition: int) -> None:
    """Search another edition from now on. Segments of the old one, of other widths perhaps, are listed no more.

    Old editions lose their recipe, so that none that is half deleted is ever taken up again.
    """
    connection.execute("UPDATE state SET edition = ?, generation = generation + 1, layout = layout + 1", (edition,))
    connection.execute("UPDATE edition SET recipe = '' WHERE id <> ?", (edition,))
    connection.execute("DELETE FROM segment")
    connection.execute("DELETE FROM tombstone")


def difference(held: IndexFingerprint, wanted: IndexFingerprint) -> str:
    """Return one line about how two recipes differ."""
    pairs = (
        ("embedder", held.embedder.name, wanted.embedder.name),
        ("embedder's revision", held.embedder.revision, wanted.embedder.revision),
        ("embedder's settings", str(held.embedder), str(wanted.embedder)),
        ("analyzer", held.analyzer, wanted.analyzer),
        ("chunker", held.chunker, wanted.chunker),
        ("enricher", held.enricher, wanted.enricher),
    )
    what, old, new = next(pair for pair in pairs if pair[1] != pair[2])
    return f"The index was made with the {what} {old!r}, not {new!r}."


def put_entries(connection: CatalogConnection, vocabulary: Vocabulary, state: State, entries: Sequence[Entry]) -> None:
    """Replace documents whole. The passages of all of them are added together."""
    for entry in entries:
        check_document(entry.document)
    checked = _check_all(entries, state.dimensions)
    terms = vocabulary.numbered(connection, [[one.terms.counts for one in entry.chunks] for entry in entries])
    rows: list[Sequence[SQLValue]] = []
    for entry, *kept in zip(entries, terms, checked, strict=True):
        readers = _readers_to_keep(connection, entry.document)
        delete_document(connection, entry.document.id, state.generation + 1)
        document = _insert_document(connection, (*serialization.document_row(entry.document), readers))
        rows += _chunk_rows((state.edition, document), entry.chunks, zip(*kept, strict=True))
    _put_rows(connection, state.edition, rows)


def _insert_document(connection: CatalogConnection, values: Sequence[SQLValue]) -> int:
    """Add a document's row, its columns as in `DOCUMENT_TABLE`; return its number."""
    query = f"INSERT INTO document ({DOCUMENT_TABLE}) VALUES ({', '.join('?' * len(values))}) RETURNING row"  # noqa: S608
    ((row,),) = connection.execute(query, values).fetchall()
    return int(row)


def _readers_to_keep(connection: CatalogConnection, document: Document) -> int | None:
    """Return the number of a document's readers; one that names none keeps those it had."""
    if document.readers is not None:
        return _number_of(connection, document.readers)
    found = connection.execute("SELECT readers FROM document WHERE id = ?", (document.id,)).fetchone()
    return None if found is None else found[0]


def _number_of(connection: CatalogConnection, readers: Readers | None) -> int | None:
    """Return the number by which a set of readers is kept, a new one where it was never named."""
    kept = readers_of(readers)
    if kept is None:
        return None
    text = serialization.write_readers(kept)
    connection.execute("INSERT INTO readers (principals) VALUES (?) ON CONFLICT DO NOTHING", (text,))
    (number,) = connection.execute("SELECT id FROM readers WHERE principals = ?", (text,)).fetchone() or (0,)
    return int(number)


def set_readers(connection: CatalogConnection, changes: Mapping[str, Readers | None]) -> bool:
    """Set who may read documents; return whether that changed anything. Their rows and passages stay as they are."""
    changed = False
    for document, readers in changes.items():
        if storable(document):
            number = _number_of(connection, readers)
            query = "UPDATE document SET readers = ?1 WHERE id = ?2 AND readers IS DISTINCT FROM ?1 RETURNING 1"
            changed = bool(connection.execute(query, (number, document)).fetchall()) or changed
    if changed:
        connection.execute("UPDATE state SET access = access + 1")
    return changed


def put_chunks(
    connection: CatalogConnection,
    owner: tuple[int, int],
    chunks: Sequence[IndexedChunk],
    kept: Iterable[tuple[bytes, bytes | None]],
) -> None:
    """Add a document's passages to an edition; `owner` is (edition, the document's row).

    `kept` gives for each passage its terms as the vocabulary numbered them, and its vector as `check_chunks` packed it.
    """
    _put_rows(connection, owner[0], _chunk_rows(owner, chunks, kept))


def _chunk_rows(
    owner: tuple[int, int], chunks: Sequence[IndexedChunk], kept: Iterable[tuple[bytes, bytes | None]]
) -> list[Sequence[SQLValue]]:
    return [(*owner, *serialization.chunk_row(one), *both) for one, both in zip(chunks, kept, strict=True)]


def _put_rows(connection: CatalogConnection, edition: int, rows: Sequence[Sequence[SQLValue]]) -> None:
    """Add passages, their columns as in `CHUNK_TABLE`, to one edition, and count them."""
    if rows:
        connection.insert("chunk", CHUNK_TABLE, rows)
        _count(connection, edition, len(rows), sum(row[_WORDS] for row in rows), sum(row[-1] is None for row in rows))  # type: ignore[misc]  # a number


def _count(connection: CatalogConnection, edition: int, chunks: int, words: int, pending: int) -> None:
    """Count passages more, or fewer, of an edition."""
    connection.execute(
        "UPDATE edition SET chunks = chunks + ?, words = words + ?, pending = pending + ? WHERE id = ?",
        (chunks, words, pending, edition),
    )


def delete_document(connection: CatalogConnection, document: str, generation: int) -> bool:
    """Delete one document from every edition, leaving tombstones for segments and readers."""
    if not storable(document):
        return False
    found = connection.execute("SELECT row FROM document WHERE id = ?", (document,)).fetchone()
    if found is None:
        return False
    _bury(connection, found[0], generation)
    query = (
        "SELECT edition, count(*), sum(words), count(*) - count(vector) FROM chunk WHERE document = ? GROUP BY edition"
    )
    totals = list(select(connection, query, found))
    for edition, chunks, words, pending in totals:
        _count(connection, edition, -chunks, -words, -pending)
    retain_document(connection, found[0], generation)
    connection.execute("DELETE FROM document WHERE row = ?", found)
    return True


def update_vectors(connection: CatalogConnection, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
    """Store for passages without a vector that of their indexed text; count those that got one.

    They get new rows, since segments hold the old ones; a row that a segment or a reader took in never changes.
    """
    state, held = state_for_writing(connection), current_fingerprint(connection)
    if held is None or held.embedder != embedder:
        raise MismatchError(
            f"The index is no longer made with the embedder {embedder.name!r}.", "Run `twofold sync` again."
        )
    columns = ", ".join(CHUNK_TABLE[:-1])  # the vector is the last
    places = ", ".join("?" * len(CHUNK_TABLE))
    given = 0
    for text, vector in vectors.items():
        (packed,) = _packed_vectors([vector], state.dimensions, "A vector that came later")
        waiting = connection.execute(
            f"SELECT row, {columns} FROM chunk WHERE edition = ? AND text_hash = ? AND vector IS NULL ORDER BY row",  # noqa: S608
            (state.edition, serialization.text_hash(text)),
        ).fetchall()
        retain_chunks(connection, [row for row, *_ in waiting], state.generation + 1)
        for row, *rest in waiting:
            connection.execute("INSERT INTO tombstone VALUES (?, ?)", (row, state.generation + 1))
            connection.execute("DELETE FROM chunk WHERE row = ?", (row,))
            connection.execute(f"INSERT INTO chunk ({columns}, vector) VALUES ({places})", (*rest, packed))  # noqa: S608
        given += len(waiting)
    _count(connection, state.edition, 0, 0, -given)
    return given


def set_settings(connection: CatalogConnection, values: Mapping[str, str]) -> None:
    """Replace the collection's own settings."""
    connection.execute("DELETE FROM preference")
    connection.executemany("INSERT INTO preference VALUES (?, ?)", values.items())


def set_synonyms(connection: CatalogConnection, rules: str) -> None:
    """Replace the collection's synonyms."""
    connection.execute("DELETE FROM synonyms")
    if rules:
        connection.execute("INSERT INTO synonyms VALUES (1, ?)", (rules,))


def set_metadata(connection: CatalogConnection, document: str, metadata: Metadata, generation: int) -> None:
    """Replace one document's metadata.

    It gets a new row, since snapshots may hold the old one, and so do its passages: segments hold the old fields.
    """
    before = connection.execute(f"SELECT row, {DOCUMENT_TABLE} FROM document WHERE id = ?", (document,)).fetchone()  # noqa: S608
    if before is None:
        return
    found = before[:1]
    check_new_metadata(document, metadata)
    text = serialization.write_metadata(metadata)
    columns = ", ".join(CHUNK_TABLE)
    held = connection.execute(f"SELECT {columns} FROM chunk WHERE document = ? ORDER BY row", found).fetchall()  # noqa: S608
    _bury(connection, found[0], generation)
    retain_document(connection, found[0], generation)
    connection.execute("DELETE FROM document WHERE row = ?", found)
    now = _insert_document(connection, (*before[1:5], text, *before[6:]))
    connection.insert("chunk", CHUNK_TABLE, [(edition, now, *rest) for edition, _, *rest in held])


def _bury(connection: CatalogConnection, document: int, generation: int) -> None:
    """Leave tombstones for a document's passages, for segments and readers."""
    connection.execute(
        "INSERT INTO tombstone (row, generation) SELECT row, ? FROM chunk WHERE document = ?", (generation, document)
    )


def note_roots(connection: CatalogConnection, roots: Mapping[str, int]) -> None:
    """Note what the collection was synced from, and when."""
    connection.executemany(
        "INSERT INTO root VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET synced = excluded.synced", roots.items()
    )


def advance(connection: CatalogConnection) -> None:
    """Count one change."""
    connection.execute("UPDATE state SET generation = generation + 1")


def state_for_writing(connection: CatalogConnection) -> State:
    """Read the state, which must have a recipe."""
    state = read_state(connection)
    if not state.edition:
        raise MismatchError("The index has no recipe yet.", "Call `ensure_fingerprint` before the first `upsert`.")
    return state


def _check_all(entries: Sequence[Entry], dimensions: int) -> Sequence[Sequence[bytes | None]]:
    """Return what `check_chunks` does of each document, with the vectors of all of them packed at once."""
    for entry in entries:
        check_passages(entry.document, entry.chunks)
    given = [one.vector for entry in entries for one in entry.chunks if one.vector is not None]
    try:
        packed = iter(_packed_vectors(given, dimensions, "A vector"))
    except (MismatchError, InvalidInputError):  # one document after the other, to say which it is
        return [check_chunks(entry.document, entry.chunks, dimensions) for entry in entries]
    return [[None if one.vector is None else next(packed) for one in entry.chunks] for entry in entries]


def check_chunks(document: Document, chunks: Sequence[IndexedChunk], dimensions: int) -> Sequence[bytes | None]:
    """Return the passages' vectors as they are kept; refuse passages that cannot be kept.

    Raises MismatchError for a vector of another width, else InvalidInputError.
    """
    check_passages(document, chunks)
    given = [indexed.vector for indexed in chunks if indexed.vector is not None]
    packed = iter(_packed_vectors(given, dimensions, f"A vector of {document.source!r}"))
    return [None if indexed.vector is None else next(packed) for indexed in chunks]


def _packed_vectors(vectors: Sequence[Vector], dimensions: int, what: str) -> list[bytes]:
    """Return vectors as they are kept, in float16; errors as for `check_chunks`."""
    odd = [vector.shape for vector in vectors if vector.shape != (dimensions,)]
    if odd:
        raise MismatchError(
            f"{what} has the shape {odd[0]}; the index has {dimensions}.",
            "Use the embedder that the index was made with, or run `twofold index reindex`.",
        )
    rows = np.stack(vectors) if vectors else np.empty((0, dimensions), dtype=np.float32)
    halves = rows.astype("<f2") if (np.abs(rows) <= MAX_HALF).all() else np.zeros_like(rows, dtype="<f2")
    if not halves.any(axis=1).all():
        raise InvalidInputError(
            f"{what} is all zeros, or holds a value that is no finite number or too large.",
            "Check the embedder: its vectors have the length 1.",
        )
    joined, width = halves.tobytes(), 2 * dimensions
    return [joined[at : at + width] for at in range(0, len(joined), width)]
