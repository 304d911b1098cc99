"""The head as this process knows it: read again when it may be old, replaced on the condition that it has not moved."""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from twofold.domain.errors import CorruptError, NotFoundError, StoreError, TwofoldError
from twofold.stores.s3.bucket import Bucket, HeadMovedError
from twofold.stores.s3.head import COMMITS_REMEMBERED, Head, read_head, write_head

logger = logging.getLogger(__name__)

NO_HEAD = Head("", 0, (), 0, (), {}, ())


class Pace(NamedTuple):
    """How long a head is taken for the newest, and how long objects stay that it no longer names, in seconds.

    A writer takes at most half of the latter for one commit: what it has written by then is never swept.
    """

    fresh: float = 1.0
    grace: float = 3_600.0


PACE = Pace()


class _Known(NamedTuple):
    head: Head
    tag: str | None
    seen: float


class Heads:
    """Follows the head of one index. Safe to use from several threads.

    `replaced` is called when the index was deleted and made again.
    """

    def __init__(self, bucket: Bucket, pace: Pace, replaced: Callable[[], None]) -> None:
        self._bucket = bucket
        self._pace = pace
        self._replaced = replaced
        self._lock = threading.Lock()
        self._known = _Known(NO_HEAD, None, 0.0)

    @property
    def newest(self) -> Head:
        """The newest head that is known; it never goes back."""
        return self._known.head

    def refresh(self, *, now: bool = False) -> Head:
        """Return the newest head, read again if it may be old. Raises NotFoundError where there is no index."""
        known = self._known
        if not now and known.tag is not None and time.monotonic() - known.seen < self._pace.fresh:
            return known.head
        began = time.monotonic()
        try:
            found = self._bucket.head(known.tag)
        except NotFoundError as error:
            self._expire()
            if known.tag is None:
                raise
            raise NotFoundError(
                "The index is no longer in the bucket.", "It was deleted; `twofold sync` makes a new one."
            ) from error
        except TwofoldError:
            self._expire()
            raise
        if found is None:
            with self._lock:
                if self._known.tag == known.tag:
                    self._known = known._replace(seen=began)
            return self._known.head
        self._take(_Known(read_head(found.data), found.tag, began))
        return self._known.head

    def publish(self, base: Head, head: Head, began: float) -> Head:
        """Make a head the newest in place of the one it was made from, and return it.

        `began` is when the first of its objects was written. Raises HeadMovedError where another writer was first,
        StoreError.
        """
        if time.monotonic() - began > max(self._pace.grace / 2, 60.0):
            raise StoreError("Writing to the bucket took too long.", "Write fewer documents at once.")
        known = self._known
        if known.head.number != base.number or known.head.lineage not in {"", base.lineage}:
            raise HeadMovedError
        try:
            tag = self._bucket.swap_head(write_head(head), known.tag)
        except (HeadMovedError, StoreError):
            if not self._is_ours(head):
                raise
            return head
        self._take(_Known(head, tag, time.monotonic()))
        return head

    def _is_ours(self, head: Head) -> bool:
        """Return whether a head was written all the same: the answer to a request may be lost, and it sent again."""
        try:
            newest = self.refresh(now=True)
        except TwofoldError:
            return False
        return newest.lineage == head.lineage and head.before[0] in newest.before

    def _expire(self) -> None:
        """Ask the bucket the next time."""
        with self._lock:
            self._known = self._known._replace(seen=0.0)

    def _take(self, found: _Known) -> None:
        """Know a head that is newer."""
        with self._lock:
            held = self._known.head
            another = held.lineage not in {"", found.head.lineage}
            if another or found.head.number >= held.number:
                self._known = found
        if another:
            self._replaced()


def first_head() -> Head:
    """Return the head that the first commit of a new index is made from."""
    return Head(secrets.token_hex(8), 0, (), 0, (), {}, ())


def put_first_head(bucket: Bucket, data: bytes) -> None:
    """Put the head that an index begins with. Raises HeadMovedError where it has another one, StoreError."""
    try:
        bucket.swap_head(data, None)
    except (HeadMovedError, StoreError):
        if not goes_on(bucket, read_head(data)):  # the answer to a request may be lost, and it sent again
            raise


def goes_on(bucket: Bucket, head: Head) -> bool:
    """Return whether the index in a bucket stands on a head or on what became of it. Raises StoreError."""
    try:
        found = bucket.head(None)
    except NotFoundError:
        return False
    return found is not None and read_head(found.data).lineage == head.lineage


def recent_commits(commit: bytes, before: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commits that a head names as its last ones."""
    return (commit.hex(), *before)[:COMMITS_REMEMBERED]


def delete_quietly(bucket: Bucket, keys: list[str]) -> None:
    """Delete objects that no head names; what stays is swept later."""
    try:
        bucket.delete(keys)
    except (StoreError, CorruptError) as error:
        logger.warning("Objects that are no longer used could not be deleted: %s", error.message)
