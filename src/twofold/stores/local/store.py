"""The local store: one folder that keeps a collection, one writer at a time, any number of readers.

The catalog (SQLite) is the only truth; segments are made from it. See `docs/storage.md`.
"""

import logging
import threading
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Generic

from twofold.domain.access import Readers, Viewer
from twofold.domain.errors import (
    CorruptError,
    InvalidInputError,
    NotFoundError,
    StorageFullError,
    StoreError,
    WriterBusyError,
)
from twofold.domain.ports import EmbedderIdentity, Finding, IndexFingerprint, Remake, StoreInfo
from twofold.domain.snapshots import SnapshotInfo
from twofold.domain.types import Entry, Metadata, Vector
from twofold.stores.checks import checked_settings
from twofold.stores.local import commit_marker, maintenance, retained, writing
from twofold.stores.local.catalog import LocalConnection, create_catalog, failures, is_catalog, select
from twofold.stores.local.connections import Connections
from twofold.stores.local.durable import make_folder
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.lock import WriterLock
from twofold.stores.local.past import Catalog, CatalogConnections, ClosableConnections, Pasts, drop_unheld, see_then
from twofold.stores.local.place import (
    LOCK_NAME,
    NOTE_NAME,
    SEGMENT_FOLDER,
    check_links,
    check_not_lost,
    real_folder,
)
from twofold.stores.local.reindex import rebuild
from twofold.stores.local.retained import NamedState
from twofold.stores.local.scoping import storable
from twofold.stores.local.snapshot import (
    ALL_SEGMENTS,
    SegmentFiles,
    SegmentMissingError,
    SegmentSnapshot,
    Share,
    State,
    current_fingerprint,
    follow,
    listed_segments,
    open_parts,
    read_state,
)
from twofold.stores.local.verify import logged_pages, segment_findings, verify
from twofold.stores.local.view import LocalSnapshot
from twofold.stores.local.vocabulary import Vocabulary
from twofold.stores.past import PastStore

OPENING_ATTEMPTS = 10

logger = logging.getLogger(__name__)


class SegmentedStore(Generic[Catalog]):
    """A collection kept as the rows of a catalog, and segments made of them, whichever database keeps both.

    A kind of store says how connections are lent, how a change is made alone among writers, and what ends one.
    """

    def __init__(
        self, connections: CatalogConnections[Catalog], segments: SegmentFiles, upkeep: maintenance.Upkeep
    ) -> None:
        self._connections = connections
        self._segments = segments
        self._upkeep = upkeep
        self._following = threading.Lock()
        self._snapshot: SegmentSnapshot | None = None
        self._vocabulary = Vocabulary()
        self._known = KnownTerms()
        self._share, self._kind = ALL_SEGMENTS, LocalSnapshot

    def hold(self, share: Share, kind: type[LocalSnapshot]) -> None:
        """Hold a share of the segments from now on: views, of this kind, answer for it; nothing is to be written."""
        self._share, self._kind, self._snapshot = share, kind, None

    def catch_up(self) -> None:
        """See in the next view all that other processes have written."""

    @contextmanager
    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> Iterator[LocalSnapshot]:
        """Open one consistent state, as one viewer may see it; close it soon.

        With `rows_only` the segments are opened when something asks for them all the same.
        """
        with self._connections.reading() as connection:
            if rows_only:
                state = read_state(connection)
                yield LocalSnapshot(connection, self._known, (state, partial(self._stand, connection, state)), viewer)
            else:
                found = self._follow(connection)
                with found.viewed():
                    yield self._kind(connection, self._known, (found.state, lambda: found), viewer)

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Record the recipe of the passages."""
        with self._connections.reading() as connection:
            if current_fingerprint(connection) == fingerprint:
                return
        with self._changing() as connection, maintenance.transaction(connection):
            writing.ensure_fingerprint(connection, fingerprint)

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Add or replace documents whole, all of the entries or none, durable when it returns."""
        names = {entry.document.id for entry in entries}
        if len(names) != len(entries):
            raise InvalidInputError("The same document is put twice at once.", "Put each document once.")
        with self._changing() as connection:
            with maintenance.transaction(connection):
                state = writing.state_for_writing(connection)
                writing.put_entries(connection, self._vocabulary, state, entries)
                writing.advance(connection)
            self._tidy(connection)

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Store for each passage without a vector the one of its indexed text; count those that got one."""
        if not vectors:
            return 0
        with self._changing() as connection:
            with maintenance.transaction(connection):
                given = writing.update_vectors(connection, embedder, vectors)
                if given:
                    writing.advance(connection)
            self._tidy(connection)
        return given

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents by id, all or none; give how many there were."""
        if not documents:
            return 0
        with self._changing() as connection:
            with maintenance.transaction(connection):
                generation = read_state(connection).generation + 1
                gone = sum(writing.delete_document(connection, document, generation) for document in documents)
                if gone:
                    writing.advance(connection)
            self._tidy(connection)
        return gone

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Make all passages again by another recipe, next to the old ones, and switch over when all are there."""
        with self._changing_in_steps() as connection:
            rebuild(
                connection, self._vocabulary, fingerprint, remake, self._upkeep, lambda: self._after_step(connection)
            )
        with self._changing() as connection:
            maintenance.flush(connection, self._segments, self._upkeep.segment_chunks)
            self._merge(connection)
            maintenance.remove_unlisted(connection, self._segments)

    def info(self) -> StoreInfo:
        """Describe the collection."""
        with self._connections.reading() as connection:
            state = read_state(connection)
            # With a condition, since SQLite counts a whole table without looking at the limit of steps.
            (documents,) = connection.execute("SELECT count(*) FROM document WHERE row > 0").fetchone() or (0,)
            return StoreInfo(
                fingerprint=current_fingerprint(connection),
                documents=documents,
                chunks=state.chunks,
                generation=state.generation,
                segments=len(listed_segments(connection)),
                bytes_on_disk=self._bytes(connection),
                roots=dict(select(connection, "SELECT path, synced FROM root ORDER BY path")),
                pending=state.pending,
            )

    def fingerprint(self) -> IndexFingerprint | None:
        """Return how the collection was made, without a look at the documents: they may be damaged."""
        with self._connections.reading() as connection:
            return current_fingerprint(connection)

    def get_settings(self) -> Mapping[str, str]:
        """Return the collection's own settings by their dotted names."""
        with self._connections.reading() as connection:
            return dict(select(connection, "SELECT name, value FROM preference ORDER BY name"))

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Replace the collection's own settings, all of them or none, durable when it returns."""
        kept = checked_settings(values)
        with self._changing() as connection, maintenance.transaction(connection):
            writing.set_settings(connection, kept)

    def set_synonyms(self, rules: str) -> None:
        """Replace the collection's synonyms, durable when it returns."""
        if not storable(rules):
            raise InvalidInputError("The synonyms are not Unicode.", "Clean them first.")
        with self._changing() as connection, maintenance.transaction(connection):
            writing.set_synonyms(connection, rules)
            writing.advance(connection)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Replace the metadata of documents, all of them or none, durable when it returns."""
        with self._changing() as connection:
            with maintenance.transaction(connection):
                generation = read_state(connection).generation + 1
                for document, metadata in changes.items():
                    writing.set_metadata(connection, document, metadata, generation)
                writing.advance(connection)
            self._tidy(connection)

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Set who may read documents, all of them or none, durable when it returns."""
        with self._changing() as connection, maintenance.transaction(connection):
            if writing.set_readers(connection, changes):
                writing.advance(connection)

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Note what the collection was synced from, durable when it returns."""
        with self._changing() as connection, maintenance.transaction(connection):
            writing.note_roots(connection, roots)

    def compact(self) -> None:
        """Merge all segments into one, make damaged ones again, and give back space."""
        with self._changing() as connection:
            maintenance.flush(connection, self._segments, self._upkeep.segment_chunks)
            self._replace_wrong(connection)
            segments = listed_segments(connection)
            snapshot = self._writers_snapshot(connection)
            if len(segments) > 1 or any(part.damaged or part.live is not None for part in snapshot.parts if part.name):
                maintenance.merge_listed(connection, self._segments, snapshot.parts, segments)
            self._give_back_space(connection)

    def _replace_wrong(self, connection: Catalog) -> None:
        """Make segments again that do not hold what the catalog says, though their checksums may be right."""
        for segment in listed_segments(connection):
            if any(True for _ in segment_findings(connection, self._segments, read_state(connection), segment)):
                maintenance.make_again(connection, self._segments, segment)

    @abstractmethod
    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum and cross-check both retrievers; an empty answer means all is well."""

    @abstractmethod
    def close(self) -> None:
        """Close. Calling it twice does nothing more."""

    @abstractmethod
    def _changing(self) -> AbstractContextManager[Catalog]:
        """Lend the writer's connection for a change, alone among writers from its begin to its end."""

    @abstractmethod
    def _changing_in_steps(self) -> AbstractContextManager[Catalog]:
        """Lend the writer's connection for a long change, which stays right if others write between two steps."""

    def _after_step(self, connection: Catalog) -> None:
        """Keep what a long change leaves behind within bounds."""

    @abstractmethod
    def _bytes(self, connection: Catalog) -> int:
        """Return how much room the collection takes."""

    def _give_back_space(self, connection: Catalog) -> None:
        """Return what deleted rows took."""

    def _writers_snapshot(self, connection: Catalog) -> SegmentSnapshot:
        """Return the state that a writer stands in."""
        return self._follow(connection)

    def _tidy(self, connection: Catalog) -> None:
        """Keep the tail, the number of segments and the log within bounds while writing goes on."""
        if maintenance.tail_rows(connection) >= self._upkeep.flush_from:
            maintenance.flush(connection, self._segments, self._upkeep.segment_chunks)
            self._merge(connection)
        self._after_step(connection)

    def _merge(self, connection: Catalog) -> None:
        while run := maintenance.runs_to_merge(listed_segments(connection), self._upkeep.large_segment):
            opened = open_parts(connection, self._segments, self._snapshot, run)
            maintenance.merge_listed(connection, self._segments, opened, run)

    def _stand(self, connection: Catalog, state: State) -> SegmentSnapshot:
        """Return the snapshot of a transaction that rows were read from, which must not move on.

        Where other readers have moved on it is made for this one alone; a file that was merged away, from its rows.
        """
        with self._following:
            earlier = self._snapshot
            if earlier is not None and earlier.state.generation > state.generation:
                earlier = None
            return follow(connection, self._segments, earlier, state, rebuild=True, share=self._share)

    def _follow(self, connection: Catalog) -> SegmentSnapshot:
        """Return the snapshot of the transaction the connection stands in, moving a reader's on when it is behind."""
        held = self._snapshot
        if held is not None and held.is_of(read_state(connection)):
            return held
        missed = -1
        for _ in range(OPENING_ATTEMPTS):
            with self._following:
                state = read_state(connection)
                held = self._snapshot
                if held is not None and held.state.generation > state.generation:
                    connection.restart()  # another thread has seen more; while it is kept from moving on, see the same
                    state = read_state(connection)
                if held is not None and held.is_of(state):
                    return held
                again = missed == state.layout
                try:
                    snapshot = follow(connection, self._segments, held, state, rebuild=again, share=self._share)
                except SegmentMissingError:
                    missed = state.layout
                else:
                    self._snapshot = snapshot
                    return snapshot
            connection.restart()
        raise StoreError("The index changes too fast to be read.", "Run the search again.")


class SnapshottedStore(SegmentedStore[Catalog]):
    """A segmented store that keeps named states."""

    def __init__(
        self, connections: CatalogConnections[Catalog], segments: SegmentFiles, upkeep: maintenance.Upkeep
    ) -> None:
        super().__init__(connections, segments, upkeep)
        self._pasts = Pasts(self._seeing, connections, self._follow, upkeep.segment_chunks)

    def create_snapshot(self, name: str, created: int) -> None:
        """Name the present state, durable when it returns. Nothing is copied."""
        with self._changing() as connection, maintenance.transaction(connection):
            retained.create(connection, name, created)

    def snapshots(self) -> Sequence[SnapshotInfo]:
        """List the snapshots in the order in which they were made, with what is kept for each."""
        with self._connections.reading() as connection:
            return [retained.described(connection, one) for one in retained.list_all(connection)]

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot, and what was retained for it alone. Interrupted, the next deletion does the rest."""
        with self._changing() as connection:
            with maintenance.transaction(connection):
                retained.forget(connection, name)
            drop_unheld(connection, lambda: self._after_step(connection))

    def at(self, name: str) -> PastStore:
        """Return the collection as it was when a snapshot was made."""
        return self._pasts.at(name)

    @abstractmethod
    def _seeing(self, named: NamedState) -> ClosableConnections:
        """Return connections whose statements see the rows of a snapshot."""


class LocalStore(SnapshottedStore[LocalConnection]):
    """Keeps a collection in `folder`.

    With `create`, a missing folder is made. `wait_seconds` is how long a writer waits for another one. `base_vfs` names
    the SQLite file system layer to sit on (empty: the platform's own); simulations of power cuts put theirs there.
    Raises NotFoundError, MismatchError (another format), CorruptError.
    """

    _connections: Connections

    def __init__(
        self,
        folder: Path,
        *,
        create: bool = True,
        wait_seconds: float = 10.0,
        base_vfs: str = "",
        upkeep: maintenance.Upkeep = maintenance.Upkeep(),
    ) -> None:
        self._folder = folder = real_folder(folder)
        if not create and not is_catalog(folder):
            raise NotFoundError(f"There is no index in {folder}.", "Create one with `twofold sync PATH --index NAME`.")
        make_folder(folder)
        check_links(folder)
        make_folder(folder / SEGMENT_FOLDER)
        self._lock = WriterLock(folder / LOCK_NAME, wait_seconds)
        super().__init__(Connections(folder, base_vfs), maintenance.FolderSegments(folder), upkeep)
        self._base_vfs = base_vfs
        self._unsettled = False
        if not is_catalog(folder):
            with self._lock.locked():
                if not is_catalog(folder):
                    check_not_lost(folder)
                    create_catalog(folder, self._connections.vfs.name)
        try:
            self._check_acknowledged()
        except BaseException:
            self._connections.close()
            raise

    def _seeing(self, named: NamedState) -> ClosableConnections:
        return Connections(self._folder, self._base_vfs, partial(see_then, named))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other writers out for a while. Raises WriterBusyError."""
        with self._lock.locked():
            yield

    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum and cross-check both retrievers; an empty answer means all is well."""
        note_is_damaged = commit_marker.noted(self._folder) is None
        with ExitStack() as stack:
            connection, logged = self._connection_to_verify(stack)
            findings = verify(connection, self._connections.vfs, self._folder, logged)
        if note_is_damaged:
            findings.append(Finding(NOTE_NAME, "the note fails its checksum", repairable=True))
        return findings

    def _connection_to_verify(self, stack: ExitStack) -> tuple[LocalConnection, frozenset[int]]:
        """Return a connection, and the pages that only the log holds as they should be.

        With the lock the log is emptied, so none are left. Where that cannot be written, as on a read-only or a full
        disk, the log is left as it is.
        """
        try:
            stack.enter_context(self._lock.locked())
            connection = stack.enter_context(self._connections.writing())
            with failures(connection):
                maintenance.empty_log(connection, self._folder)
        except (StoreError, StorageFullError):
            connection = stack.enter_context(self._connections.reading())
            return connection, logged_pages(self._folder)
        return connection, frozenset()

    def close(self) -> None:
        """Leave a state that opens fast, and close. Calling it twice does nothing more.

        What is left undone because another process writes or the disk is full is only a matter of speed.
        """
        try:
            if self._unsettled:
                self._unsettled = False
                self._settle()
        except (WriterBusyError, StorageFullError) as error:
            logger.warning("The index was closed as it stood: %s", error)
        finally:
            self._pasts.close()
            self._connections.close()

    def _settle(self) -> None:
        """Flush a long tail, make worn segments again, and fold the log into the catalog."""
        with self._lock.locked(), self._connections.writing() as connection:
            if maintenance.tail_rows(connection) >= self._upkeep.flush_at_close_from:
                maintenance.flush(connection, self._segments, self._upkeep.segment_chunks)
            self._merge(connection)
            for segment in listed_segments(connection):  # one after the other: a large index is not held at once
                opened = open_parts(connection, self._segments, self._snapshot, [segment])
                if maintenance.worn(opened):
                    maintenance.merge_listed(connection, self._segments, opened, [segment])
            maintenance.empty_log(connection, self._folder)

    def _check_acknowledged(self) -> None:
        """Refuse a catalog that has lost what was acknowledged. Raises CorruptError."""
        promised = commit_marker.noted(self._folder)  # read first: the catalog only moves on
        with self._connections.reading() as connection:
            held = maintenance.commits(connection)
        if promised is not None and held < promised:
            raise CorruptError(
                f"The index has lost the last {promised - held} of {promised} changes: its log is damaged.",
                f"Restore a copy or sync into a new index; delete {NOTE_NAME} to go on without them.",
            )

    @contextmanager
    def _changing(self) -> Iterator[LocalConnection]:
        """Lend the writer's connection for a change, and note that it was acknowledged."""
        with self._lock.locked(), self._connections.writing() as connection:
            self._unsettled = True
            try:
                yield connection
            except BaseException:
                self._vocabulary.forget()
                raise
            maintenance.acknowledge(connection, self._folder)

    def _changing_in_steps(self) -> AbstractContextManager[LocalConnection]:
        return self._changing()

    def _after_step(self, connection: LocalConnection) -> None:
        """Fold a long log into the catalog."""
        maintenance.fold_long_log(connection, self._folder, self._upkeep.log_bytes)

    def _bytes(self, connection: LocalConnection) -> int:  # noqa: ARG002  # the files say it
        return maintenance.bytes_on_disk(self._folder)

    def _give_back_space(self, connection: LocalConnection) -> None:
        drop_unheld(connection, lambda: self._after_step(connection))
        connection.execute("VACUUM")
        with maintenance.transaction(connection):
            pass  # counted, so that a lost VACUUM is missed like any other transaction
        maintenance.empty_log(connection, self._folder)
