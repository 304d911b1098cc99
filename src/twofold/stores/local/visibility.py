"""A snapshot as one viewer may see it: what they may not read counts as dead, so every figure is of the rest.

Each segment keeps for each of its passages the number of its document's readers, until who may read documents changes
next; a viewer's bitmap is then one look-up per passage.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Viewer
from twofold.domain.errors import CorruptError
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.catalog import HINT, select
from twofold.stores.local.field_index import merge_columns, titles_and_fields
from twofold.stores.local.segment import Segment, merge_folded
from twofold.stores.local.serialization import read_readers
from twofold.stores.local.snapshot import OpenSegment, SegmentSnapshot
from twofold.text.postings import DROPPED
from twofold.text.vocabulary import PlainVocabulary, WordTable

MAX_VIEWERS = 64
DEFAULT = 0  # in place of the number of a set of readers, which begin at 1


def visible_snapshot(connection: CatalogConnection, snapshot: SegmentSnapshot, viewer: Viewer) -> SegmentSnapshot:
    """Return the snapshot without what a viewer may not read; itself where that is nothing.

    A snapshot remembers the last few viewers. Raises CorruptError where who may read a document cannot be said.
    """
    found = snapshot.seen.get(viewer.key)
    if found is None:
        found = _visible(connection, snapshot, viewer)
        for oldest in list(snapshot.seen)[: 1 - MAX_VIEWERS]:  # a copy: other threads ask as well
            snapshot.seen.pop(oldest, None)
        snapshot.seen[viewer.key] = found
    return found


def _visible(connection: CatalogConnection, snapshot: SegmentSnapshot, viewer: Viewer) -> SegmentSnapshot:
    restricted = connection.execute("SELECT 1 FROM document WHERE readers IS NOT NULL LIMIT 1").fetchone()
    if restricted is None and viewer.may_read(None):
        return snapshot
    allowed = np.array(readable(connection, viewer), dtype=np.int64)
    parts = tuple(_visible_part(connection, part, snapshot.state.access, allowed) for part in snapshot.parts)
    state = replace(
        snapshot.state,
        chunks=sum(part.chunks for part in parts),
        words=sum(part.words for part in parts),
        pending=sum(part.pending for part in parts),
    )
    return SegmentSnapshot(state, snapshot.fingerprint, parts)


def readable(connection: CatalogConnection, viewer: Viewer) -> list[int]:
    """Return the numbers of the sets of readers that a viewer is among."""
    kept = select(connection, "SELECT id, principals FROM readers ORDER BY id")
    numbers = [number for number, text in kept if viewer.may_read(read_readers(text))]
    return [DEFAULT, *numbers] if viewer.may_read(None) else numbers


def _visible_part(
    connection: CatalogConnection, part: OpenSegment, access: int, allowed: NDArray[np.int64]
) -> OpenSegment:
    readable = np.isin(_readers_of_slots(connection, part.segment, access), allowed).astype(np.uint8)
    live = readable if part.live is None else readable & part.live
    return part if part.live is None and live.all() else replace(part, live=live)


def _readers_of_slots(connection: CatalogConnection, segment: Segment, access: int) -> NDArray[np.int64]:
    """Return for each slot the number of its document's readers, (n,)."""
    known = segment.readers.get(access)
    if known is None:
        rows, numbers = _numbered(connection, segment.documents)
        known = np.full(len(segment), DEFAULT, dtype=np.int64)
        if len(rows):
            places = np.minimum(rows.searchsorted(segment.documents), len(rows) - 1)
            known = np.where(rows[places] == segment.documents, numbers[places], DEFAULT)
        segment.readers.clear()
        segment.readers[access] = known
    return known


def _numbered(
    connection: CatalogConnection, documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the documents in a segment's range that name readers, rising, and their readers' numbers."""
    if not len(documents):
        return documents, documents
    query = "SELECT row, readers FROM document WHERE readers IS NOT NULL AND row BETWEEN ? AND ? ORDER BY row"
    found: Sequence[tuple[int, int]] = list(select(connection, query, (int(documents.min()), int(documents.max()))))
    if any(number <= DEFAULT for _, number in found):
        raise CorruptError("The index is damaged: the readers of a document are unreadable.", HINT)
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def visible_words(snapshot: SegmentSnapshot) -> PlainVocabulary:
    """Return the words of the passages that are there for a viewer, and of no others: made when first asked.

    They are counted over all segments at once, since what a cut leaves of each would depend on what else is in it.
    """
    if not snapshot.words:
        kept = [
            np.arange(len(part.segment)) if part.live is None else np.flatnonzero(part.live) for part in snapshot.parts
        ]
        remaps, first = [], 0
        for part, slots in zip(snapshot.parts, kept, strict=True):
            remap = np.full(len(part.segment), DROPPED, dtype=np.int64)
            remap[slots] = np.arange(first, first + len(slots))
            remaps.append(remap)
            first += len(slots)
        segments = [part.segment for part in snapshot.parts]
        folded = merge_folded(segments, kept)
        columns = merge_columns([segment.columns for segment in segments], remaps)
        words = PlainVocabulary(partial(WordTable.of, folded.texts, folded.offsets), *titles_and_fields(columns))
        snapshot.words[:] = [words]
    return snapshot.words[0]


def count_visible_documents(connection: CatalogConnection, viewer: Viewer | None) -> int:
    """Count the documents that a viewer may read."""
    # With a condition, since SQLite counts a whole table without looking at the limit of steps.
    (whole,) = connection.execute("SELECT count(*) FROM document WHERE row > 0").fetchone() or (0,)
    if viewer is None:
        return int(whole)
    query = "SELECT readers, count(*) FROM document WHERE readers IS NOT NULL GROUP BY readers"
    counted = dict(select(connection, query))
    counted[DEFAULT] = whole - sum(counted.values())
    return sum(counted.get(number, 0) for number in readable(connection, viewer))
