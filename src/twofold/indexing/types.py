"""What a sync says while it runs, before it runs, and afterwards."""

from enum import StrEnum
from pathlib import PurePath
from typing import Literal, NamedTuple

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import IndexFingerprint

VectorTiming = Literal["follow", "atomic", "later"]
"""When passages get their vectors: right after all documents can be found by their words, with each document in one
transaction, or not in this run."""


class Phase(StrEnum):
    """What a sync is doing."""

    WALK = "walk"
    READ = "read"
    EMBED = "embed"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """One report: `done` of `total` documents, the one that was read last, and the passages embedded so far.

    `pending` counts the passages that are found by their words and have no vector yet. While a file with pages that are
    pictures is read, `picture` of `pictures` is the one that is being recognized; else both are 0.
    """

    phase: Phase
    done: int
    total: int
    source: str = ""
    passages: int = 0
    pending: int = 0
    picture: int = 0
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be read; whatever the index held of it before, it still holds."""

    source: str
    kind: str
    message: str
    hint: str

    @property
    def reason(self) -> str:
        """The message without the file's name, where it begins with that: files with one reason share it."""
        return self.message.removeprefix(f"{PurePath(self.source).name}: ")


@dataclass(frozen=True, slots=True)
class Unread:
    """A document with pages that are pictures and were not read: `pages` of them, and what to do."""

    source: str
    pages: int
    hint: str


@dataclass(frozen=True, slots=True)
class SkippedPath:
    """A path that was not looked into, and why."""

    path: str
    reason: str


class Rename(NamedTuple):
    """A file that moved; its passages were not embedded again."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync would do. `pending` counts the passages of before that have no vector yet.

    `readers` are the sources of documents that are there and get other readers.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[SkippedPath, ...] = ()
    pending: int = 0
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did. `passages` were written; `embedded` texts were new to the embedder, also of earlier syncs.

    `pending` counts the passages that still have no vector: none, but where vectors were to come later. `truncated`
    counts passages longer than the embedder reads: words find their ends, meaning does not. `unread` are documents that
    have pages without text, of those that were read in this run.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: tuple[SkippedPath, ...] = ()
    passages: int = 0
    embedded: int = 0
    truncated: int = 0
    pending: int = 0
    seconds: float = 0.0
    readers: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index holds, where, and how it was made.

    `fingerprint` is None until it holds a document. `pending` counts the passages that have no vector yet.
    """

    name: str
    folder: str
    fingerprint: IndexFingerprint | None
    documents: int
    chunks: int
    generation: int
    segments: int
    bytes_on_disk: int
    pending: int = 0


def no_progress(_: SyncProgress) -> None:
    """Report progress to nobody."""
