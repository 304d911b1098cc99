"""The writer's steps on the catalog. Each runs inside one transaction that the store opens and commits."""

from collections.abc import Iterable, Mapping, Sequence

import apsw
import numpy as np

from twofold.domain.errors import CorruptError, InvalidInputError, MismatchError
from twofold.domain.filters import fields_of, values_of
from twofold.domain.ports import EmbedderIdentity, IndexFingerprint
from twofold.domain.types import Document, Entry, IndexedChunk, Metadata, MetadataValue, Vector
from twofold.stores.local import serialization
from twofold.stores.local.catalog import HINT, select
from twofold.stores.local.scoping import storable
from twofold.stores.local.snapshot import State, current_fingerprint, read_state

TERMS_REMEMBERED = 200_000
MAX_TERM_ID = 2**32 - 1
CHUNK_TABLE = (
    *("edition", "document", "ordinal", "key", "start", "stop", "page", "place", "metadata", "heading", "header"),
    *("text", "text_hash", "words", "terms", "vector"),
)
MAX_HALF = 65_504.0  # what float16 can hold


class Vocabulary:
    """Term ids, with the most recent ones remembered. Ids given out in a transaction that failed must be forgotten."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def ids(self, connection: apsw.Connection, terms: Iterable[str]) -> list[int]:
        """Return each term's id, making new ones where needed."""
        if len(self._known) > TERMS_REMEMBERED:
            self._known.clear()
        found = []
        for term in terms:
            known = self._known.get(term)
            if known is None:
                known = self._known[term] = _term_id(connection, term)
            found.append(known)
        return found

    def forget(self) -> None:
        """Forget all: a transaction was rolled back."""
        self._known.clear()


def _term_id(connection: apsw.Connection, term: str) -> int:
    row = connection.execute("SELECT id FROM term WHERE text = ?", (term,)).fetchone()
    if row is None:
        connection.execute("INSERT INTO term (text) VALUES (?)", (term,))
        return _checked_term_id(connection.last_insert_rowid())
    return _checked_term_id(row[0])


def _checked_term_id(number: int) -> int:
    """Return a term's number. Raises CorruptError for one that no term can have."""
    if not 0 < number <= MAX_TERM_ID:
        raise CorruptError(f"The index is damaged: a term has the number {number}.", HINT)
    return number


def begin_edition(connection: apsw.Connection, fingerprint: IndexFingerprint) -> int:
    """Add an edition of a recipe; it is not searched yet."""
    text = serialization.write_fingerprint(fingerprint)
    connection.execute(
        "INSERT INTO edition (recipe, dimensions) VALUES (?, ?)", (text, fingerprint.embedder.dimensions)
    )
    return connection.last_insert_rowid()


def ensure_fingerprint(connection: apsw.Connection, fingerprint: IndexFingerprint) -> None:
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


def switch_edition(connection: apsw.Connection, edition: int) -> None:
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


def put_entry(connection: apsw.Connection, vocabulary: Vocabulary, state: State, entry: Entry) -> None:
    """Replace one document whole."""
    _check_entry(entry, state.dimensions)
    delete_document(connection, entry.document.id, state.generation + 1)
    connection.execute(
        "INSERT INTO document (id, source, title, media_type, metadata, content_hash, characters, blocks, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        serialization.document_row(entry.document),
    )
    document = connection.last_insert_rowid()
    put_chunks(connection, vocabulary, (state.edition, document), entry.chunks)


def put_chunks(
    connection: apsw.Connection, vocabulary: Vocabulary, owner: tuple[int, int], chunks: Sequence[IndexedChunk]
) -> None:
    """Add a document's passages to an edition; `owner` is (edition, the document's row)."""
    for indexed in chunks:
        counts = indexed.terms.counts
        terms = serialization.pack_terms(zip(vocabulary.ids(connection, counts), counts.values(), strict=True))
        connection.execute(
            f"INSERT INTO chunk ({', '.join(CHUNK_TABLE)}) VALUES ({', '.join('?' * len(CHUNK_TABLE))})",  # noqa: S608
            (*owner, *serialization.chunk_row(indexed, terms)),
        )
    words = sum(indexed.terms.length for indexed in chunks)
    pending = sum(indexed.vector is None for indexed in chunks)
    _count(connection, owner[0], len(chunks), words, pending)


def _count(connection: apsw.Connection, edition: int, chunks: int, words: int, pending: int) -> None:
    """Count passages more, or fewer, of an edition."""
    connection.execute(
        "UPDATE edition SET chunks = chunks + ?, words = words + ?, pending = pending + ? WHERE id = ?",
        (chunks, words, pending, edition),
    )


def delete_document(connection: apsw.Connection, document: str, generation: int) -> bool:
    """Delete one document from every edition, leaving tombstones for segments and readers."""
    if not storable(document):
        return False
    found = connection.execute("SELECT row FROM document WHERE id = ?", (document,)).fetchone()
    if found is None:
        return False
    _bury(connection, found[0], generation)
    query = "SELECT edition, count(*), sum(words), sum(vector IS NULL) FROM chunk WHERE document = ? GROUP BY edition"
    totals = list(select(connection, query, found))
    for edition, chunks, words, pending in totals:
        _count(connection, edition, -chunks, -words, -pending)
    connection.execute("DELETE FROM document WHERE row = ?", found)
    return True


def put_vectors(connection: apsw.Connection, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
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
        _check_vector(vector, state.dimensions, "A vector that came later")
        waiting = connection.execute(
            f"SELECT row, {columns} FROM chunk WHERE edition = ? AND text_hash = ? AND vector IS NULL ORDER BY row",  # noqa: S608
            (state.edition, serialization.text_hash(text)),
        ).fetchall()
        packed = serialization.pack_vector(vector)
        for row, *rest in waiting:
            connection.execute("INSERT INTO tombstone VALUES (?, ?)", (row, state.generation + 1))
            connection.execute("DELETE FROM chunk WHERE row = ?", (row,))
            connection.execute(f"INSERT INTO chunk ({columns}, vector) VALUES ({places})", (*rest, packed))  # noqa: S608
        given += len(waiting)
    _count(connection, state.edition, 0, 0, -given)
    return given


def set_settings(connection: apsw.Connection, values: Mapping[str, str]) -> None:
    """Replace the collection's own settings."""
    connection.execute("DELETE FROM preference")
    connection.executemany("INSERT INTO preference VALUES (?, ?)", values.items())


def set_metadata(connection: apsw.Connection, document: str, metadata: Metadata, generation: int) -> None:
    """Replace one document's metadata. Its passages get new rows, since segments hold the fields of the old ones."""
    found = connection.execute("SELECT row FROM document WHERE id = ?", (document,)).fetchone()
    if found is None:
        return
    text = serialization.write_metadata(metadata)
    if not all(map(storable, (one for named in metadata.items() for one in _texts(named)))):
        raise InvalidInputError(f"The metadata of {document!r} is not Unicode.", "Clean it first.")
    columns = ", ".join(CHUNK_TABLE)
    held = connection.execute(f"SELECT {columns} FROM chunk WHERE document = ? ORDER BY row", found).fetchall()  # noqa: S608
    _bury(connection, found[0], generation)
    connection.execute("DELETE FROM chunk WHERE document = ?", found)
    connection.execute("UPDATE document SET metadata = ? WHERE row = ?", (text, found[0]))
    places = ", ".join("?" * len(CHUNK_TABLE))
    connection.executemany(f"INSERT INTO chunk ({columns}) VALUES ({places})", held)  # noqa: S608


def _bury(connection: apsw.Connection, document: int, generation: int) -> None:
    """Leave tombstones for a document's passages, for segments and readers."""
    connection.execute(
        "INSERT INTO tombstone (row, generation) SELECT row, ? FROM chunk WHERE document = ?", (generation, document)
    )


def note_roots(connection: apsw.Connection, roots: Mapping[str, int]) -> None:
    """Note what the collection was synced from, and when."""
    connection.executemany("INSERT OR REPLACE INTO root VALUES (?, ?)", roots.items())


def advance(connection: apsw.Connection) -> None:
    """Count one change."""
    connection.execute("UPDATE state SET generation = generation + 1")


def state_for_writing(connection: apsw.Connection) -> State:
    """Read the state, which must have a recipe."""
    state = read_state(connection)
    if not state.edition:
        raise MismatchError("The index has no recipe yet.", "Call `ensure_fingerprint` before the first `put`.")
    return state


def _check_entry(entry: Entry, dimensions: int) -> None:
    document = entry.document
    texts = (document.id, document.source, document.title, document.media_type, document.content_hash, document.text)
    metadata = (text for named in fields_of(document).items() for text in _texts(named))
    blocks = (text for block in document.blocks for text in (*block.heading, block.place, block.header))
    if not document.id or not all(map(storable, (*texts, *metadata, *blocks))):
        raise InvalidInputError(
            f"The document {document.source!r} has an empty id, text that is not Unicode.",
            "Clean its text and metadata first.",
        )
    check_chunks(document, entry.chunks, dimensions)


def _texts(named: tuple[str, MetadataValue]) -> list[str]:
    name, held = named
    return [name, *(one for one in values_of(held) if isinstance(one, str))]


def check_chunks(document: Document, chunks: Sequence[IndexedChunk], dimensions: int) -> None:
    """Refuse passages that cannot be kept. Raises MismatchError for another width, else InvalidInputError."""
    for indexed in chunks:
        if indexed.vector is not None:
            _check_vector(indexed.vector, dimensions, f"A vector of {document.source!r}")
        chunk = indexed.chunk
        own = (text for named in chunk.metadata.items() for text in _texts(named))
        if not storable("".join((chunk.text, chunk.place, chunk.header, *chunk.heading, *own, *indexed.terms.counts))):
            raise InvalidInputError(
                f"A passage of {document.source!r} has text that is not Unicode.", "Clean its text first."
            )


def _check_vector(vector: Vector, dimensions: int, what: str) -> None:
    """Refuse a vector that cannot be kept; errors as for `check_chunks`."""
    if vector.shape != (dimensions,):
        raise MismatchError(
            f"{what} has the shape {vector.shape}; the index has {dimensions}.",
            "Use the embedder that the index was made with, or run `twofold index reindex`.",
        )
    if not (np.abs(vector) <= MAX_HALF).all() or not serialization.has_direction(vector):
        raise InvalidInputError(
            f"{what} is all zeros, or holds a value that is no finite number or too large.",
            "Check the embedder: its vectors have the length 1.",
        )
