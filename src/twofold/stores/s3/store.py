"""The store in a bucket of an object storage. The rows of a SQLite catalog are the truth, kept as immutable blocks.

A change writes new objects, then replaces the head on the condition that it has not moved; a writer that loses that
race does its change again on the new head. A reader needs nobody: it reads the head, and what
that names it keeps by digest.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from twofold.domain.access import Readers
from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError, TwofoldError, WriterBusyError
from twofold.domain.ports import EmbedderIdentity, Finding, IndexFingerprint, Remake
from twofold.domain.types import Entry, Metadata, Vector
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.database_address import Address
from twofold.stores.local import maintenance
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.past import see_then
from twofold.stores.local.retained import NamedState
from twofold.stores.local.segment import Segment, checksum, read_segment
from twofold.stores.local.snapshot import Listed
from twofold.stores.local.store import SnapshottedStore
from twofold.stores.local.verify import verify_contents
from twofold.stores.s3.blocks import MAX_CONCURRENT_REQUESTS, Blocks
from twofold.stores.s3.bucket import HEAD, OBJECTS, Bucket, HeadMovedError
from twofold.stores.s3.connections import Connections, Place, S3Connection, keys_to_sweep
from twofold.stores.s3.head import Ref
from twofold.stores.s3.heads import PACE, Heads, Pace, goes_on, put_first_head
from twofold.stores.segment_cache import CACHE_BYTES, SegmentCache, mapped
from twofold.stores.transactional import TransactionalStore

UPKEEP = maintenance.Upkeep(flush_from=2_048)  # a new reader makes the tail's segment itself: keep it short
MAX_PAUSE_SECONDS = 0.5

logger = logging.getLogger(__name__)

Made = TypeVar("Made")


class BucketSegments:
    """Segments as objects that the head names."""

    def __init__(self, cache: SegmentCache) -> None:
        self._cache = cache

    def holds(self, connection: CatalogConnection, name: str) -> bool:  # noqa: ARG002  # the port's
        """Return true: what a state lists, its head names."""
        return True

    def open(self, connection: CatalogConnection, listed: Listed, dimensions: int) -> Segment:
        """Open a segment from the cache, else from the bucket."""
        cached = self._cache.opened(listed, dimensions)
        if cached is not None:
            return cached
        data = mapped([_ours(connection).segment(listed.name)])
        segment = read_segment(data, listed.name, listed.checksum, (listed.first, listed.last), dimensions)
        self._cache.keep(listed.checksum, [memoryview(data)])
        return self._cache.opened(listed, dimensions) or segment  # mapped, so that processes share the memory

    def write(self, connection: CatalogConnection, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Write a segment's object."""
        _ours(connection).put_segment(name, b"".join(pieces))
        self._cache.keep(checksum(pieces), pieces)

    def keep_only(self, names: Collection[str]) -> None:
        """Do nothing: a head names the segments that its catalog lists."""


def _ours(connection: CatalogConnection) -> S3Connection:
    if not isinstance(connection, S3Connection):
        raise TypeError(type(connection).__name__)
    return connection


class S3Store(TransactionalStore[S3Connection], SnapshottedStore[S3Connection]):
    """Keeps a collection in a bucket.

    With `create`, an index that is not there is made. `wait_seconds` is how long a writer tries to be first among
    others. `cache` is a folder for copies of objects, of twice `cache_bytes` at most. What another process has written
    is seen after a while that `pace` says; what this store wrote, at once.
    Raises NotFoundError, MismatchError, StoreError.
    """

    _connections: Connections

    def __init__(  # noqa: PLR0913  # as the store in a database
        self,
        address: Address,
        *,
        create: bool = True,
        wait_seconds: float = 10.0,
        cache: Path | None = None,
        cache_bytes: int = CACHE_BYTES,
        upkeep: maintenance.Upkeep = UPKEEP,
        pace: Pace = PACE,
        bucket: Bucket | None = None,
    ) -> None:
        self.address = address
        self._wait_seconds = wait_seconds
        self._writers = threading.RLock()
        self._unsettled = False
        made = bucket or _bucket_of(address)
        heads = Heads(made, pace, self._forget)
        blocks = Blocks(made, cache and cache / "blocks", cache_bytes)
        self._place = Place(made, heads, blocks, pace, address.shown)
        segments = BucketSegments(SegmentCache(cache and cache / "segments", cache_bytes))
        super().__init__(Connections(self._place), segments, upkeep)
        self._open(create=create)

    @staticmethod
    def names(address: Address) -> Sequence[str]:
        """List the indexes below an address."""
        return _bucket_of(address).names()

    @staticmethod
    def is_there(address: Address) -> bool:
        """Return whether there is an index at an address."""
        try:
            return _bucket_of(address).head(None) is not None
        except NotFoundError:
            return False

    @staticmethod
    def drop(address: Address, wait_seconds: float) -> None:  # noqa: ARG004  # a head needs no waiting
        """Delete an index that is closed, for good. Raises NotFoundError."""
        if not S3Store.is_there(address):
            raise _no_index(address)
        bucket = _bucket_of(address)
        bucket.delete([HEAD])  # from here on there is no index
        bucket.delete([key for key, _ in bucket.objects()])

    @classmethod
    @contextmanager
    def making(cls, address: Address, wait_seconds: float, cache: Path | None) -> Iterator["S3Store"]:
        """Yield a new index to be filled; it gets its head when all went well, and is deleted when it did not.

        Until then its head is an object that no index names: what a killed process left is swept by `compact`, and is
        in nobody's way. Raises InvalidInputError for a name that is taken.
        """
        if cls.is_there(address):
            raise _name_taken(address)
        hidden = f"{OBJECTS}/{token_hex(8)}/0"
        bucket = _bucket_of(address, hidden)
        store = cls(address, wait_seconds=wait_seconds, cache=cache, bucket=bucket)
        try:
            try:
                yield store
            finally:
                store.close()
            made = bucket.head(None)
            if made is not None:
                put_first_head(_bucket_of(address), made.data)
        except BaseException as error:
            with suppress(TwofoldError):
                head = store._place.heads.newest  # of one of its own
                if not goes_on(_bucket_of(address), head):  # else it came too late to matter
                    bucket.delete([*head.named, *(key for _, keys in head.dropped for key in keys), hidden])
            if isinstance(error, HeadMovedError):
                raise _name_taken(address) from error
            raise
        bucket.delete([hidden])

    def _seeing(self, named: NamedState) -> Connections:
        return Connections(self._place, partial(see_then, named))

    def create_snapshot(self, name: str, created: int) -> None:
        """Name the present state, durable when it returns. Nothing is copied."""
        self._as_first(partial(super().create_snapshot, name, created))

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot, and what was retained for it alone."""
        self._as_first(partial(super().delete_snapshot, name))

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Record the recipe of the passages."""
        self._as_first(partial(super().ensure_fingerprint, fingerprint))

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Add or replace documents whole, all of the entries or none, durable when it returns."""
        self._as_first(partial(super().upsert, entries))

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Store for each passage without a vector the one of its indexed text; count those that got one."""
        return self._as_first(partial(super().update_vectors, embedder, vectors))

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents by id, all or none; give how many there were."""
        return self._as_first(partial(super().delete, documents))

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Make all passages again by another recipe, next to the old ones, and switch over when all are there."""
        self._as_first(partial(super().rebuild, fingerprint, remake))

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Replace the collection's own settings, all of them or none, durable when it returns."""
        self._as_first(partial(super().set_settings, values))

    def set_synonyms(self, rules: str) -> None:
        """Replace the collection's synonyms, durable when it returns."""
        self._as_first(partial(super().set_synonyms, rules))

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Replace the metadata of documents, all of them or none, durable when it returns."""
        self._as_first(partial(super().set_metadata, changes))

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Set who may read documents, all of them or none, durable when it returns."""
        self._as_first(partial(super().set_readers, changes))

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Note what the collection was synced from, durable when it returns."""
        self._as_first(partial(super().note_roots, roots))

    def compact(self) -> None:
        """Merge all segments into one, make damaged ones again, and delete objects that nothing names."""
        self._as_first(super().compact)
        self._place.bucket.delete(keys_to_sweep(self._place))

    def catch_up(self) -> None:
        """See in the next view all that other processes have written."""
        self._place.heads.refresh(now=True)

    def verify(self) -> Sequence[Finding]:
        """Read every object again, hold passages against documents, and segments against passages."""
        head = self._place.heads.refresh(now=True)
        with ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS) as pool:
            damaged = [one for one in pool.map(self._finding, head.blocks) if one]
            repairable = [one for one in pool.map(self._finding, head.segments.values()) if one]
        if damaged:
            return damaged
        found = [Finding(one.where, one.what, repairable=True) for one in repairable]
        with self._connections.reading() as connection:
            return [*found, *verify_contents(connection, self._segments)]

    def close(self) -> None:
        """Leave a state that new readers open fast, and close. Calling it twice does nothing more."""
        try:
            if self._unsettled:
                self._unsettled = False
                self._as_first(self._settle)
        except TwofoldError as error:
            logger.warning("The index was closed as it stood: %s", error.message)
        finally:
            self._pasts.close()
            self._connections.close()

    def _open(self, *, create: bool) -> None:
        try:
            self._place.heads.refresh(now=True)
        except NotFoundError as error:
            if not create:
                raise _no_index(self.address) from error
            try:
                self._connections.create()
            except HeadMovedError:
                self._place.heads.refresh(now=True)

    def _finding(self, ref: Ref) -> Finding | None:
        try:
            self._place.blocks.fetch(ref)
        except CorruptError as error:
            return Finding(ref.key, error.message, repairable=False)
        return None

    def _as_first(self, change: Callable[[], Made]) -> Made:
        """Do a change, again on the new head while others are first. Raises WriterBusyError in the end."""
        deadline, pause = time.monotonic() + self._wait_seconds, 0.01
        while True:
            try:
                return change()
            except HeadMovedError as error:
                if time.monotonic() >= deadline:
                    raise WriterBusyError(
                        f"Other processes keep writing to this index (tried for {self._wait_seconds:g} s).",
                        "Wait until they have finished, then try again.",
                    ) from error
            time.sleep(random.uniform(0, pause))  # noqa: S311  # so that of many each has its turn
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
            self._place.heads.refresh(now=True)

    def _bytes(self, connection: S3Connection) -> int:
        head = connection.file.head
        return sum(one.length for one in (*head.blocks, *head.segments.values()))

    def _forget(self) -> None:
        """Forget what was read: the index was deleted and made again."""
        self._vocabulary.forget()
        self._known = KnownTerms()
        self._snapshot = None
        self._pasts.close()
        self._connections.forget()


def _bucket_of(address: Address, head: str = HEAD) -> Bucket:
    bucket, _, prefix = address.dsn.removeprefix("s3://").partition("/")
    return Bucket(bucket, prefix, head)


def _name_taken(address: Address) -> InvalidInputError:
    return InvalidInputError(f"There is an index {address.shown} already.", "Choose another name.")


def _no_index(address: Address) -> NotFoundError:
    return NotFoundError(f"There is no index {address.shown}.", "Make it with `twofold sync PATH --index URL`.")
