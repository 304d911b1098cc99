"""What a sync asks of other processes or machines: to read files, and to make entries of documents, in order."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Document, Entry
from twofold.ingest.pool import Outcome
from twofold.ingest.readers.types import Source


@dataclass(frozen=True, slots=True)
class Prepared:
    """Entries ready to be put, how many of their passages are new to the embedder, and how many it had to cut short."""

    entries: tuple[Entry, ...]
    embedded: int
    truncated: int


class Reads(Protocol):
    """Reads files."""

    def read_all(self, sources: Iterable[Source]) -> Iterator[Outcome]:
        """Read files: one outcome for each, in the order given."""


class Spread(Reads, Protocol):
    """Reads files and prepares documents elsewhere. What it is given is taken as it has room for it."""

    def prepare_all(self, batches: Iterable[Sequence[Document]]) -> Iterator[Prepared]:
        """Cut, enrich, analyze and embed documents, a batch at a time, in the order given."""
