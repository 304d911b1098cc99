"""Judgements meet an index: which of its documents is meant by each name that somebody judged."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import DocumentInfo
from twofold.evaluation.dataset import JudgedCollection
from twofold.evaluation.qrels import by_query
from twofold.evaluation.queries import Judged


@dataclass(frozen=True, slots=True)
class Matched:
    """Judged questions whose documents are known; `names` gives by a document's id what the judgements call it.

    `unmatched` are the names that fit no document of the index.
    """

    collection: JudgedCollection
    names: Mapping[str, str]
    unmatched: tuple[str, ...]


class _Shelf:
    """Documents by id, by source and by an ending of their source at a folder's edge, as commands name them."""

    def __init__(self, infos: Sequence[DocumentInfo]) -> None:
        self._ids = {info.id: info for info in infos}
        self._sources = {info.source: info for info in infos}
        self._last: defaultdict[str, list[DocumentInfo]] = defaultdict(list)
        for info in infos:
            self._last[info.source.rpartition("/")[2]].append(info)

    def find(self, name: str) -> DocumentInfo | None:
        """Raise InvalidInputError for a name that fits several."""
        exact = self._ids.get(name) or self._sources.get(name)
        if exact is not None:
            return exact
        ending = "/" + name.lstrip("/")
        fitting = [info for info in self._last[name.rpartition("/")[2]] if info.source.endswith(ending)]
        if len(fitting) > 1:
            some = ", ".join(f"{info.id} ({info.source})" for info in fitting[:3])
            raise InvalidInputError(
                f"{len(fitting)} documents end in {name!r}, which is judged.", f"Name one by its id: {some}."
            )
        return fitting[0] if fitting else None


def as_written(judged: Judged) -> JudgedCollection:
    """Take documents to be called what the judgements call them, as in a run that was made elsewhere.

    Raises InvalidInputError when no question has a relevant document, ReadError when a document has two scores for one.
    """
    grades = by_query(judged.judgements, judged.path)
    asked = judged.questions
    kept = tuple(one for one in asked if any(grade > 0 for grade in grades.get(one.id, {}).values()))
    if not kept:
        raise InvalidInputError(f"no query has a relevant judgement in {judged.path}.", "Compare the ids of the files.")
    return JudgedCollection(
        name=judged.name,
        split="",
        documents=(),
        queries=kept,
        grades={one.id: grades[one.id] for one in kept},
        left_out=len(asked) - len(kept),
        missing_queries=len(grades.keys() - {one.id for one in asked}),
    )


def matched(judged: Judged, infos: Sequence[DocumentInfo]) -> Matched:
    """Find what is meant by each name: a document's id, its source, or an ending of its source that is no other's.

    Judgements of what is not there stay, as in a collection. Raises InvalidInputError when none fits any document or
    one fits several, and as `as_written` does.
    """
    shelf = _Shelf(infos)
    written = dict.fromkeys(one.document for one in judged.judgements)
    found = {name: shelf.find(name) for name in written}
    unmatched = tuple(name for name, info in found.items() if info is None)
    if len(unmatched) == len(written):
        some = ", ".join(repr(name) for name in unmatched[:3]) or "none"
        raise InvalidInputError(
            f"no judged document is in the index: {some}.", "Name documents as `twofold ls` shows them."
        )
    names: dict[str, str] = {}
    for name, info in found.items():
        if info is not None:
            names.setdefault(info.id, name)
    meant = {name: name if info is None else names[info.id] for name, info in found.items()}
    judgements = tuple(one._replace(document=meant[one.document]) for one in judged.judgements)
    collection = as_written(replace(judged, judgements=judgements))
    missing = sum(found[one.document] is None for one in judged.judgements)
    return Matched(replace(collection, missing_documents=missing), names, unmatched)
