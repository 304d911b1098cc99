"""Several collections as if they were one: a view over their views, scored by statistics that count them all.

A passage's key and its document's id say which collection it is of, so that two collections may hold the same document.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from heapq import merge
from typing import NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Viewer
from twofold.domain.errors import (
    CorruptError,
    MismatchError,
    NotFoundError,
    StoreError,
    TwofoldError,
)
from twofold.domain.filters import Label
from twofold.domain.ports import (
    ALL,
    FetchedPassage,
    Finding,
    IndexFingerprint,
    Scope,
    Snapshot,
    Store,
    StoreInfo,
)
from twofold.domain.types import (
    EMPTY_RANKING,
    Chunk,
    ChunkKeys,
    Clause,
    Document,
    DocumentInfo,
    PassageTerms,
    Ranking,
    Scores,
    Sizes,
    Statistics,
    TermCounts,
    TermIds,
    TermQuery,
    Vector,
    Vocabulary,
)
from twofold.stores.federated_ids import (
    FederatedKeys,
    FederatedPassage,
    JointKeys,
    Places,
    check_names,
    federated_id,
    joint_chunk,
)
from twofold.stores.read_only import ReadOnlyStore
from twofold.text.analyzer import may_expand
from twofold.text.term_table import ScoredTerms

Answer = TypeVar("Answer")


class LostCollectionError(TwofoldError):
    """One of several collections cannot be searched; `error` says why. A search goes on without it."""

    def __init__(self, name: str, error: TwofoldError) -> None:
        super().__init__(f"collection {name} unavailable: {error.message}", error.hint)
        self.name = name
        self.error = error

    def __reduce__(self) -> tuple[type["LostCollectionError"], tuple[str, TwofoldError]]:  # type: ignore[override]
        """Cross a process boundary whole."""
        return type(self), (self.name, self.error)


class Named(NamedTuple):
    """One collection's view, and the name it goes by."""

    name: str
    view: Snapshot


class FederatedSnapshot:
    """One consistent state of each of several collections, answering as one collection of all their passages would.

    Ids have the collection's name before them: the document `3f2a` of `notes` is `notes/3f2a`. A collection that fails
    raises LostCollectionError, but where there is only one: then its own error says more. `asked` is the name of the
    one that was asked last.
    """

    def __init__(self, collections: Sequence[Named]) -> None:
        check_names([one.name for one in collections])
        self._collections = tuple(collections)
        self._keys: JointKeys = FederatedKeys(len(collections))
        self._shared: dict[int, tuple[TermQuery, TermQuery]] = {}
        self._counted: dict[tuple[str, ...], Statistics] = {}
        self._numbers: dict[str, int] = {}
        self.asked = ""

    @property
    def missing(self) -> Sequence[str]:
        """Names the parts of all that cannot be searched now."""
        return [part for some in self._ask_all(lambda view: view.missing) for part in some]

    @property
    def viewer_key(self) -> str:
        """What tells viewers apart: the keys of all, where one of them has any."""
        keys = self._ask_all(lambda view: view.viewer_key)
        return "+".join(keys) if any(keys) else ""

    def sizes(self) -> Sizes:
        """Add up the documents and the passages of all."""
        counted = self._ask_all(lambda view: view.sizes())
        return Sizes(sum(one.documents for one in counted), sum(one.chunks for one in counted))

    @property
    def generation(self) -> int:
        """Counts the changes of all."""
        return sum(self._ask_all(lambda view: view.generation))

    @property
    def synonyms(self) -> str:
        """The rules of all, those of one collection after the other's."""
        return "\n".join(dict.fromkeys(filter(None, self._ask_all(lambda view: view.synonyms))))

    @property
    def fingerprint(self) -> IndexFingerprint | None:
        """What the passages were made by: the first collection's that has any."""
        return next(
            (fingerprint for fingerprint in self._ask_all(lambda view: view.fingerprint) if fingerprint is not None),
            None,
        )

    @property
    def pending(self) -> int:
        """Counts the passages of all that have no vector yet."""
        return sum(self._ask_all(lambda view: view.pending))

    def search_bm25(self, query: TermQuery, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k best passages of all by BM25, by the statistics of all."""
        shared = self._with_statistics(query)
        return self._best(self._ask_all(lambda view: view.search_bm25(shared, k, scope)), k)

    def search_vectors(self, vector: Vector, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k nearest passages of all by cosine."""
        return self._best(self._ask_all(lambda view: view.search_vectors(vector, k, scope)), k)

    def score_terms(self, query: TermQuery, keys: ChunkKeys) -> Scores:
        """Return the true BM25 score of each key."""
        shared = self._with_statistics(query)
        return self._scored(keys, lambda view, local: view.score_terms(shared, local))

    def score_vector(self, vector: Vector, keys: ChunkKeys) -> Scores:
        """Return the true cosine of each key."""
        return self._scored(keys, lambda view, local: view.score_vector(vector, local))

    def without_vector(self, keys: ChunkKeys) -> ChunkKeys:
        """Return those of the keys whose passages have no vector yet."""
        waiting = np.zeros(len(keys), dtype=np.bool_)
        for places, local, found in self._ask_each(keys, lambda view, local: view.without_vector(local)):
            waiting[places] = np.isin(local, found)
        return keys[waiting]

    def explain_terms(self, query: TermQuery, keys: Sequence[int]) -> ScoredTerms:
        """Return what each term adds to the scores of some passages, by the statistics of all."""
        shared = self._with_statistics(query)
        frequencies = np.zeros((len(keys), len(query.weights)), np.float64 if query.groups else np.uint16)
        norms, idfs = np.ones(len(keys)), (0.0,) * len(query.weights)
        joint = np.array(keys, dtype=np.int64)
        for places, _, own in self._ask_each(joint, lambda view, local: view.explain_terms(shared, local.tolist())):
            frequencies[places], norms[places], idfs = own.frequencies, own.norms, tuple(own.idfs)
        return ScoredTerms(shared, idfs, frequencies, norms)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Add up what the collections count; once for the same terms, which a search asks for several times."""
        asked = tuple(terms)
        if asked not in self._counted:
            self._counted[asked] = added_statistics(self._ask_all(lambda view: view.statistics(asked)), asked)
        return self._counted[asked]

    def count_within(self, scope: Scope, narrower: Sequence[Scope]) -> Sequence[int]:
        """Add up for each of the narrower scopes the passages that are in it and in `scope`."""
        counted = self._ask_all(lambda view: view.count_within(scope, narrower))
        return [sum(some) for some in zip(*counted, strict=True)] if counted else [0] * len(narrower)

    def count_holding(self, scope: Scope, clauses: Sequence[Clause]) -> Sequence[int]:
        """Add up for each clause the passages of a scope that hold its terms."""
        counted = self._ask_all(lambda view: view.count_holding(scope, clauses))
        return [sum(some) for some in zip(*counted, strict=True)] if counted else [0] * len(clauses)

    def vocabularies(self) -> Sequence[Vocabulary]:
        """Return the words of all collections, part by part."""
        return [part for held in self._ask_all(lambda view: view.vocabularies()) for part in held]

    def within(self, keys: ChunkKeys, scope: Scope) -> ChunkKeys:
        """Return those of the keys whose passages are there and may be found at all."""
        kept = np.zeros(len(keys), dtype=np.bool_)
        for places, local, found in self._ask_each(keys, lambda view, local: view.within(local, scope)):
            kept[places] = np.isin(local, found)
        return keys[kept]

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked, with the ids that they have among all."""
        found = self._fetched(keys, lambda view, wanted: view.chunks(wanted))
        return [joint_chunk(name, one, key) for name, one, key in zip(self._names(keys), found, keys, strict=True)]

    def fetch(self, keys: Sequence[int]) -> Sequence[FetchedPassage]:
        """Fetch passages with their documents' names, in the order asked, with the ids that they have among all."""
        found = self._fetched(keys, lambda view, wanted: view.fetch(wanted))
        return [FederatedPassage(name, one, key) for name, one, key in zip(self._names(keys), found, keys, strict=True)]

    def term_counts(self, keys: Sequence[int]) -> Sequence[TermCounts]:
        """Return what the analyzer made of passages, in the order asked."""
        return self._fetched(keys, lambda view, wanted: view.term_counts(wanted))

    def passage_terms(self, keys: Sequence[int]) -> PassageTerms:
        """Return the same as arrays; terms are numbered as they come, since each collection has its own numbers."""
        numbers = self._numbers
        counted = self.term_counts(keys)
        return PassageTerms(
            offsets=np.cumsum([0, *(len(one.counts) for one in counted)], dtype=np.int64),
            ids=np.array([numbers.setdefault(term, len(numbers)) for one in counted for term in one.counts], np.uint32),
            frequencies=np.array([often for one in counted for often in one.counts.values()], dtype=np.uint16),
            lengths=np.array([one.length for one in counted], dtype=np.int64),
        )

    def feedback_gains(self, query: TermQuery, keys: Sequence[int], shares: Scores, terms: int) -> None:
        """Leave the formula to who asks."""

    def document_frequencies(self, ids: TermIds) -> NDArray[np.int64]:
        """Add up in how many passages of each collection each term occurs."""
        texts = self.term_texts(ids)
        known = self.statistics(tuple(dict.fromkeys(texts))).frequencies
        return np.array([known[term] for term in texts], dtype=np.int64)

    def term_texts(self, ids: TermIds) -> Sequence[str]:
        """Return the terms of some numbers that `passage_terms` gives."""
        terms = tuple(self._numbers)
        return [terms[one] for one in ids.tolist()]

    def may_expand(self, ids: TermIds) -> NDArray[np.bool_]:
        """Mark the terms that feedback may add to a question."""
        return np.array([may_expand(term) for term in self.term_texts(ids)], dtype=np.bool_)

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
            [replace(info, id=federated_id(name, info.id)) for info in infos]
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
        """Return the vectors already stored for passages with exactly these indexed texts."""
        return {
            text: vector
            for held in self._ask_all(lambda view: view.vectors_for(texts))
            for text, vector in held.items()
        }

    def pending_texts(self, most: int) -> Sequence[str]:
        """Return indexed texts of passages without a vector, of one collection after the other."""
        texts = [text for some in self._ask_all(lambda view: view.pending_texts(most)) for text in some]
        return list(dict.fromkeys(texts))[:most]

    def count_documents(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, int]:
        """Add up what each collection counts: a document is of one of them."""
        total: Counter[Hashable] = Counter()
        for _, _, found in self._ask_each(keys, lambda view, local: view.count_documents(local, field, label)):
            total.update(found)
        return total

    def _ask(self, number: int, call: Callable[[Snapshot], Answer]) -> Answer:
        """Ask one collection, and say of a failure whose it is."""
        self.asked, view = self._collections[number]
        if len(self._collections) == 1:
            return call(view)
        try:
            return call(view)
        except (CorruptError, StoreError, MismatchError) as error:
            raise LostCollectionError(self.asked, error) from error

    def _ask_all(self, call: Callable[[Snapshot], Answer]) -> list[Answer]:
        return [self._ask(number, call) for number in range(len(self._collections))]

    def _ask_each(
        self, keys: ChunkKeys, call: Callable[[Snapshot, ChunkKeys], Answer]
    ) -> Sequence[tuple[Places, ChunkKeys, Answer]]:
        """Ask each collection for its own of some keys: where these stand, what they are there, and the answer."""
        return [
            (places, local, self._ask(number, partial(_with_keys, call, local)))
            for number, places, local in self._keys.split(keys)
        ]

    def _with_statistics(self, query: TermQuery) -> TermQuery:
        """Return a question the statistics of all; the same one again where it is asked again, as the views know it."""
        if query.statistics is not None:
            return query
        if id(query) not in self._shared:
            shared = replace(query, statistics=self.statistics(query.terms))
            self._shared[id(query)] = query, shared
        return self._shared[id(query)][1]

    def _best(self, found: Sequence[Ranking], k: int) -> Ranking:
        if not found:
            return EMPTY_RANKING
        keys = [self._keys.join(number, ranking.keys) for number, ranking in enumerate(found)]
        return Ranking.of(np.concatenate(keys), np.concatenate([ranking.scores for ranking in found]), k)

    def _scored(self, keys: ChunkKeys, score: Callable[[Snapshot, ChunkKeys], Scores]) -> Scores:
        scores = np.zeros(len(keys), dtype=np.float64)
        for places, _, found in self._ask_each(keys, score):
            scores[places] = found
        return scores

    def _fetched(
        self, keys: Sequence[int], fetch: Callable[[Snapshot, Sequence[int]], Sequence[Answer]]
    ) -> Sequence[Answer]:
        """Fetch something of each passage from the collection that it is of."""
        found: dict[int, Answer] = {}
        joint = np.array(keys, dtype=np.int64)
        for places, _, some in self._ask_each(joint, lambda view, local: fetch(view, local.tolist())):
            found.update(zip(places.tolist(), some, strict=True))
        for place, key in enumerate(keys):
            if place not in found:
                raise NotFoundError(f"There is no passage with the key {key}.", "Search again: it was deleted.")
        return [found[place] for place in range(len(keys))]

    def _names(self, keys: Sequence[int]) -> Sequence[str]:
        """Return the name of each passage's collection; those of keys that were found."""
        names = [""] * len(keys)
        for number, places, _ in self._keys.split(np.array(keys, dtype=np.int64)):
            for place in places.tolist():
                names[place] = self._collections[number].name
        return names

    def _renamed(self, number: int, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        name = self._collections[number].name
        keys = self._keys.join(number, np.array([chunk.key for chunk in chunks], dtype=np.int64))
        return [joint_chunk(name, chunk, key) for chunk, key in zip(chunks, keys.tolist(), strict=True)]

    def _placed(self, document: str) -> tuple[int | None, str]:
        """Return which collection a document is of, and what it is called there; None where it is of none."""
        for number, (name, _) in enumerate(self._collections):
            if document.startswith(federated_id(name, "")):
                return number, document[len(federated_id(name, "")) :]
        return None, document


def added_statistics(counted: Sequence[Statistics], terms: Sequence[str]) -> Statistics:
    """Add up what several parts of a collection count."""
    frequencies = {term: sum(one.frequencies.get(term, 0) for one in counted) for term in terms}
    chunks, words = sum(one.chunks for one in counted), sum(one.words for one in counted)
    return Statistics(chunks, words, frequencies, any(one.rounded for one in counted))


def _with_keys(call: Callable[[Snapshot, ChunkKeys], Answer], keys: ChunkKeys, view: Snapshot) -> Answer:
    return call(view, keys)


def _by_source(info: DocumentInfo) -> tuple[str, str]:
    return info.source, info.id


class Collection(NamedTuple):
    """A collection's store, and the name it goes by among several."""

    name: str
    store: Store


class FederatedStore(ReadOnlyStore):
    """Reads several collections as one; each is written by itself.

    Their passages must have been made alike: by one analyzer, and where `by_meaning` by one embedder.
    """

    def __init__(self, collections: Sequence[Collection], *, by_meaning: bool = True) -> None:
        self._collections = tuple(collections)
        self._by_meaning = by_meaning

    @contextmanager
    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> Iterator[FederatedSnapshot]:
        """Open one consistent state of each, as one viewer may see it.

        Raises MismatchError where they were made differently, and LostCollectionError for one that fails, now or while
        the view is used.
        """
        named: list[Named] = []
        joint: FederatedSnapshot | None = None
        opening = ""
        try:
            with ExitStack() as stack:
                for opening, store in self._collections:
                    named.append(Named(opening, stack.enter_context(store.view(viewer, rows_only=rows_only))))
                joint = FederatedSnapshot(named)
                check_alike([(one.name, one.view.fingerprint) for one in named], by_meaning=self._by_meaning)
                yield joint
        except (CorruptError, StoreError) as error:
            # A store turns what its own parts raised into one of these only when its view is closed.
            if len(self._collections) == 1:
                raise
            raise LostCollectionError(opening if joint is None else joint.asked, error) from error

    def info(self) -> StoreInfo:
        """Describe them all: sizes added up."""
        infos = [store.info() for _, store in self._collections]
        return StoreInfo(
            fingerprint=next((info.fingerprint for info in infos if info.fingerprint is not None), None),
            documents=sum(info.documents for info in infos),
            chunks=sum(info.chunks for info in infos),
            generation=sum(info.generation for info in infos),
            segments=sum(info.segments for info in infos),
            bytes_on_disk=sum(info.bytes_on_disk for info in infos),
            pending=sum(info.pending for info in infos),
        )

    def fingerprint(self) -> IndexFingerprint | None:
        """Return the first recipe there is."""
        recipes = (store.fingerprint() for _, store in self._collections)
        return next((fingerprint for fingerprint in recipes if fingerprint is not None), None)

    def verify(self) -> Sequence[Finding]:
        """Verify each."""
        return [finding for _, store in self._collections for finding in store.verify()]

    def close(self) -> None:
        """There is nothing to close: the stores belong to their opener."""

    def get_settings(self) -> Mapping[str, str]:
        """Have none: each keeps its own."""
        return {}


def check_alike(recipes: Sequence[tuple[str, IndexFingerprint | None]], *, by_meaning: bool) -> None:
    """Refuse collections whose scores cannot be compared. Raises MismatchError."""
    made = [(name, fingerprint) for name, fingerprint in recipes if fingerprint is not None]
    for name, fingerprint in made[1:]:
        first, held = made[0]
        if fingerprint.analyzer != held.analyzer:
            _differ(f"{first!r} and {name!r} were made with different analyzers")
        if by_meaning and fingerprint.embedder != held.embedder:
            embedders = f"the embedders {held.embedder.name!r} and {fingerprint.embedder.name!r}"
            _differ(f"{first!r} and {name!r} were made with {embedders}")


def _differ(how: str) -> NoReturn:
    raise MismatchError(
        f"{how}: their scores cannot be compared.", "Join them by rank: `search.multi_index_merge=rrf`."
    )
