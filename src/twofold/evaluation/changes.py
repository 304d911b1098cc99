"""What changed between two states of a collection: documents, and where passages stand in the rankings of questions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from twofold.domain.dataclass import dataclass
from twofold.domain.types import DocumentInfo

NO_METADATA: dict[str, str] = {}


ChangeKind = Literal["added", "removed", "changed", "fields"]


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One document that is not as it was: `changed` in what was read, or in its `fields` alone."""

    id: str
    source: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage of a ranking: its id, its document and the headings that it stands below, and its rank from 1."""

    chunk_id: str
    source: str
    heading: tuple[str, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class RankingChange:
    """A question whose ranking is another one; passages best first.

    `kept` is the part of the passages before that are still there, in any order, from 0 to 1.
    """

    query: str
    before: tuple[RankedPassage, ...]
    after: tuple[RankedPassage, ...]
    kept: float

    @property
    def entered(self) -> tuple[RankedPassage, ...]:
        """The passages that came in."""
        return _without(self.after, self.before)

    @property
    def left(self) -> tuple[RankedPassage, ...]:
        """The passages that went out."""
        return _without(self.before, self.after)


@dataclass(frozen=True, slots=True)
class IndexDiff:
    """What changed between two states: of the `queries` that were asked of both, `rankings` are those that differ."""

    documents: tuple[DocumentChange, ...]
    queries: int
    rankings: tuple[RankingChange, ...]


def document_changes(before: Iterable[DocumentInfo], after: Iterable[DocumentInfo]) -> tuple[DocumentChange, ...]:
    """Compare two listings by the documents' ids; return what differs by rising source, then id."""
    old = {one.id: one for one in before}
    new = {one.id: one for one in after}
    found = [DocumentChange(one.id, one.source, "added") for one in new.values() if one.id not in old]
    for one in old.values():
        now = new.get(one.id)
        if now is None:
            found.append(DocumentChange(one.id, one.source, "removed"))
        elif _content(one) != _content(now):
            found.append(DocumentChange(one.id, now.source, "changed"))
        elif one != now:
            found.append(DocumentChange(one.id, now.source, "fields"))
    return tuple(sorted(found, key=lambda change: (change.source, change.id)))


def _content(info: DocumentInfo) -> DocumentInfo:
    return replace(info, metadata=NO_METADATA, source="", title="")


def ranking_change(query: str, before: Sequence[RankedPassage], after: Sequence[RankedPassage]) -> RankingChange | None:
    """Compare two rankings of passages by their ids; None where they are the same.

    >>> one, other = RankedPassage("a", "a.txt", (), 1), RankedPassage("b", "b.txt", (), 2)
    >>> ranking_change("cat", [one, other], [replace(other, rank=1)]).kept
    0.5
    """
    old, new = ([one.chunk_id for one in ranking] for ranking in (before, after))
    if old == new:
        return None
    kept = len(set(old) & set(new)) / len(old) if old else 0.0
    return RankingChange(query, tuple(before), tuple(after), kept)


def _without(ranking: Sequence[RankedPassage], other: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    there = {one.chunk_id for one in other}
    return tuple(one for one in ranking if one.chunk_id not in there)
