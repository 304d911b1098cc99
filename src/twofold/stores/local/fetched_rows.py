"""The rows of passages that are shown: read by one statement, and remembered while their snapshot is the newest.

SQLite takes a page of 8 KiB for each, through a layer in Python that checks it: some 20 µs, and each time the
interpreter's lock changes hands. A snapshot is of one generation, so what it remembers cannot have changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.serialization import FETCHED_COLUMNS
from twofold.stores.local.snapshot import SegmentSnapshot

MAX_FETCHED = 4_096  # passages that a snapshot remembers, 6 MB of them as a rule
MAX_TEXT = 2_000  # characters of one that is remembered
TEXT = 3  # its column


def fetched_rows(
    connection: CatalogConnection, snapshot: SegmentSnapshot, rows: Sequence[int]
) -> Mapping[int, tuple[Any, ...]]:
    """Return rows of `FETCHED_COLUMNS` after their number, by it; those that are not there are left out."""
    held = snapshot.fetched
    found = {row: read for row in rows if (read := held.get(row)) is not None}
    missing = [row for row in rows if row not in found]
    if not missing:
        return found
    query = (
        f"SELECT chunk.row, {FETCHED_COLUMNS} FROM chunk CROSS JOIN document ON document.row = chunk.document"  # noqa: S608
        f" WHERE chunk.row IN ({','.join('?' * len(missing))})"
    )
    fresh = {row[0]: row for row in connection.execute(query, missing)}
    if len(held) + len(fresh) > MAX_FETCHED:
        held.clear()
    held.update((row, read) for row, read in fresh.items() if len(read[TEXT]) <= MAX_TEXT)
    return {**found, **fresh}
