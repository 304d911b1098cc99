"""Connections to a catalog in a bucket. A commit is first SQLite's, into memory, then the bucket's: by its head."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, LifoQueue
from secrets import token_bytes
from threading import Event
from typing import NamedTuple

import apsw

from twofold.domain.errors import CorruptError, StoreError
from twofold.stores.local.catalog import LocalConnection, failures, fill_catalog, prepare
from twofold.stores.local.checksums import PAGE_BYTES
from twofold.stores.s3.blocks import MAX_CONCURRENT_REQUESTS, Blocks
from twofold.stores.s3.bucket import Bucket
from twofold.stores.s3.catalog_file import NAME, BucketVFS, CatalogFile
from twofold.stores.s3.head import BLOCK_BYTES, Head, Ref, digest_of
from twofold.stores.s3.heads import Heads, Pace, delete_quietly, first_head, recent_commits


class Place(NamedTuple):
    """Where an index is: its bucket, what is known of its head, and its blocks; `shown` is its address for people."""

    bucket: Bucket
    heads: Heads
    blocks: Blocks
    pace: Pace
    shown: str


class S3Connection(LocalConnection):
    """A connection to a catalog in a bucket; see `CatalogConnection`."""

    place: Place
    file: CatalogFile

    def __init__(self, place: Place, vfs: BucketVFS, *, writing: bool) -> None:
        kind = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writing else apsw.SQLITE_OPEN_READONLY
        super().__init__(NAME, flags=kind, vfs=vfs.name)
        self.place = place
        self.file = vfs.opened
        self._commit = token_bytes(8)
        self._began = time.monotonic()
        self._segments: dict[str, Ref] = {}
        self._objects = 0
        self.pragma("journal_mode", "memory")
        self.pragma("temp_store", "memory")
        self.pragma("synchronous", "off")

    def begin(self) -> bool:
        """Begin a transaction that writes, on the newest state. Return false inside of one: it goes on."""
        if self.in_transaction:
            return False
        self._commit, self._objects, self._began = token_bytes(8), 0, time.monotonic()
        self._segments = {}
        self.place.heads.refresh(now=True)
        self.execute("BEGIN IMMEDIATE")
        return True

    def commit(self) -> None:
        """End the transaction, durable in the bucket.

        Raises HeadMovedError where another writer was first; then this connection is of no more use.
        """
        base = self.file.head
        listed = {str(name) for (name,) in super().execute("SELECT name FROM segment")}
        super().execute("COMMIT")
        self._publish(base, {name: one for name, one in {**base.segments, **self._segments}.items() if name in listed})

    def rollback(self) -> None:
        """End a transaction, if there is one, as if it had never been."""
        super().rollback()
        if not self.in_transaction:
            self.file.forget()

    def create(self) -> None:
        """Make an empty catalog. Raises HeadMovedError where there is one."""
        self.pragma("page_size", PAGE_BYTES)
        fill_catalog(self)
        self._publish(first_head(), {})

    def put_segment(self, name: str, data: bytes) -> None:
        """Write a segment's object, which the head will name with this transaction."""
        self._segments[name] = self._put(data)

    def segment(self, name: str) -> bytes:
        """Return a segment's bytes. Raises CorruptError where the head names none."""
        ref = self._segments.get(name) or self.file.head.segments.get(name)
        if ref is None:
            raise CorruptError(f"Segment {name} is not in the bucket.", "It is made again from the catalog.")
        return self.place.blocks.fetch(ref)

    def _put(self, data: bytes) -> Ref:
        ref = self._next_ref(data)
        self.place.bucket.put(ref.key, data)
        return ref

    def _next_ref(self, data: bytes) -> Ref:
        self._objects += 1
        return Ref(self._commit, self._objects, len(data), digest_of(data))

    def _publish(self, base: Head, segments: dict[str, Ref]) -> None:
        """Write the blocks that changed, and a head that names them."""
        blocks = list(base.blocks[: -(-self.file.size // BLOCK_BYTES)])
        fresh = [(number, data, self._next_ref(data)) for number, data in self.file.written.items()]
        with ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS) as pool:
            list(pool.map(lambda one: self.place.bucket.put(one[2].key, one[1]), fresh))
        for number, _, ref in fresh:
            blocks[number:] = [ref, *blocks[number + 1 :]]
        now = int(time.time())
        named = {one.key for one in (*blocks, *segments.values())}
        gone = tuple(sorted(base.named - named))
        old = [one for one in base.dropped if one[0] < now - self.place.pace.grace]
        head = Head(
            base.lineage,
            base.number + 1,
            recent_commits(self._commit, base.before),
            self.file.size,
            tuple(blocks),
            segments,
            (*(one for one in base.dropped if one not in old), *([(now, gone)] if gone else ())),
        )
        self.file.settle(self.place.heads.publish(base, head, self._began))
        for _, data, ref in fresh:
            self.place.blocks.keep(ref, data)
        delete_quietly(self.place.bucket, [key for _, keys in old for key in keys])


class Connections:
    """Opens connections when none is idle, and closes them all at the end, those still lent when they come back.

    `also` is done to each connection that is opened.
    """

    def __init__(self, place: Place, also: Callable[[S3Connection], None] | None = None) -> None:
        self._place = place
        self._also = also
        self._closed = Event()
        self._prefetched: Head | None = None
        self._vfs = BucketVFS(f"twofold-s3-{id(self):x}", lambda: CatalogFile(place.blocks, lambda: place.heads.newest))
        self._idle: LifoQueue[S3Connection] = LifoQueue()
        self._writers: LifoQueue[S3Connection] = LifoQueue()

    @contextmanager
    def reading(self) -> Iterator[S3Connection]:
        """Lend a connection inside a read transaction, on the newest state."""
        head = self._place.heads.refresh()
        if head is not self._prefetched:
            self._place.blocks.prefetch(head.blocks)
            self._prefetched = head
        with self._borrowed(self._idle, writing=False) as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[S3Connection]:
        """Lend the writer's connection; the caller sees to it that it is lent once."""
        with self._borrowed(self._writers, writing=True) as connection:
            yield connection

    def create(self) -> None:
        """Make the index. Raises HeadMovedError where there is one."""
        with failures():
            connection = S3Connection(self._place, self._vfs, writing=True)
        try:
            with failures(connection):
                connection.create()
        finally:
            connection.close()

    def forget(self) -> None:
        """Close what is idle: it stands on an index that was deleted."""
        for queue in (self._idle, self._writers):
            while True:
                try:
                    queue.get_nowait().close()
                except Empty:
                    break

    def close(self) -> None:
        """Close what is idle."""
        self._closed.set()
        self.forget()

    @contextmanager
    def _borrowed(self, queue: LifoQueue[S3Connection], *, writing: bool) -> Iterator[S3Connection]:
        if self._closed.is_set():
            raise StoreError("The index was closed.", "Open it again.")
        try:
            connection = queue.get_nowait()
        except Empty:
            connection = self._opened(writing=writing)
        lineage = connection.file.head.lineage
        try:
            with failures(connection):
                yield connection
            connection.rollback()
        except BaseException:
            connection.close()  # it may remember what never became the index's state
            raise
        if self._closed.is_set() or self._place.heads.newest.lineage != lineage:
            connection.close()
        else:
            queue.put(connection)
            if self._closed.is_set():  # meanwhile, by another thread, which did not see this connection
                self.forget()

    def _opened(self, *, writing: bool) -> S3Connection:
        with failures():
            connection = S3Connection(self._place, self._vfs, writing=writing)
        try:
            with failures(connection):
                prepare(connection, lambda: connection.file.size, self._place.shown, writing=writing)
                if self._also is not None:
                    self._also(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def keys_to_sweep(place: Place) -> Sequence[str]:
    """List the objects that no head has named and that no writer can be about to name."""
    before = time.time() - place.pace.grace
    head = place.heads.refresh(now=True)
    kept = head.named.union(*(keys for _, keys in head.dropped))
    return [key for key, written in place.bucket.objects() if key not in kept and written.timestamp() < before]
