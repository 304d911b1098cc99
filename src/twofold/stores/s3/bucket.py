"""The objects of one index in a bucket, and the service's failures as ours.

The endpoint and the credentials come from the environment of the process alone, by the names that all tools for S3
know. Without credentials there the client would ask a metadata service of the network for some; that is refused.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

import obstore
from obstore import exceptions
from obstore.store import S3Store

from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError, StoreError

HEAD = "head"
OBJECTS = "objects"
DELETE_BATCH_SIZE = 1_000
RETRIES, RETRY_SECONDS, REQUEST_SECONDS, CONNECT_SECONDS = 3, 20, 60, 5
_CREDENTIALS = (
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
)
_LOST = "Run it again when the service answers; what was acknowledged is kept, and nothing is half done."


class HeadMovedError(Exception):
    """The head is no longer the one that a change was made from: another writer was first."""


class StoredObject(NamedTuple):
    """An object's bytes, and the tag that names this version of them."""

    data: bytes
    tag: str


class Bucket:
    """The objects below `prefix`, of which one is the `head`.

    Raises StoreError when the service refuses or does not answer.
    """

    def __init__(self, bucket: str, prefix: str, head: str = HEAD) -> None:
        self._prefix = prefix
        self._head = head
        self._client = client_of(bucket)

    def get(self, key: str) -> bytes:
        """Return an object. Raises CorruptError for one that is not there: what the head names is."""
        try:
            with failures():
                return bytes(obstore.get(self._client, self._path(key)).bytes())
        except NotFoundError as error:
            raise CorruptError(
                f"An object of the index, {key}, is not in the bucket.",
                "If the index was changed for more than an hour meanwhile, run it again; else sync into a new index.",
            ) from error

    def head(self, tag: str | None) -> StoredObject | None:
        """Return the head; None if it has this tag still. Raises NotFoundError for an index without one."""
        with failures():
            try:
                path = self._path(self._head)
                found = obstore.get(self._client, path, options={"if_none_match": tag} if tag else None)
                return StoredObject(bytes(found.bytes()), str(found.meta["e_tag"]))
            except exceptions.NotModifiedError:
                return None

    def put(self, key: str, data: bytes | memoryview) -> None:
        """Add an object: it is there whole or not at all."""
        with failures():
            obstore.put(self._client, self._path(key), data)

    def swap_head(self, data: bytes, tag: str | None) -> str:
        """Replace the head if it has this tag, or with None if an index has no head yet; return its new tag.

        Raises HeadMovedError where that is not so. After StoreError it may have been replaced all the same.
        """
        with failures():
            try:
                made = obstore.put(
                    self._client, self._path(self._head), data, mode="create" if tag is None else {"e_tag": tag}
                )
            except (exceptions.AlreadyExistsError, exceptions.PreconditionError) as error:
                raise HeadMovedError from error
        return str(made["e_tag"])

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; those that are gone already are no error."""
        for start in range(0, len(keys), DELETE_BATCH_SIZE):
            with failures():
                obstore.delete(self._client, [self._path(key) for key in keys[start : start + DELETE_BATCH_SIZE]])

    def objects(self) -> Iterator[tuple[str, datetime]]:
        """Yield the keys of what a head may name, and when each was written."""
        within = self._path("")
        with failures():
            for found in obstore.list(self._client, prefix=self._path(OBJECTS)):
                for one in found:
                    yield one["path"].removeprefix(within), one["last_modified"]

    def names(self) -> list[str]:
        """List the names directly below the prefix that have a head."""
        with failures():
            below = obstore.list_with_delimiter(self._client, self._prefix or None)["common_prefixes"]
            names = sorted(path.rstrip("/").rpartition("/")[2] for path in below)
            return [name for name in names if self._has_head(name)]

    def _has_head(self, name: str) -> bool:
        try:
            obstore.head(self._client, self._path(f"{name}/{HEAD}"))
        except FileNotFoundError:
            return False
        return True

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{key}" if self._prefix else key


def client_of(bucket: str) -> S3Store:
    """Return a client of a bucket. Raises InvalidInputError without credentials, StoreError for a wrong endpoint."""
    _check_credentials()
    with failures():
        return S3Store(
            bucket,
            client_options={
                "allow_http": _endpoint().startswith("http://"),
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "timeout": timedelta(seconds=REQUEST_SECONDS),
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
        )


@contextmanager
def failures() -> Iterator[None]:
    """Turn the service's failures into ours. None repeats what it said at length: that may name keys."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError("There is no such object in the bucket.", "Check the address.") from error
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise StoreError(
            "The object storage refuses the credentials of this process.",
            "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the rights of that key on the bucket.",
        ) from error
    except (exceptions.BaseError, OSError, ValueError) as error:
        raise StoreError(f"The object storage at {_shown_endpoint()} cannot be reached or fails.", _LOST) from error


def _endpoint() -> str:
    return (
        os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
        or os.environ.get("AWS_ENDPOINT", "")
    )


def _shown_endpoint() -> str:
    """Return the endpoint without a user or a password."""
    scheme, parted, rest = _endpoint().partition("://")
    return f"{scheme}{parted}{rest.rpartition('@')[2]}" or "AWS"


def _check_credentials() -> None:
    if not any(all(os.environ.get(name) for name in names) for names in _CREDENTIALS):
        raise InvalidInputError(
            "There are no credentials for the object storage in the environment.",
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; see docs/object-storage.md for other ways.",
        )
