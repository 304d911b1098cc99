"""Objects of a bucket of S3, or of what speaks its protocol, as documents: those below a prefix."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property

import obstore
from obstore.store import S3Store

from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError, StoreError
from twofold.domain.types import DocumentInfo
from twofold.ingest.connector import Item
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped, source_name
from twofold.stores.s3.bucket import HEAD, client_of, failures


class S3Connector:
    """The objects at `s3://BUCKET/PREFIX`. Endpoint and credentials come from the environment (`AWS_…`) alone.

    An object is as before while its ETag is; one that was copied to another key with the same ETag is a renamed
    document. Keys with a part that begins with a dot are left out, as hidden files are.
    """

    def __init__(self, address: str) -> None:
        bucket, _, prefix = address.removeprefix("s3://").partition("/")
        if not bucket:
            raise InvalidInputError("A bucket has a name.", "Write s3://bucket/folder.")
        self._bucket, self._prefix = bucket, prefix.strip("/")

    @property
    def root(self) -> str:
        """The bucket and the prefix."""
        return source_name(f"s3://{self._bucket}" + (f"/{self._prefix}" if self._prefix else ""))

    @property
    def origin(self) -> str:
        """`s3`."""
        return "s3"

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:  # noqa: ARG002
        """Yield the objects. Raises ReadError for a bucket that cannot be listed: then nothing is deleted."""
        try:
            with failures():
                with suppress(FileNotFoundError):  # a list does not say that it was refused; this does
                    obstore.head(self._client, self._prefix or HEAD)
                for found in obstore.list(self._client, prefix=self._prefix or None):
                    for one in found:
                        if any(part.startswith(".") for part in one["path"].split("/")):
                            continue
                        source = self._source(one["path"])
                        if one["size"] > limits.file_bytes:
                            reason = f"it is larger than the {limits.file_bytes:,} bytes allowed"
                            yield Skipped(source, source, reason)
                        elif one["size"]:  # an empty object stands for a folder
                            yield Item(source, f"{one['e_tag']} {one['size']}")
        except (NotFoundError, StoreError) as error:
            raise ReadError(error.message, error.hint, "unreadable") from error

    def load(self, item: Item, limits: Limits) -> Source:
        """Fetch an object. Raises ReadError for one that is gone or cannot be fetched."""
        key = item.source.removeprefix(f"s3://{self._bucket}/")
        try:
            with failures():
                return Source(item.source, bytes(obstore.get(self._client, key).bytes()), limits)
        except (NotFoundError, StoreError) as error:
            raise ReadError(error.message, "Sync again later.", "unreadable") from error

    @cached_property
    def _client(self) -> S3Store:
        return client_of(self._bucket)

    def _source(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"
