"""Several collections as if they were one: a view over their views, scored by statistics that count them all.

A passage's key and its document's id say which collection it is of, so that two collections may hold the same document.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from heapq import merge
from typing import NamedTuple, TypeVar

import numpy as np

from twofold.domain.errors import (
    CorruptError,
    InvalidInputError,
    MismatchError,
    NotFoundError,
    StoreError,
    TwofoldError,
)
from twofold.domain.ports import ALL, Recipe, Scope, View
from twofold.domain.types import (
    EMPTY_RANKING,
    Chunk,
    ChunkKeys,
    Document,
    DocumentInfo,
    Ranking,
    Scores,
    Statistics,
    TermCounts,
    TermQuery,
    TermScore,
    Vector,
)
from twofold.pipeline.joint_keys import JointKeys

Answer = TypeVar("Answer")
OWN_FIELDS = tuple(one.name for one in fields(Chunk) if one.name != "document")


class LostCollectionError(TwofoldError):
    """One of several collections cannot be searched; `error` says why. Whoever searches them goes on without it."""

    def __init__(self, name: str, error: TwofoldError) -> None:
        super().__init__(f"collection {name} unavailable: {error.message}", error.remedy)
        self.name = name
        self.error = error

    def __reduce__(self) -> tuple[type["LostCollectionError"], tuple[str, TwofoldError]]:  # type: ignore[override]
        """Cross a process boundary whole."""
        return type(self), (self.name, self.error)


@dataclass(frozen=True, slots=True)
class JointChunk(Chunk):
    """A passage of one of several collections; `joint` is its key among them all."""

    joint: int = 0

    @property
    def key(self) -> int:
        """The passage's number in rankings."""
        return self.joint


class Named(NamedTuple):
    """One collection's view, and the name it goes by."""

    name: str
    view: View


class JointView:
    """One consistent state of each of several collections, answering as one collection of all their passages would.

    Ids have the collection's name before them: the document `3f2a` of `notes` is `notes/3f2a`. A collection that fails
    raises LostCollectionError, but where there is only one: then its own error says more. `asked` is the name of the
    one that was asked last.
    """

    def __init__(self, collections: Sequence[Named]) -> None:
        check_names([one.name for one in collections])
        self._collections = tuple(collections)
        self._keys = JointKeys(len(collections))
        self._shared: dict[int, tuple[TermQuery, TermQuery]] = {}
        self._counted: dict[tuple[str, ...], Statistics] = {}
        self.asked = ""

    @property
    def generation(self) -> int:
        """Counts the changes of all."""
        return sum(self._ask_all(lambda view: view.generation))

    @property
    def recipe(self) -> Recipe | None:
        """What the passages were made by: the first collection's that has any."""
        return next((recipe for recipe in self._ask_all(lambda view: view.recipe) if recipe is not None), None)

    def find_terms(self, query: TermQuery, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k best passages of all by BM25, by the statistics of all."""
        shared = self._with_statistics(query)
        return self._best(self._ask_all(lambda view: view.find_terms(shared, k, scope)), k)

    def find_vector(self, vector: Vector, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k nearest passages of all by cosine."""
        return self._best(self._ask_all(lambda view: view.find_vector(vector, k, scope)), k)

    def score_terms(self, query: TermQuery, keys: ChunkKeys) -> Scores:
        """Give the true BM25 score of each key."""
        shared = self._with_statistics(query)
        return self._scored(keys, lambda view, local: view.score_terms(shared, local))

    def score_vector(self, vector: Vector, keys: ChunkKeys) -> Scores:
        """Give the true cosine of each key."""
        return self._scored(keys, lambda view, local: view.score_vector(vector, local))

    def explain_terms(self, query: TermQuery, key: int) -> tuple[TermScore, ...]:
        """Give each occurring term's part in the query's order."""
        shared = self._with_statistics(query)
        for number, _, local in self._keys.split(np.array([key], dtype=np.int64)):
            return self._ask(number, lambda view, own=int(local[0]): view.explain_terms(shared, own))  # type: ignore[misc]
        return ()

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Add up what the collections count; once for the same terms, which a search asks for several times."""
        asked = tuple(terms)
        if asked not in self._counted:
            counted = self._ask_all(lambda view: view.statistics(asked))
            frequencies = {term: sum(one.frequencies.get(term, 0) for one in counted) for term in asked}
            chunks, words = sum(one.chunks for one in counted), sum(one.words for one in counted)
            self._counted[asked] = Statistics(chunks, words, frequencies)
        return self._counted[asked]

    def within(self, keys: ChunkKeys, scope: Scope) -> ChunkKeys:
        """Give those of the keys whose passages are there and may be found at all."""
        kept = np.zeros(len(keys), dtype=np.bool_)
        for number, places, local in self._keys.split(keys):
            kept[places] = np.isin(local, self._ask(number, lambda view, local=local: view.within(local, scope)))  # type: ignore[misc]
        return keys[kept]

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked, with the ids that they have among all."""

        def fetch(number: int, wanted: Sequence[int]) -> Sequence[Chunk]:
            return self._renamed(number, self._ask(number, lambda view: view.chunks(wanted)))

        return self._fetched(keys, fetch)

    def term_counts(self, keys: Sequence[int]) -> Sequence[TermCounts]:
        """Give what the analyser made of passages, in the order asked."""
        return self._fetched(keys, lambda number, wanted: self._ask(number, lambda view: view.term_counts(wanted)))

    def document(self, document: str) -> Document | None:
        """Fetch one document by id, whole."""
        number, name = self._placed(document)
        if number is None:
            return None
        found = self._ask(number, lambda view: view.document(name))
        return None if found is None else replace(found, id=document)

    def describe(self, documents: Sequence[str]) -> Mapping[str, DocumentInfo]:
        """Describe documents by id."""
        asked: dict[int, dict[str, str]] = {}
        for document in documents:
            number, name = self._placed(document)
            if number is not None:
                asked.setdefault(number, {})[name] = document
        found = {}
        for number, names in asked.items():
            held = self._ask(number, lambda view, names=names: view.describe(list(names)))  # type: ignore[misc]
            found.update({names[name]: replace(info, id=names[name]) for name, info in held.items()})
        return found

    def documents(self) -> Iterator[DocumentInfo]:
        """List the documents of all by rising source, then id."""
        lists = self._ask_all(lambda view: list(view.documents()))
        named = [
            [replace(info, id=joint_id(name, info.id)) for info in infos]
            for (name, _), infos in zip(self._collections, lists, strict=True)
        ]
        return merge(*named, key=_by_source)

    def chunks_of(self, document: str) -> Sequence[Chunk]:
        """Fetch a document's passages in reading order."""
        number, name = self._placed(document)
        return [] if number is None else self._renamed(number, self._ask(number, lambda view: view.chunks_of(name)))

    def stretch(self, document: str, first: int, last: int) -> Sequence[Chunk]:
        """Fetch a document's passages with ordinals from `first` to `last`, both included, in reading order."""
        number, name = self._placed(document)
        if number is None:
            return []
        return self._renamed(number, self._ask(number, lambda view: view.stretch(name, first, last)))

    def vectors_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Give the vectors already stored for passages with exactly these indexed texts."""
        return {
            text: vector
            for held in self._ask_all(lambda view: view.vectors_for(texts))
            for text, vector in held.items()
        }

    def _ask(self, number: int, call: Callable[[View], Answer]) -> Answer:
        """Ask one collection, and say of a failure whose it is."""
        self.asked, view = self._collections[number]
        if len(self._collections) == 1:
            return call(view)
        try:
            return call(view)
        except (CorruptError, StoreError, MismatchError) as error:
            raise LostCollectionError(self.asked, error) from error

    def _ask_all(self, call: Callable[[View], Answer]) -> list[Answer]:
        return [self._ask(number, call) for number in range(len(self._collections))]

    def _with_statistics(self, query: TermQuery) -> TermQuery:
        """Give a question the statistics of all; the same one again where it is asked again, as the views know it."""
        if query.statistics is not None:
            return query
        if id(query) not in self._shared:
            shared = replace(query, statistics=self.statistics(tuple(query.weights)))
            self._shared[id(query)] = query, shared
        return self._shared[id(query)][1]

    def _best(self, found: Sequence[Ranking], k: int) -> Ranking:
        if not found:
            return EMPTY_RANKING
        keys = [self._keys.join(number, ranking.keys) for number, ranking in enumerate(found)]
        return Ranking.of(np.concatenate(keys), np.concatenate([ranking.scores for ranking in found]), k)

    def _scored(self, keys: ChunkKeys, score: Callable[[View, ChunkKeys], Scores]) -> Scores:
        scores = np.zeros(len(keys), dtype=np.float64)
        for number, places, local in self._keys.split(keys):
            scores[places] = self._ask(number, lambda view, local=local: score(view, local))  # type: ignore[misc]
        return scores

    def _fetched(
        self, keys: Sequence[int], fetch: Callable[[int, Sequence[int]], Sequence[Answer]]
    ) -> Sequence[Answer]:
        """Fetch something of each passage from the collection that it is of."""
        found: dict[int, Answer] = {}
        for number, places, local in self._keys.split(np.array(keys, dtype=np.int64)):
            found.update(zip(places.tolist(), fetch(number, local.tolist()), strict=True))
        for place, key in enumerate(keys):
            if place not in found:
                raise NotFoundError(f"There is no passage with the key {key}.", "Search again: it was deleted.")
        return [found[place] for place in range(len(keys))]

    def _renamed(self, number: int, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        name = self._collections[number].name
        keys = self._keys.join(number, np.array([chunk.key for chunk in chunks], dtype=np.int64))
        return [_joint_chunk(name, chunk, key) for chunk, key in zip(chunks, keys.tolist(), strict=True)]

    def _placed(self, document: str) -> tuple[int | None, str]:
        """Say which collection a document is of, and what it is called there; None where it is of none."""
        for number, (name, _) in enumerate(self._collections):
            if document.startswith(joint_id(name, "")):
                return number, document[len(joint_id(name, "")) :]
        return None, document


def joint_id(collection: str, own: str) -> str:
    """Give the id of a document, or a passage, among several collections.

    >>> joint_id("notes", "3f2a_chunk_0")
    'notes/3f2a_chunk_0'
    """
    return f"{collection}/{own}"


def check_names(names: Sequence[str]) -> None:
    """Refuse names that ids cannot be told apart by: two that are equal, or `a` beside `a/b`.

    Raises InvalidInputError.
    """
    for place, one in enumerate(names):
        for other in names[:place]:
            if joint_id(one, "").startswith(joint_id(other, "")) or joint_id(other, "").startswith(joint_id(one, "")):
                raise InvalidInputError(
                    f"Several collections cannot be called {other!r} and {one!r}.", "Give each a name of its own."
                )


def _joint_chunk(collection: str, chunk: Chunk, key: int) -> JointChunk:
    own = {name: getattr(chunk, name) for name in OWN_FIELDS}
    return JointChunk(document=joint_id(collection, chunk.document), **own, joint=key)


def _by_source(info: DocumentInfo) -> tuple[str, str]:
    return info.source, info.id
