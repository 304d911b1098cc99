"""`verify`: every checksum recomputed, every derived thing made again and compared. The caller holds the lock."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import CorruptError
from twofold.domain.ports import Finding
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local import serialization
from twofold.stores.local.checksums import PAGE_BYTES, ChecksumVFS
from twofold.stores.local.maintenance import FolderSegments
from twofold.stores.local.place import CATALOG_NAME, SEGMENT_FOLDER
from twofold.stores.local.retained import DOCUMENT_ROW, list_all
from twofold.stores.local.segment import ARRAYS, merge_segments
from twofold.stores.local.serialization import MALFORMED
from twofold.stores.local.snapshot import (
    Listed,
    SegmentFiles,
    State,
    listed_segments,
    read_rows,
    read_state,
    segment_of,
)

_RETAINED_DOCUMENTS = (  # those of retained passages, which may be there still, or retained too
    f"(SELECT {DOCUMENT_ROW} FROM document WHERE row IN (SELECT document FROM retained_chunk)"  # noqa: S608
    f" UNION ALL SELECT {DOCUMENT_ROW} FROM retained_document)"
)
LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
MAX_LENGTH = 2**32 - 1  # in words
DOCUMENT_BATCH_SIZE = 64


def verify(connection: CatalogConnection, vfs: ChecksumVFS, folder: Path, logged: frozenset[int]) -> list[Finding]:
    """Check the catalog's pages and structure, its passages, and every segment against it.

    Pages in `logged` may be torn in the file: the log holds them. What is read from damaged pages, or from a damaged
    structure, would only repeat it.
    """
    findings = [
        Finding(CATALOG_NAME, f"page {number} fails its checksum", repairable=False)
        for number in vfs.damaged_pages(folder / CATALOG_NAME)
        if number not in logged
    ]
    findings = findings or list(_structure(connection))
    return findings or verify_contents(connection, FolderSegments(folder))


def verify_contents(connection: CatalogConnection, segments: SegmentFiles) -> list[Finding]:
    """Check passages, and every segment against them, where the rows themselves can be read."""
    findings = list(_passages(connection))
    state = read_state(connection)
    findings += _totals(connection, state)
    findings += _retained(connection)
    if any(not one.repairable for one in findings):
        return findings  # segments are held against passages that are right
    for segment in listed_segments(connection):
        findings += segment_findings(connection, segments, state, segment)
    return findings


def logged_pages(folder: Path) -> frozenset[int]:
    """Return the numbers of the pages that stand in the log; see the format of SQLite's write-ahead log."""
    try:
        log = (folder / f"{CATALOG_NAME}-wal").read_bytes()
    except OSError:
        return frozenset()
    salts = log[16:24]
    frames = range(LOG_HEADER_BYTES, len(log) - FRAME_HEADER_BYTES - PAGE_BYTES + 1, FRAME_HEADER_BYTES + PAGE_BYTES)
    return frozenset(int.from_bytes(log[at : at + 4], "big") for at in frames if log[at + 8 : at + 16] == salts)


def _structure(connection: CatalogConnection) -> Iterator[Finding]:
    for (message,) in connection.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield Finding(CATALOG_NAME, str(message), repairable=False)
    for table, row, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield Finding(CATALOG_NAME, f"row {row} of {table} belongs to nothing", repairable=False)


def _retained(connection: CatalogConnection) -> Iterator[Finding]:
    """Check what is retained for snapshots as what is there, and each snapshot against its own totals."""
    yield from _passages(connection, _RETAINED_DOCUMENTS, "retained_chunk")
    chunks = "WHERE edition = ?1 AND row <= ?2"
    query = (
        "SELECT count(*), coalesce(sum(words), 0), count(*) - count(vector) FROM"  # noqa: S608
        f" (SELECT words, vector FROM chunk {chunks} UNION ALL"
        f" SELECT words, vector FROM retained_chunk {chunks} AND died > ?3) AS held"
    )
    documents = (
        "SELECT count(*) FROM (SELECT row FROM document WHERE row <= ?1 UNION ALL"
        " SELECT row FROM retained_document WHERE row <= ?1 AND died > ?2) AS held"
    )
    for one in list_all(connection):
        counted = connection.execute(query, (one.edition, one.last_chunk, one.generation)).fetchone() or ()
        counted += connection.execute(documents, (one.last_document, one.generation)).fetchone() or ()
        if counted != (one.chunks, one.words, one.pending, one.documents):
            what = f"the snapshot {one.name} counts {one.chunks} passages and holds {counted}"
            yield Finding(CATALOG_NAME, what, repairable=False)


def _passages(connection: CatalogConnection, documents: str = "document", chunks: str = "chunk") -> Iterator[Finding]:
    """Check that documents can be read, and that every passage is its document's text, with what is said of it."""
    widths = dict(connection.execute("SELECT edition, dimensions FROM snapshot"))
    widths |= dict(connection.execute("SELECT id, dimensions FROM edition"))
    known = np.array([number for (number,) in connection.execute("SELECT id FROM term ORDER BY id")], dtype=np.int64)
    for row, identity, *columns in _documents(connection, documents):
        try:
            text = serialization.read_document((identity, *columns)).text
        except CorruptError as error:
            yield Finding(str(identity), error.message, repairable=False)
        else:
            joined = f"{chunks} AS chunk JOIN {documents} AS document"
            yield from _passages_of(connection, joined, (row, text), widths, known)


def _documents(connection: CatalogConnection, documents: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of all documents, a few at a time: a database may send whole answers alone."""
    query = (
        f"SELECT row, {serialization.DOCUMENT_COLUMNS} FROM {documents} AS document"  # noqa: S608
        " WHERE row > ? ORDER BY row LIMIT ?"
    )
    last = 0
    while found := connection.execute(query, (last, DOCUMENT_BATCH_SIZE)).fetchall():
        yield from found
        last = found[-1][0]


def _passages_of(
    connection: CatalogConnection,
    joined: str,
    document: tuple[int, str],
    widths: Mapping[int, int],
    known: NDArray[np.int64],
) -> Iterator[Finding]:
    """Check the passages of one document, given by its row and its text; `known` are the numbers of all terms.

    `joined` names the tables that it is read from.
    """
    row, text = document
    query = (
        f"SELECT {serialization.CHUNK_COLUMNS}, edition, text_hash, key, words, terms, vector FROM {joined}"  # noqa: S608
        " ON document.row = chunk.document WHERE chunk.document = ? ORDER BY edition, ordinal"
    )
    for *columns, edition, text_hash, key, words, terms, vector in connection.execute(query, (row,)):
        identity = f"{columns[0]}_chunk_{columns[1]}"
        try:
            chunk = serialization.read_chunk(tuple(columns))
            sized = _has_sizes(terms, vector, words, widths.get(edition, 0))
            named = bool(np.isin(serialization.read_terms(terms)[0], known).all())
        except CorruptError as error:
            yield Finding(identity, error.message, repairable=False)
            continue
        if text[chunk.start : chunk.end] != chunk.text:
            yield Finding(chunk.id, "the passage is not what stands at its place in the document", repairable=False)
        if serialization.text_hash(chunk.indexed_text) != text_hash or chunk.key != key:
            yield Finding(chunk.id, "the passage's hash or key is not its own", repairable=False)
        if not (sized and named):
            yield Finding(chunk.id, "the passage's terms, length or vector cannot be its own", repairable=False)


def _has_sizes(terms: bytes, vector: bytes | None, words: int, dimensions: int) -> bool:
    """Return whether a passage's terms rise, each of them occurs, and its vector, if any, has the edition's width."""
    ids, counts = serialization.read_terms(terms)
    rising = bool((ids[1:] > ids[:-1]).all()) and (not len(ids) or int(ids[0]) > 0)
    whole = True
    if vector is not None:
        values = serialization.unpack_vector(vector)
        whole = len(values) == dimensions and bool(np.isfinite(values).all()) and bool(values.any())
    return rising and bool(counts.all()) and whole and 0 <= words <= MAX_LENGTH


def _totals(connection: CatalogConnection, state: State) -> Iterator[Finding]:
    counted = connection.execute(
        "SELECT count(*), coalesce(sum(words), 0), count(*) - count(vector) FROM chunk WHERE edition = ?",
        (state.edition,),
    ).fetchone()
    if counted is None or tuple(counted) != (state.chunks, state.words, state.pending):
        yield Finding(CATALOG_NAME, f"counts {state.chunks} passages and holds {counted}", repairable=False)


def segment_findings(
    connection: CatalogConnection, segments: SegmentFiles, state: State, segment: Listed
) -> Iterator[Finding]:
    """Hold one segment against the catalog's rows. Raises CorruptError where the rows themselves cannot be read."""
    where = f"{SEGMENT_FOLDER}/{segment.name}"
    covers = (segment.first, segment.last)
    try:
        held = segments.open(connection, segment, state.dimensions)
    except CorruptError as error:
        yield Finding(where, error.message, repairable=True)
        return
    if len(held) != segment.chunks:
        yield Finding(where, f"holds {len(held)} passages where the catalog lists {segment.chunks}", repairable=True)
    dead = {row for (row,) in connection.execute("SELECT row FROM tombstone WHERE row BETWEEN ? AND ?", covers)}
    live = np.array([int(row) not in dead for row in held.rows], dtype=np.uint8)
    rows = read_rows(connection, state.edition, (segment.first - 1, segment.last))
    made = segment_of(connection, rows, state.dimensions)
    try:
        kept = merge_segments([held], [live])
    except MALFORMED:
        yield Finding(where, "its arrays cannot be read", repairable=True)
        return
    for name in ARRAYS:
        if not np.array_equal(getattr(kept, name), getattr(made, name)):
            yield Finding(where, f"its {name} are not those of the catalog", repairable=True)
