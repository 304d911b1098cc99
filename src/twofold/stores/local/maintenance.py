"""How segments come and go: the tail is flushed to a file, small files are merged, damaged ones are made again.

All of it is derived data: whatever is interrupted here leaves the catalog and every answer as they were. The caller
holds the writer's lock.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from twofold.domain.dataclass import dataclass
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local import commit_marker
from twofold.stores.local.catalog import BUSY_MILLISECONDS, LocalConnection
from twofold.stores.local.durable import write_durably
from twofold.stores.local.place import CATALOG_NAME, SEGMENT_FOLDER, is_segment_file
from twofold.stores.local.segment import Segment, checksum, encode, merge_segments, open_segment
from twofold.stores.local.serialization import MALFORMED
from twofold.stores.local.snapshot import (
    Listed,
    OpenSegment,
    SegmentFiles,
    listed_segments,
    read_rows,
    read_state,
    segment_of,
)

TIER_FACTOR = 4
DEAD_SHARE_TO_REWRITE = 0.25

logger = logging.getLogger(__name__)


class FolderSegments:
    """Segments in the folder of a local index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / SEGMENT_FOLDER

    def holds(self, _connection: CatalogConnection, name: str) -> bool:
        """Return whether a segment's file is there."""
        return (self._folder / name).exists()

    def open(self, _connection: CatalogConnection, listed: Listed, dimensions: int) -> Segment:
        """Map a segment's file."""
        return open_segment(self._folder / listed.name, listed.checksum, (listed.first, listed.last), dimensions)

    def write(self, _connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Write a segment's file."""
        write_durably(self._folder / name, pieces)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove other segments' files; what is not named as segments are is not ours to remove."""
        for path in self._folder.iterdir():
            if path.name not in names and is_segment_file(path.name):
                with suppress(OSError):
                    path.unlink()


@dataclass(frozen=True, slots=True)
class Upkeep:
    """From how many passages the tail is flushed, and from how many bytes the log is checkpointed.

    `segment_chunks` is the most passages that are read at once to be flushed, `documents_at_once` how many documents
    are made again between two commits. A segment of `large_segment` passages is merged no more while an index is
    filled, and no merge makes one of more than twice as many: that bounds the memory of a merge. From `graph_from`
    vectors on a database that ranks searches them by a graph, which may miss some; fewer are all compared.
    """

    flush_from: int = 8_192
    flush_at_close_from: int = 256
    segment_chunks: int = 65_536
    log_bytes: int = 64 * 1024 * 1024
    documents_at_once: int = 32
    large_segment: int = 262_144
    graph_from: int = 50_000


@contextmanager
def transaction(connection: CatalogConnection) -> Iterator[None]:
    """Write all of it or none. Every transaction is counted, so that a lost one is missed."""
    if not connection.begin():
        yield
        return
    try:
        yield
        connection.execute("UPDATE state SET commits = commits + 1")
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def acknowledge(connection: LocalConnection, folder: Path) -> None:
    """Note how many transactions are durable."""
    commit_marker.note(folder, commits(connection))


def commits(connection: CatalogConnection) -> int:
    """Count the transactions there were."""
    (count,) = connection.execute("SELECT commits FROM state").fetchone() or (0,)
    return int(count)


def fold_long_log(connection: LocalConnection, folder: Path, longest: int) -> None:
    """Copy a log of more than `longest` bytes into the catalog, as far as readers let it be."""
    if (folder / f"{CATALOG_NAME}-wal").stat().st_size > longest:
        acknowledge(connection, folder)
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def empty_log(connection: LocalConnection, folder: Path) -> None:
    """Copy the log into the catalog and empty it, unless a reader stands in the way: that is no reason to wait."""
    acknowledge(connection, folder)
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
    commit_marker.forget(folder)


def tail_rows(connection: CatalogConnection) -> int:
    """Return how many rows were numbered since the last segment: at least as many as the tail has passages."""
    (newest,) = connection.execute("SELECT coalesce(max(row), 0) FROM chunk").fetchone() or (0,)
    return int(newest) - _covered(connection)


def _covered(connection: CatalogConnection) -> int:
    (last,) = connection.execute("SELECT coalesce(max(last), 0) FROM segment").fetchone() or (0,)
    return int(last)


def flush(connection: CatalogConnection, segments: SegmentFiles, most: int) -> None:
    """Write the tail to segments of at most `most` passages."""
    state = read_state(connection)
    while fresh := read_rows(connection, state.edition, (_covered(connection), None), most):
        segment = segment_of(connection, fresh, state.dimensions)
        _replace(connection, segments, (), segment, (_covered(connection) + 1, fresh.row[-1]))


def runs_to_merge(listed: Sequence[Listed], large: int) -> Sequence[Listed]:
    """Choose the newest run of neighbors to merge: four or more of like size, or nothing.

    Segments of `large` passages or more stay as they are until `compact`.
    """
    run: list[Listed] = []
    total = 0
    for segment in reversed(listed):
        total += segment.chunks
        unlike = bool(run) and segment.chunks > TIER_FACTOR * max(one.chunks for one in run)
        if unlike or segment.chunks >= large or total > 2 * large:
            break
        run.insert(0, segment)
    return run if len(run) >= TIER_FACTOR else ()


def worn(parts: Sequence[OpenSegment]) -> list[OpenSegment]:
    """Choose the segments to write again: damaged ones, and those of which a quarter is dead."""
    return [
        part
        for part in parts
        if part.name and (part.damaged or part.chunks < (1 - DEAD_SHARE_TO_REWRITE) * max(len(part.segment), 1))
    ]


def merge_listed(
    connection: CatalogConnection, segments: SegmentFiles, opened: Sequence[OpenSegment], run: Sequence[Listed]
) -> None:
    """Merge neighboring segments, which are among those opened, into one file, without their dead passages."""
    by_name = {part.name: part for part in opened}
    parts = [by_name[segment.name] for segment in run]
    covers = (run[0].first, run[-1].last)
    try:
        merged = merge_segments([part.segment for part in parts], [part.live for part in parts])
    except MALFORMED:
        logger.warning("A segment is malformed; it is made again from the catalog.")
        state = read_state(connection)
        rows = read_rows(connection, state.edition, (covers[0] - 1, covers[1]))
        merged = segment_of(connection, rows, state.dimensions)
    _replace(connection, segments, run, merged, covers)


def make_again(connection: CatalogConnection, segments: SegmentFiles, segment: Listed) -> None:
    """Write a segment again from the catalog's rows."""
    state = read_state(connection)
    rows = read_rows(connection, state.edition, (segment.first - 1, segment.last))
    made = segment_of(connection, rows, state.dimensions)
    _replace(connection, segments, [segment], made, (segment.first, segment.last))


def _replace(
    connection: CatalogConnection, segments: SegmentFiles, old: Sequence[Listed], new: Segment, covers: tuple[int, int]
) -> None:
    """Write a new segment, list it in place of the old ones in one transaction, then remove what is not listed."""
    generation = read_state(connection).generation + 1
    name = f"{covers[0]:012d}-{generation:012d}.segment"
    pieces = list(encode(new)) if len(new) else []
    if pieces:
        segments.write(connection, name, pieces)
    with transaction(connection):
        connection.executemany("DELETE FROM segment WHERE name = ?", [(segment.name,) for segment in old])
        if pieces:
            row = (name, *covers, len(new), checksum(pieces))
            connection.execute("INSERT INTO segment VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("DELETE FROM tombstone WHERE row BETWEEN ? AND ?", covers)
        connection.execute("UPDATE state SET generation = generation + 1, layout = layout + 1")
    remove_unlisted(connection, segments)


def remove_unlisted(connection: CatalogConnection, segments: SegmentFiles) -> None:
    """Remove segments that the catalog does not list. A reader that still maps one keeps what it maps."""
    segments.keep_only({segment.name for segment in listed_segments(connection)})


def bytes_on_disk(folder: Path) -> int:
    """Add up the sizes of an index's files; one that is replaced meanwhile counts or does not."""
    total = 0
    for path in (*folder.glob("catalog.*"), *(folder / SEGMENT_FOLDER).iterdir()):
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total
