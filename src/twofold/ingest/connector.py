"""The port between a sync and what it follows."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Protocol

from twofold.domain.dataclass import dataclass
from twofold.domain.types import DocumentInfo, Metadata
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped

VERSION = "source_version"
"""The field of a document that holds the version of the item it was read from."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to read: a file, a page, a row. `source` names it to people and stays the same while it exists.

    `version` changes whenever its content does: of equal versions nothing is read again. `metadata` are fields that the
    place states of it, such as a commit.
    """

    source: str
    version: str
    metadata: Metadata = field(default_factory=dict)


class Connector(Protocol):
    """Lists and reads what lies in one place. `root` names the place; `origin` is what `source_type` says of it."""

    @property
    def root(self) -> str:
        """The place's name, the same in every sync: documents belong to the root they were read from."""

    @property
    def origin(self) -> str:
        """The kind of place: `git`, `web`, `mail`, `s3`, `sql`."""

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:
        """Yield all that the place holds now; `known` are the documents of it that the index has, by source.

        What is left out for a moment, such as a page whose server does not answer, is Skipped, so that its document
        stays. Raises NotFoundError or ReadError where the place itself cannot be listed: then nothing is deleted.
        """

    def load(self, item: Item, limits: Limits) -> Source:
        """Read an item. Raises ReadError."""
