"""How segments come and go: the tail is flushed to a file, small files are merged, damaged ones are made again.

All of it is derived data: whatever is interrupted here leaves the catalogue and every answer as they were. The caller
holds the writer's lock.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from twofold.stores.local.durable import write_durably
from twofold.stores.local.segment import Segment, build_segment, checksum, encode, merge_segments
from twofold.stores.local.snapshot import SEGMENT_FOLDER, Part, Snapshot, read_rows, read_state

FLUSH_FROM_CHUNKS = 8_192
FLUSH_AT_CLOSE_FROM_CHUNKS = 256
TIER_FACTOR = 4
DEAD_SHARE_TO_REWRITE = 0.25


class Listed(NamedTuple):
    """A segment as the catalogue lists it."""

    name: str
    first: int
    last: int
    chunks: int


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Write all of it or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def listed(connection: apsw.Connection) -> list[Listed]:
    """List the segments by rising rows."""
    return [Listed(*row) for row in connection.execute("SELECT name, first, last, chunks FROM segment ORDER BY first")]


def tail_chunks(connection: apsw.Connection) -> int:
    """Estimate how many passages no segment covers yet."""
    covered = sum(segment.chunks for segment in listed(connection))
    return read_state(connection).chunks - covered


def flush(connection: apsw.Connection, folder: Path) -> None:
    """Write the tail to a segment of its own."""
    state = read_state(connection)
    covered = max((segment.last for segment in listed(connection)), default=0)
    fresh = read_rows(connection, state.edition, covered, None)
    if fresh:
        segment = build_segment(fresh, state.dimensions)
        _replace(connection, folder, (), segment, (covered + 1, fresh[-1].row))


def runs_to_merge(segments: Sequence[Listed]) -> Sequence[Listed]:
    """Choose the newest run of neighbours to merge: four or more of like size, or nothing."""
    run: list[Listed] = []
    for segment in reversed(segments):
        if run and segment.chunks > TIER_FACTOR * max(one.chunks for one in run):
            break
        run.insert(0, segment)
    return run if len(run) >= TIER_FACTOR else ()


def worn(snapshot: Snapshot) -> list[Part]:
    """Choose the segments to write again: damaged ones, and those of which a quarter is dead."""
    return [
        part
        for part in snapshot.parts
        if part.name and (part.damaged or part.chunks < (1 - DEAD_SHARE_TO_REWRITE) * max(len(part.segment), 1))
    ]


def merge_listed(connection: apsw.Connection, folder: Path, snapshot: Snapshot, run: Sequence[Listed]) -> None:
    """Merge neighbouring segments into one file, without their dead passages."""
    by_name = {part.name: part for part in snapshot.parts}
    parts = [by_name[segment.name] for segment in run]
    merged = merge_segments([part.segment for part in parts], [part.live for part in parts])
    _replace(connection, folder, run, merged, (run[0].first, run[-1].last))


def _replace(
    connection: apsw.Connection, folder: Path, old: Sequence[Listed], new: Segment, covers: tuple[int, int]
) -> None:
    """Write a new segment, list it in place of the old ones in one transaction, then remove what is not listed."""
    generation = read_state(connection).generation + 1
    name = f"{covers[0]:012d}-{generation:012d}.segment"
    pieces = list(encode(new)) if len(new) else []
    if pieces:
        write_durably(folder / SEGMENT_FOLDER / name, pieces)
    with transaction(connection):
        connection.executemany("DELETE FROM segment WHERE name = ?", [(segment.name,) for segment in old])
        if pieces:
            row = (name, *covers, len(new), checksum(pieces))
            connection.execute("INSERT INTO segment VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("DELETE FROM tombstone WHERE row BETWEEN ? AND ?", covers)
        connection.execute("UPDATE state SET generation = generation + 1, layout = layout + 1")
    remove_unlisted(connection, folder)


def remove_unlisted(connection: apsw.Connection, folder: Path) -> None:
    """Remove segment files that the catalogue does not list. A reader that still maps one keeps what it maps."""
    names = {segment.name for segment in listed(connection)}
    for path in (folder / SEGMENT_FOLDER).iterdir():
        if path.name not in names:
            with suppress(OSError):
                path.unlink()
