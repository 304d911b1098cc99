"""`verify`: every checksum recomputed, every derived thing made again and compared. The caller holds the lock."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np

from twofold.domain.errors import CorruptError
from twofold.domain.ports import Finding
from twofold.stores.local import acknowledged, rows
from twofold.stores.local.catalog import select
from twofold.stores.local.checksums import ChecksumVFS
from twofold.stores.local.layout import empty_log
from twofold.stores.local.place import CATALOG_NAME, NOTE_NAME, SEGMENT_FOLDER
from twofold.stores.local.segment import ARRAYS, build_segment, merge_segments, open_segment
from twofold.stores.local.snapshot import State, read_rows, read_state


def verify(connection: apsw.Connection, vfs: ChecksumVFS, folder: Path) -> list[Finding]:
    """Check the catalogue's pages and structure, its passages, and every segment against it."""
    note_is_damaged = acknowledged.noted(folder) is None
    empty_log(connection, folder)  # a page that the log still holds may be torn in the file
    findings = [
        Finding(CATALOG_NAME, f"page {number} fails its checksum", mendable=False)
        for number in vfs.damaged_pages(folder / CATALOG_NAME)
    ]
    if findings:
        return findings  # whatever is read from damaged pages would only repeat it
    if note_is_damaged:
        findings.append(Finding(NOTE_NAME, "the note fails its checksum", mendable=True))
    findings += _structure(connection)
    findings += _passages(connection)
    state = read_state(connection)
    findings += _totals(connection, state)
    listed = list(select(connection, "SELECT name, first, last, chunks, checksum FROM segment ORDER BY first"))
    for name, first, last, chunks, expected in listed:
        findings += _segment(connection, folder, state, (name, first, last, chunks, expected))
    return findings


def _structure(connection: apsw.Connection) -> Iterator[Finding]:
    for (message,) in connection.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield Finding(CATALOG_NAME, str(message), mendable=False)
    for table, row, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield Finding(CATALOG_NAME, f"row {row} of {table} belongs to nothing", mendable=False)


def _passages(connection: apsw.Connection) -> Iterator[Finding]:
    """Check that every passage is its document's text, with the hash and the key that are said of it."""
    for document, text in connection.execute("SELECT row, text FROM document ORDER BY row"):
        query = (
            f"SELECT {rows.CHUNK_COLUMNS}, text_hash, key FROM chunk"  # noqa: S608
            " JOIN document ON document.row = chunk.document WHERE chunk.document = ? ORDER BY edition, ordinal"
        )
        for *columns, text_hash, key in connection.execute(query, (document,)):
            chunk = rows.read_chunk(tuple(columns))
            if text[chunk.start : chunk.end] != chunk.text:
                yield Finding(chunk.id, "the passage is not what stands at its place in the document", mendable=False)
            if rows.text_hash(chunk.indexed_text) != text_hash or chunk.key != key:
                yield Finding(chunk.id, "the passage's hash or key is not its own", mendable=False)


def _totals(connection: apsw.Connection, state: State) -> Iterator[Finding]:
    counted = connection.execute(
        "SELECT count(*), ifnull(sum(words), 0) FROM chunk WHERE edition = ?", (state.edition,)
    ).fetchone()
    if counted != (state.chunks, state.words):
        yield Finding(CATALOG_NAME, f"counts {state.chunks} passages and holds {counted}", mendable=False)


def _segment(
    connection: apsw.Connection, folder: Path, state: State, row: tuple[str, int, int, int, bytes]
) -> Iterator[Finding]:
    name, first, last, chunks, expected = row
    where = f"{SEGMENT_FOLDER}/{name}"
    try:
        held = open_segment(folder / SEGMENT_FOLDER / name, expected)
    except CorruptError as error:
        yield Finding(where, error.message, mendable=True)
        return
    if len(held) != chunks:
        yield Finding(where, f"holds {len(held)} passages where the catalogue lists {chunks}", mendable=True)
    dead = {row for (row,) in connection.execute("SELECT row FROM tombstone WHERE row BETWEEN ? AND ?", (first, last))}
    live = np.array([int(row) not in dead for row in held.rows], dtype=np.uint8)
    made = build_segment(read_rows(connection, state.edition, (first - 1, last)), state.dimensions)
    kept = merge_segments([held], [live])
    for name in ARRAYS:
        if not np.array_equal(getattr(kept, name), getattr(made, name)):
            yield Finding(where, f"its {name} are not those of the catalogue", mendable=True)
