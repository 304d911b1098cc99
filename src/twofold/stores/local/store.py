"""The local store: one folder that keeps a collection, one writer at a time, any number of readers.

The catalogue (SQLite) is the only truth; segments are made from it. See `docs/storage.md`.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from twofold.domain.errors import InvalidInputError, NotFoundError, StoreError
from twofold.domain.ports import Finding, Recipe, Remake, StoreInfo
from twofold.domain.types import Entry
from twofold.stores.local import layout, writing
from twofold.stores.local.catalog import CATALOG_NAME, create_catalog, is_catalog
from twofold.stores.local.connections import Connections
from twofold.stores.local.durable import refusal
from twofold.stores.local.editions import rebuild
from twofold.stores.local.lock import WriterLock
from twofold.stores.local.snapshot import (
    SEGMENT_FOLDER,
    SegmentMissingError,
    Snapshot,
    current_recipe,
    follow,
    read_state,
)
from twofold.stores.local.verify import verify
from twofold.stores.local.view import LocalView

WAL_BYTES_TO_CHECKPOINT = 64 * 1024 * 1024
OPENING_ATTEMPTS = 10


class LocalStore:
    """Keeps a collection in `folder`.

    With `create`, a missing folder is made. `wait_seconds` is how long a writer waits for another one. `base_vfs` names
    the SQLite file system layer to sit on (empty: the platform's own); simulations of power cuts put theirs there.
    Raises NotFoundError, MismatchError (another format), CorruptError.
    """

    def __init__(self, folder: Path, *, create: bool = True, wait_seconds: float = 10.0, base_vfs: str = "") -> None:
        self._folder = folder
        if not create and not is_catalog(folder):
            raise NotFoundError(f"There is no index in {folder}.", "Create one with `twofold sync PATH --index NAME`.")
        _make_folders(folder)
        self._lock = WriterLock(folder / "writer.lock", wait_seconds)
        self._connections = Connections(folder, base_vfs)
        self._following = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._vocabulary = writing.Vocabulary()
        self._wrote = False
        if not is_catalog(folder):
            with self._lock.held():
                if not is_catalog(folder):
                    create_catalog(folder, self._connections.vfs)
        with self._connections.reading() as connection:
            read_state(connection)

    @contextmanager
    def view(self) -> Iterator[LocalView]:
        """Open one consistent state; close it soon."""
        with self._connections.reading() as connection:
            yield LocalView(connection, self._follow(connection))

    def adopt(self, recipe: Recipe) -> None:
        """Say by which recipe passages are made."""
        with self._connections.reading() as connection:
            if current_recipe(connection) == recipe:
                return
        with self._writing() as connection, layout.transaction(connection):
            writing.adopt(connection, recipe)

    def put(self, entries: Sequence[Entry]) -> None:
        """Add or replace documents whole, all of the entries or none, durable when it returns."""
        names = {entry.document.id for entry in entries}
        if len(names) != len(entries):
            raise InvalidInputError("The same document is put twice at once.", "Put each document once.")
        with self._writing() as connection:
            with layout.transaction(connection):
                state = writing.state_for_writing(connection)
                for entry in entries:
                    writing.put_entry(connection, self._vocabulary, state, entry)
                writing.advance(connection)
            self._tidy(connection)

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents by id, all or none; give how many there were."""
        with self._writing() as connection, layout.transaction(connection):
            generation = read_state(connection).generation + 1
            gone = sum(writing.delete_document(connection, document, generation) for document in documents)
            if gone:
                writing.advance(connection)
            return gone

    def rebuild(self, recipe: Recipe, remake: Remake) -> None:
        """Make all passages anew by another recipe, beside the old ones, and switch over when all are there."""
        with self._writing() as connection:
            rebuild(connection, self._vocabulary, recipe, remake)
            layout.flush(connection, self._folder)
            layout.remove_unlisted(connection, self._folder)

    def info(self) -> StoreInfo:
        """Describe the collection."""
        with self._connections.reading() as connection:
            state = read_state(connection)
            (documents,) = connection.execute("SELECT count(*) FROM document").fetchone() or (0,)
            return StoreInfo(
                recipe=current_recipe(connection),
                documents=documents,
                chunks=state.chunks,
                generation=state.generation,
                segments=len(layout.listed(connection)),
                bytes_on_disk=sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file()),
            )

    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum and cross-check both arms; an empty answer means all is well."""
        with self._writing() as connection:
            return verify(connection, self._folder)

    def compact(self) -> None:
        """Merge all segments into one, make damaged ones again, and give back space."""
        with self._writing() as connection:
            layout.flush(connection, self._folder)
            segments = layout.listed(connection)
            snapshot = self._follow(connection)
            if segments and (
                len(segments) > 1 or layout.worn(snapshot) or any(part.live is not None for part in snapshot.parts)
            ):
                layout.merge_listed(connection, self._folder, snapshot, segments)
            connection.execute("VACUUM")
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Leave a state that opens fast, and close. Calling it twice does nothing more."""
        try:
            if self._wrote:
                self._wrote = False
                self._settle()
        finally:
            self._connections.close()

    def _settle(self) -> None:
        """Flush a long tail, make worn segments again, and fold the log into the catalogue."""
        with self._writing() as connection:
            self._wrote = False
            if layout.tail_chunks(connection) >= layout.FLUSH_AT_CLOSE_FROM_CHUNKS:
                layout.flush(connection, self._folder)
            self._merge(connection)
            snapshot = self._follow(connection)
            worn = {part.name for part in layout.worn(snapshot)}
            for segment in layout.listed(connection):
                if segment.name in worn:
                    layout.merge_listed(connection, self._folder, snapshot, [segment])
            _truncate_log(connection)

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._lock.held(), self._connections.writing() as connection:
            self._wrote = True
            try:
                yield connection
            except BaseException:
                self._vocabulary.forget()
                raise

    def _tidy(self, connection: apsw.Connection) -> None:
        """Keep the tail, the number of segments and the log within bounds while writing goes on."""
        if layout.tail_chunks(connection) >= layout.FLUSH_FROM_CHUNKS:
            layout.flush(connection, self._folder)
            self._merge(connection)
        log = self._folder / f"{CATALOG_NAME}-wal"
        if log.stat().st_size > WAL_BYTES_TO_CHECKPOINT:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _merge(self, connection: apsw.Connection) -> None:
        while run := layout.runs_to_merge(layout.listed(connection)):
            layout.merge_listed(connection, self._folder, self._follow(connection), run)

    def _follow(self, connection: apsw.Connection) -> Snapshot:
        """Give the snapshot of the transaction the connection stands in, moving a reader's on when it is behind."""
        missed = -1
        for _ in range(OPENING_ATTEMPTS):
            state = read_state(connection)
            with self._following:
                held = self._snapshot
                if held is not None and held.state == state:
                    return held
                if held is None or held.state.generation <= state.generation:
                    try:
                        self._snapshot = follow(connection, self._folder, held, state, rebuild=missed == state.layout)
                    except SegmentMissingError:
                        missed = state.layout
                    else:
                        return self._snapshot
            _restart(connection)
        raise StoreError("The index changes too fast to be read.", "Run the search again.")


def _restart(connection: apsw.Connection) -> None:
    """Begin the read transaction anew, to see the newest state: segments may have been merged away meanwhile."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
        connection.execute("BEGIN")


def _truncate_log(connection: apsw.Connection) -> None:
    """Empty the log where no reader stands in the way; a reader that does is no reason to wait."""
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return
    finally:
        connection.set_busy_timeout(10_000)


def _make_folders(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / SEGMENT_FOLDER).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise refusal(error, str(folder)) from error
