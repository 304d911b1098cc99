"""What the memory store holds, and what it says of documents and passages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Readers, Viewer, readers_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.ports import IndexFingerprint, Snapshot, StoreInfo
from twofold.domain.snapshots import SnapshotInfo
from twofold.domain.types import Chunk, Clause, DocumentInfo, Entry, IndexedChunk, Metadata, Vector
from twofold.stores.checks import check_new_metadata
from twofold.stores.past import PastStore, name_taken, unknown, utc
from twofold.text.phrases import holds


@dataclass(frozen=True, slots=True)
class State:
    """One state of the collection; a change makes the next one."""

    fingerprint: IndexFingerprint | None = None
    generation: int = 0
    entries: Mapping[str, Entry] = field(default_factory=dict)
    preferences: Mapping[str, str] = field(default_factory=dict)
    roots: Mapping[str, int] = field(default_factory=dict)
    synonyms: str = ""


@dataclass(frozen=True, slots=True)
class MemoryPassage:
    """A passage and the document that it is of; see `FetchedPassage`."""

    chunk: Chunk
    source: str
    title: str
    metadata: Metadata


def pending_in(entry: Entry) -> int:
    """Count the passages of a document that have no vector yet."""
    return sum(indexed.vector is None for indexed in entry.chunks)


def with_vectors(entry: Entry, vectors: Mapping[str, Vector]) -> Entry:
    """Return a document whose passages without a vector have that of their indexed text, where there is one."""
    if not pending_in(entry):
        return entry
    chunks = (
        one if one.vector is not None else replace(one, vector=vectors.get(one.chunk.indexed_text))
        for one in entry.chunks
    )
    return replace(entry, chunks=tuple(chunks))


def info_of(entry: Entry) -> DocumentInfo:
    """Return what a listing shows of a document."""
    document = entry.document
    return DocumentInfo(
        document.id,
        document.source,
        document.title,
        document.media_type,
        document.metadata,
        document.content_hash,
        len(entry.chunks),
        len(document.text),
        document.readers,
    )


def described(state: State) -> StoreInfo:
    """Describe a collection."""
    chunks = sum(len(entry.chunks) for entry in state.entries.values())
    pending = sum(map(pending_in, state.entries.values()))
    return StoreInfo(state.fingerprint, len(state.entries), chunks, state.generation, 0, 0, state.roots, pending)


class NamedStates:
    """The states of a collection that were given a name."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, State]] = {}

    def add(self, name: str, created: int, state: State) -> None:
        """Keep a state. Raises InvalidInputError for a name that is taken."""
        kept = created, state
        if self._held.setdefault(name, kept) is not kept:
            raise name_taken(name)

    def infos(self) -> Sequence[SnapshotInfo]:
        """Describe them, oldest first."""
        infos = ((name, created, described(state)) for name, (created, state) in list(self._held.items()))
        return [SnapshotInfo(name, utc(at), one.documents, one.chunks, one.generation) for name, at, one in infos]

    def get(self, name: str) -> State:
        """Return a state. Raises NotFoundError."""
        if name not in self._held:
            raise unknown(name)
        return self._held[name][1]

    def at(self, name: str, seen: Callable[[State, Viewer | None], Snapshot]) -> PastStore:
        """Return a state as a store; `seen` makes the view of a state for a viewer. Raises NotFoundError."""
        held = self.get(name)

        @contextmanager
        def view(viewer: Viewer | None) -> Iterator[Snapshot]:
            yield seen(self.get(name), viewer)

        return PastStore(name, view, lambda: replace(described(held), roots={}), held.preferences)

    def remove(self, name: str) -> None:
        """Forget a state. Raises NotFoundError."""
        if self._held.pop(name, None) is None:
            raise unknown(name)


def readable(entries: Mapping[str, Entry], viewer: Viewer) -> Mapping[str, Entry]:
    """Return the documents that a viewer may read."""
    return {name: entry for name, entry in entries.items() if viewer.may_read(entry.document.readers)}


def keeping_readers(held: Entry | None, entry: Entry) -> Entry:
    """Return what is put; a document that names no readers keeps those it had."""
    readers = readers_of(entry.document.readers)
    if readers is None and held is not None:
        readers = held.document.readers
    return replace(entry, document=replace(entry.document, readers=readers))


def with_metadata(entries: Mapping[str, Entry], changes: Mapping[str, Metadata]) -> Mapping[str, Entry]:
    """Return documents with the metadata that `changes` says of each. Raises InvalidInputError for what none keeps."""
    changed = {}
    for name, entry in entries.items():
        check_new_metadata(name, changes[name])
        changed[name] = replace(entry, document=replace(entry.document, metadata=changes[name]))
    return changed


def stored(vector: Vector) -> NDArray[np.float16]:
    """Return a vector as every store keeps it."""
    return np.asarray(vector, dtype=np.float16)


def check_vectors(vectors: Sequence[Vector], width: int) -> None:
    """Raise MismatchError for a vector of another width, InvalidInputError for one that is no direction."""
    if any(vector.shape != (width,) for vector in vectors):
        raise MismatchError(f"A vector does not have the index's {width} dimensions.", "Use its embedder.")
    if not all(np.isfinite(vector).all() and stored(vector).any() for vector in vectors):
        raise InvalidInputError("A vector is all zeros, or holds what is no finite number.", "Check the embedder.")


def read_as_today(then: State, now: State, last: Mapping[str, Readers | None]) -> State:
    """Return a state of then; its documents have the readers that they have now, or had `last`, when deleted."""

    def today(entry: Entry) -> Entry:
        held = now.entries.get(entry.document.id)
        readers = last.get(entry.document.id, entry.document.readers) if held is None else held.document.readers
        return replace(entry, document=replace(entry.document, readers=readers))

    return replace(then, entries={name: today(entry) for name, entry in then.entries.items()})


def holds_clause(clause: Clause, indexed: IndexedChunk) -> bool:
    """Return whether a passage holds a clause."""
    return holds(clause, indexed.terms.counts, indexed.chunk.indexed_text)
