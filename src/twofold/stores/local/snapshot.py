"""A snapshot: the segments that make up one state of a collection, and how the next one follows from it.

Segments on disk cover old rows; newer rows (the tail) are held in small segments in memory, merged by size as they
grow, so a snapshot follows a change at a cost of the change's own size.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, MismatchError, NotFoundError
from twofold.domain.ports import IndexFingerprint
from twofold.domain.types import Vector
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.catalog import HINT, select
from twofold.stores.local.place import SEGMENT_NAME
from twofold.stores.local.received import MAX_NUMBER
from twofold.stores.local.segment import Segment, SegmentRows, build_segment, merge_segments
from twofold.stores.local.serialization import FIELD_COLUMNS, MAX_DIMENSIONS, read_fingerprint
from twofold.text.vocabulary import PlainVocabulary

MAX_ROW = 2**63 - 1
DENSE = 4  # where a segment holds one of four numbers in a row, all are read: none is then looked up by itself
ROW_COLUMNS = f"chunk.row, key, words, terms, vector, header, chunk.text, {FIELD_COLUMNS}"

logger = logging.getLogger(__name__)


class Listed(NamedTuple):
    """A segment as the catalog lists it: the rows `first` to `last`, both included."""

    name: str
    first: int
    last: int
    chunks: int
    checksum: bytes


class SegmentFiles(Protocol):
    """Keeps the bytes of segments, which are immutable, by their names. The catalog says which there are."""

    def holds(self, connection: CatalogConnection, name: str) -> bool:
        """Return whether a segment is there."""

    def open(self, connection: CatalogConnection, listed: Listed, dimensions: int) -> Segment:
        """Open a segment. Raises CorruptError when it is missing or is not what was written."""

    def write(self, connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Keep a new segment, durable when the transaction that the connection stands in is."""

    def keep_only(self, names: Collection[str]) -> None:
        """Remove the segments that are not among these. A reader that still has one open keeps it."""


@dataclass(frozen=True, slots=True)
class State:
    """The catalog's one row of state, and its current edition."""

    generation: int
    layout: int
    edition: int
    dimensions: int
    chunks: int
    words: int
    pending: int
    access: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class OpenSegment:
    """A segment and which of its passages still live: `live` is uint8 (n,), or None when all do."""

    segment: Segment
    name: str = ""  # empty for a segment in memory
    damaged: bool = False
    live: NDArray[np.uint8] | None = None

    @property
    def chunks(self) -> int:
        """Count the living."""
        return len(self.segment) if self.live is None else int(np.count_nonzero(self.live))

    @property
    def words(self) -> int:
        """Add up the lengths of the living."""
        lengths = self.segment.lengths if self.live is None else self.segment.lengths[self.live != 0]
        return int(lengths.sum(dtype=np.int64))

    @property
    def pending(self) -> int:
        """Count the living that have no vector yet."""
        waiting = ~self.segment.embedded
        return int(np.count_nonzero(waiting if self.live is None else waiting & (self.live != 0)))


@dataclass(frozen=True, slots=True, eq=False)
class SegmentSnapshot:
    """One state of the collection. What stands after `parts` is filled by questions and dies with it.

    `seen` holds for the last few viewers the snapshot without what they may not read.
    """

    state: State
    fingerprint: IndexFingerprint | None
    parts: tuple[OpenSegment, ...]
    norms: dict[tuple[float, float, float], tuple[NDArray[np.float64], ...]] = field(default_factory=dict)
    masks: dict[str, tuple[NDArray[np.uint8] | None, ...]] = field(default_factory=dict)
    tfidf_norms: list[tuple[NDArray[np.float64], ...]] = field(default_factory=list)  # at most one
    synonyms: list[str] = field(default_factory=list)  # at most one, read when a question first asks
    seen: "dict[str, SegmentSnapshot]" = field(default_factory=dict)
    words: list[PlainVocabulary] = field(default_factory=list)  # at most one, of what lives, for viewers
    fetched: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # by row, what was read of passages shown lately
    views: list[None] = field(default_factory=list)  # one for each view that is open: one alone may use two processors

    @contextmanager
    def viewed(self) -> Iterator[None]:
        """Count a view while it is open."""
        self.views.append(None)
        try:
            yield
        finally:
            self.views.pop()

    def is_of(self, state: State) -> bool:
        """Return whether this is the snapshot of a state; a share of one counts its own passages alone."""
        mine = self.state
        return (mine.generation, mine.layout, mine.edition, mine.access) == (
            state.generation,
            state.layout,
            state.edition,
            state.access,
        )


Opened = tuple[State, Callable[[], SegmentSnapshot]]
"""The state of a transaction, and what gives its segments when they are asked for."""


def read_state(connection: CatalogConnection) -> State:
    """Read the state; an empty collection has edition 0."""
    row = connection.state_row()
    if row is None:
        raise CorruptError("The index has lost its state.", "Restore a copy, or sync into a new index.")
    return checked_state(State(*row))


def checked_state(state: State) -> State:
    """Return a state. Raises CorruptError for counts that none has."""
    if state.edition and not (
        0 < state.dimensions <= MAX_DIMENSIONS and 0 <= state.pending <= state.chunks and state.words >= 0
    ):
        raise CorruptError("The index is damaged: its counts are out of range.", HINT)
    return state


def synonyms_of(connection: CatalogConnection, snapshot: SegmentSnapshot) -> str:
    """Return the rules of the collection's synonyms, which a snapshot remembers."""
    if not snapshot.synonyms:
        row = connection.execute("SELECT rules FROM synonyms").fetchone()
        snapshot.synonyms.append("" if row is None else str(row[0]))
    return snapshot.synonyms[0]


def current_fingerprint(connection: CatalogConnection) -> IndexFingerprint | None:
    """Return the recipe of the edition that is searched."""
    query = "SELECT recipe, dimensions FROM state JOIN edition ON edition.id = state.edition"
    row = connection.execute(query).fetchone()
    if row is None:
        return None
    fingerprint = read_fingerprint(row[0])
    if fingerprint.embedder.dimensions != row[1]:
        raise CorruptError("The index is damaged: its recipe has another width than its vectors.", HINT)
    return fingerprint


def listed_segments(connection: CatalogConnection) -> list[Listed]:
    """List the segments by rising rows. Raises CorruptError for names and ranges that no segment has."""
    before = 0
    found = []
    for row in connection.execute("SELECT name, first, last, chunks, checksum FROM segment ORDER BY first"):
        one = Listed(*row)
        if not (SEGMENT_NAME.fullmatch(one.name) and before < one.first <= one.last < MAX_NUMBER):
            raise CorruptError(f"The index is damaged: it lists a segment {one.name[:80]!r}.", HINT)
        before = one.last
        found.append(one)
    return found


class SegmentMissingError(Exception):
    """A listed segment's file is gone: merged away since the list was read, or lost."""


@dataclass(frozen=True, slots=True)
class Share:
    """Which segments are held, of `searchers` that hold all of them together: those of the one with this number.

    Each segment, in the order of writing, is held by the one that holds the fewest passages until then; the rows that
    are in no segment yet, by the one that holds the fewest of all.
    """

    number: int = 0
    searchers: int = 1

    def of(self, listed: Sequence[Listed]) -> tuple[list[Listed], bool]:
        """Return the segments that are held, and whether the newest rows are."""
        loads, mine = [0] * self.searchers, []
        for one in listed:
            least = loads.index(min(loads))
            loads[least] += one.chunks
            if least == self.number:
                mine.append(one)
        return mine, loads.index(min(loads)) == self.number


ALL_SEGMENTS = Share()


def follow(
    connection: CatalogConnection,
    segments: SegmentFiles,
    previous: SegmentSnapshot | None,
    state: State,
    *,
    rebuild: bool,
    share: Share = ALL_SEGMENTS,
) -> SegmentSnapshot:
    """Make the snapshot of `state`, reusing what `previous` holds. The connection stands in a transaction.

    A missing file raises SegmentMissingError, or with `rebuild` is made again in memory; a damaged one always is.
    Raises CorruptError when what was loaded does not add up to the catalog's own totals. With a share the snapshot
    counts its own passages, and what puts shares together holds their sum against the totals.
    """
    same_layout = (
        previous is not None and previous.state.layout == state.layout and previous.state.edition == state.edition
    )
    listed = [] if same_layout and share == ALL_SEGMENTS else listed_segments(connection)
    held, holds_newest = share.of(listed)
    if previous is not None and same_layout:
        parts = _mark_dead(connection, previous.parts, previous.state.generation)
    else:
        opened = {part.name: part for part in previous.parts if part.name} if previous else {}
        parts = _mark_dead(connection, _open_all(connection, segments, state, opened, held, rebuild=rebuild), -1)
    last_row = max((one.last for one in listed), default=0)
    last_row = max((last_row, *(int(part.segment.rows[-1]) for part in parts if len(part.segment))))
    if holds_newest and (fresh := read_rows(connection, state.edition, (last_row, None))):
        parts = _merge_tail((*parts, OpenSegment(segment_of(connection, fresh, state.dimensions))))
    known = previous is not None and previous.state.edition == state.edition  # an edition keeps its recipe
    snapshot = SegmentSnapshot(
        state, previous.fingerprint if previous and known else current_fingerprint(connection), parts
    )
    if share != ALL_SEGMENTS:
        return replace(snapshot, state=_counted(state, parts))
    cross_check(snapshot)
    return snapshot


def _counted(state: State, parts: Sequence[OpenSegment]) -> State:
    """Return a state with the counts of some segments."""
    chunks, words = sum(part.chunks for part in parts), sum(part.words for part in parts)
    return replace(state, chunks=chunks, words=words, pending=sum(part.pending for part in parts))


def read_rows(
    connection: CatalogConnection, edition: int, covers: tuple[int, int | None], most: int = MAX_ROW
) -> SegmentRows:
    """Read what segments need of the rows after the first number, up to and including the second, at most `most`."""
    query = (
        f"SELECT {ROW_COLUMNS}"  # noqa: S608
        " FROM chunk NOT INDEXED CROSS JOIN document ON document.row = chunk.document"  # by row, not all of the edition
        " WHERE chunk.row > ? AND chunk.row <= ? AND edition = ? ORDER BY chunk.row LIMIT ?"
    )
    after, until = covers
    bound = MAX_ROW if until is None else until
    return SegmentRows.of(select(connection, query, (after, bound, edition, most)))


def segment_of(connection: CatalogConnection, rows: SegmentRows, dimensions: int) -> Segment:
    """Make a segment of rows that were read from the catalog."""
    return build_segment(rows, dimensions, partial(_term_texts, connection))


def _term_texts(connection: CatalogConnection, ids: NDArray[np.uint32]) -> Sequence[str]:
    """Return the terms of some numbers. Raises CorruptError for a number that was never given."""
    if len(ids) and int(ids[-1]) - int(ids[0]) < DENSE * len(ids):
        first, last = int(ids[0]), int(ids[-1])
        texts = connection.terms_between(first, last)
        if len(texts) == last - first + 1:  # as always: a number has no gap before it
            return texts if len(ids) == len(texts) else [texts[one - first] for one in ids.tolist()]
        found = {}
    else:
        listed, bound = connection.among(ids.tolist())
        found = dict(connection.execute(f"SELECT id, text FROM term WHERE id IN {listed}", (bound,)))  # noqa: S608
    try:
        return [found[one] for one in ids.tolist()]
    except KeyError as error:
        raise CorruptError(
            "The index has lost some of its terms.", "Restore a copy, or sync into a new index."
        ) from error


def _open_all(
    connection: CatalogConnection,
    segments: SegmentFiles,
    state: State,
    opened: dict[str, OpenSegment],
    wanted: Sequence[Listed],
    *,
    rebuild: bool,
) -> tuple[OpenSegment, ...]:
    parts = []
    for listed in wanted:
        known = opened.get(listed.name)
        if known is not None:
            parts.append(OpenSegment(known.segment, listed.name, known.damaged))
        elif not rebuild and not segments.holds(connection, listed.name):
            raise SegmentMissingError(listed.name)
        else:
            parts.append(_open_or_build(connection, segments, state, listed))
    return tuple(parts)


def open_parts(
    connection: CatalogConnection, segments: SegmentFiles, held: SegmentSnapshot | None, wanted: Sequence[Listed]
) -> tuple[OpenSegment, ...]:
    """Return some segments and what lives in them, for a writer: others stay closed, and take no memory.

    Those that an earlier snapshot holds are not opened again.
    """
    state = read_state(connection)
    known = held.parts if held is not None and held.state.generation <= state.generation else ()
    opened = {part.name: part for part in known if part.name}
    return _mark_dead(connection, _open_all(connection, segments, state, opened, wanted, rebuild=True), -1)


def _open_or_build(connection: CatalogConnection, segments: SegmentFiles, state: State, listed: Listed) -> OpenSegment:
    try:
        return OpenSegment(segments.open(connection, listed, state.dimensions), listed.name)
    except CorruptError as error:
        logger.warning("%s", error)
        rows = read_rows(connection, state.edition, (listed.first - 1, listed.last))
        return OpenSegment(segment_of(connection, rows, state.dimensions), listed.name, damaged=True)


def _mark_dead(connection: CatalogConnection, parts: Sequence[OpenSegment], since: int) -> tuple[OpenSegment, ...]:
    query = "SELECT row FROM tombstone WHERE generation > ? ORDER BY row"
    dead = np.array([row for (row,) in connection.execute(query, (since,))], dtype=np.int64)
    return tuple(_without(part, dead) for part in parts) if len(dead) else tuple(parts)


def _without(part: OpenSegment, dead: NDArray[np.int64]) -> OpenSegment:
    slots = part.segment.slots_of_rows(dead)
    if not len(slots):
        return part
    live = np.ones(len(part.segment), dtype=np.uint8) if part.live is None else part.live.copy()
    live[slots] = 0
    return OpenSegment(part.segment, part.name, part.damaged, live)


def _merge_tail(parts: tuple[OpenSegment, ...]) -> tuple[OpenSegment, ...]:
    """Merge the newest segments in memory while the older one is not much larger, as in a log-structured tree."""
    while len(parts) > 1 and not parts[-2].name and len(parts[-2].segment) <= 2 * len(parts[-1].segment):
        newest = parts[-2:]
        merged = merge_segments([part.segment for part in newest], [part.live for part in newest])
        parts = (*parts[:-2], OpenSegment(merged))
    return parts


def cross_check(snapshot: SegmentSnapshot) -> None:
    """Hold what was loaded against the catalog's own totals. Raises CorruptError."""
    chunks = sum(part.chunks for part in snapshot.parts)
    words = sum(part.words for part in snapshot.parts)
    if (chunks, words) != (snapshot.state.chunks, snapshot.state.words):
        raise CorruptError(
            f"The index holds {chunks} passages of {words} words where its catalog counts"
            f" {snapshot.state.chunks} of {snapshot.state.words}.",
            HINT,
        )
    pending = sum(part.pending for part in snapshot.parts)
    if pending != snapshot.state.pending:
        raise CorruptError(
            f"The index holds {pending} passages without a vector where its catalog counts {snapshot.state.pending}.",
            HINT,
        )


def row_of(snapshot: SegmentSnapshot, key: int, place: tuple[int, int] | None) -> int:
    """Return the catalog's row of a passage. Raises NotFoundError where it has no place in the snapshot."""
    if place is None:
        raise absent(key)
    return int(snapshot.parts[place[0]].segment.rows[place[1]])


def vector_of(snapshot: SegmentSnapshot, key: int, place: tuple[int, int] | None) -> Vector | None:
    """Return a passage's stored vector, None while it waits for one. Raises NotFoundError without a place."""
    if place is None:
        raise absent(key)
    held, slot = snapshot.parts[place[0]].segment, place[1]
    return held.vectors[slot].astype(np.float32) if held.embedded[slot] else None


def check_width(state: State, vector: Vector) -> None:
    """Raise MismatchError for a question's vector of another width than the index has."""
    if vector.shape != (state.dimensions,):
        raise MismatchError(
            f"The question's vector has {vector.shape[0]} dimensions; the index has {state.dimensions}.",
            "Search with the model that made the index, or run `twofold index reindex`.",
        )


def absent(key: int) -> NotFoundError:
    """Return the error for a passage that is not there."""
    return NotFoundError(f"There is no passage with the key {key}.", "Search again: it was deleted.")
