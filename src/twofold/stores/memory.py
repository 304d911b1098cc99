"""The memory store: the plain meaning of every promise, for tests, small collections and `":memory:"`.

It scores every passage for every question with the reference formulas. Other stores are held to what it answers.
"""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Readers, Viewer, readers_of
from twofold.domain.errors import InvalidInputError, MismatchError, NotFoundError
from twofold.domain.filters import Label, fields_of, matches, values_of
from twofold.domain.ports import ALL, EmbedderIdentity, Finding, IndexFingerprint, Remake, Scope, StoreInfo
from twofold.domain.snapshots import SnapshotInfo
from twofold.domain.types import (
    Chunk,
    ChunkKeys,
    Clause,
    Document,
    DocumentInfo,
    Entry,
    GroupMember,
    IndexedChunk,
    Metadata,
    PassageTerms,
    Ranking,
    Scores,
    Sizes,
    Statistics,
    TermCounts,
    TermIds,
    TermQuery,
    TermScore,
    Vector,
)
from twofold.stores.checks import check_entries, checked_settings
from twofold.stores.memory_entries import (
    MemoryPassage,
    NamedStates,
    State,
    check_vectors,
    described,
    holds_clause,
    info_of,
    keeping_readers,
    pending_in,
    read_as_today,
    readable,
    stored,
    with_metadata,
    with_vectors,
)
from twofold.stores.past import PastStore
from twofold.text.analyzer import may_expand
from twofold.text.bm25 import (
    counts_with_groups,
    inverse_document_frequency,
    length_norm,
    reference_scores,
    shared_statistics,
    statistics_of,
    with_groups,
)
from twofold.text.phrases import count_in, squeeze
from twofold.text.term_table import ScoredTerms, scored_terms
from twofold.text.tfidf import explain as explain_tfidf
from twofold.text.tfidf import idfs_of, norm_of_query, passage_norm, smooth_idf
from twofold.text.vocabulary import PlainVocabulary
from twofold.vectors.scan import exact_scores

NOTHING = TermCounts({}, 0)


class MemorySnapshot:
    """Answers from one state."""

    def __init__(self, state: State, viewer: Viewer | None = None) -> None:
        self._whole, self._viewer = state, viewer
        self._state = state if viewer is None else replace(state, entries=readable(state.entries, viewer))
        self.missing: Sequence[str] = ()
        held = (indexed for entry in self._state.entries.values() for indexed in entry.chunks)
        self._chunks = {indexed.chunk.key: indexed for indexed in held}
        self._holding: Counter[str] = Counter()  # in how many passages each term occurs; counted when first needed

    @property
    def viewer_key(self) -> str:
        """What tells viewers apart."""
        return "" if self._viewer is None else self._viewer.key

    def sizes(self) -> Sizes:
        """Count the documents and the passages."""
        return Sizes(len(self._state.entries), len(self._chunks))

    @property
    def generation(self) -> int:
        """Counts changes; it never goes back."""
        return self._state.generation

    @property
    def synonyms(self) -> str:
        """The rules of its synonyms, one a line."""
        return self._state.synonyms

    @property
    def fingerprint(self) -> IndexFingerprint | None:
        """What the passages were made by."""
        return self._state.fingerprint

    @property
    def pending(self) -> int:
        """Counts the passages that have no vector yet."""
        return sum(held.vector is None for held in self._chunks.values())

    def search_bm25(self, query: TermQuery, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k best passages by BM25."""
        keys = self._allowed(scope)
        scores = self.score_terms(query, keys)
        return Ranking.of(keys[scores > 0.0], scores[scores > 0.0], k)

    def search_vectors(self, vector: Vector, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k nearest passages by cosine."""
        keys = self._allowed(scope)
        keys = keys[~np.isin(keys, self.without_vector(keys))]
        return Ranking.of(keys, self.score_vector(vector, keys), k)

    def score_terms(self, query: TermQuery, keys: ChunkKeys) -> Scores:
        """Return the true BM25 score of each key."""
        statistics = with_groups(query, query.statistics or self.statistics(query.terms))
        if query.scorer == "tfidf":
            explained = [self._tfidf(query, int(key), statistics) for key in keys]
            return np.array([sum((part.score for part in parts), 0.0) for parts in explained], dtype=np.float64)
        known = replace(query, statistics=statistics)
        totals = [reference_scores(known, [self._named(query, int(key))])[0] for key in keys]
        return np.array(totals, dtype=np.float64)

    def score_vector(self, vector: Vector, keys: ChunkKeys) -> Scores:
        """Return the true cosine of each key."""
        scores = np.zeros(len(keys), dtype=np.float64)
        for place, key in enumerate(keys):
            held = self._chunks.get(int(key))
            if held is not None and held.vector is not None:
                if held.vector.shape != vector.shape:
                    raise MismatchError(
                        f"The question's vector has {len(vector)} dimensions; the index has {len(held.vector)}.",
                        "Search with the model that made the index.",
                    )
                scores[place] = exact_scores(vector, stored(held.vector)[None, :])[0]
        return scores

    def without_vector(self, keys: ChunkKeys) -> ChunkKeys:
        """Return those of the keys whose passages have no vector yet."""
        held = [self._chunks.get(int(key)) for key in keys]
        return keys[np.array([one is not None and one.vector is None for one in held], dtype=np.bool_)]

    def explain_terms(self, query: TermQuery, keys: Sequence[int]) -> ScoredTerms:
        """Return what each term adds to the scores of some passages."""
        statistics = with_groups(query, query.statistics or self.statistics(query.terms))
        passages = [self._named(query, int(key)) for key in keys]
        if query.scorer == "tfidf":
            asked = norm_of_query(query, statistics)
            norms = [asked * self._passage_norm(one) or 1.0 for one in passages]
            held = [one if asked else NOTHING for one in passages]
            return scored_terms(query, idfs_of(query, statistics), [one.counts for one in held], norms)
        idfs = [
            inverse_document_frequency(statistics.chunks, statistics.frequencies.get(term, 0)) for term in query.weights
        ]
        norms = [length_norm(one.length, statistics.average_length, query.k1, query.b) for one in passages]
        return scored_terms(query, idfs, [one.counts for one in passages], norms)

    def _tfidf(self, query: TermQuery, key: int, statistics: Statistics) -> tuple[TermScore, ...]:
        passage = self._terms(key)
        return explain_tfidf(query, passage, self._passage_norm(passage), statistics)

    def _passage_norm(self, passage: TermCounts) -> float:
        if not self._holding:
            self._holding.update(
                term for one in self._chunks.values() for term, often in one.terms.counts.items() if often
            )
        idfs = {term: smooth_idf(len(self._chunks), self._holding[term]) for term in passage.counts}
        return passage_norm(passage.counts, idfs)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count passages, their words, and in how many of them each term occurs."""
        if self._viewer is not None and self._viewer.statistics == "shared":
            everything = (indexed.terms for entry in self._whole.entries.values() for indexed in entry.chunks)
            return shared_statistics(statistics_of(everything, terms))
        return statistics_of((indexed.terms for indexed in self._chunks.values()), terms)

    def count_within(self, scope: Scope, narrower: Sequence[Scope]) -> Sequence[int]:
        """Count for each of the narrower scopes the passages that are in it and in `scope`."""
        keys = self._allowed(scope)
        return [int(np.isin(self._allowed(one), keys).sum()) for one in narrower]

    def count_holding(self, scope: Scope, clauses: Sequence[Clause]) -> Sequence[int]:
        """Count for each clause the passages of a scope that hold it."""
        return self.count_within(scope, [Scope(required=(clause,)) for clause in clauses])

    def vocabularies(self) -> Sequence[PlainVocabulary]:
        """Return the words of all passages."""
        held = self._state.entries.values()
        texts = (squeeze(one.chunk.indexed_text) for entry in held for one in entry.chunks)
        fields = (fields_of(entry.document, one.chunk) for entry in held for one in entry.chunks)
        names = frozenset(name for one in fields for name in one)
        return [PlainVocabulary.of(texts, [entry.document.title for entry in held], names)]

    def within(self, keys: ChunkKeys, scope: Scope) -> ChunkKeys:
        """Return those of the keys whose passages are there and may be found at all."""
        return keys[np.isin(keys, self._allowed(scope))]

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked."""
        return [held.chunk for held in self._entries_of(keys)]

    def fetch(self, keys: Sequence[int]) -> Sequence[MemoryPassage]:
        """Fetch passages with their documents' names, in the order asked."""
        found = []
        for held in self._entries_of(keys):
            document = self._state.entries[held.chunk.document].document
            found.append(MemoryPassage(held.chunk, document.source, document.title, document.metadata))
        return found

    def term_counts(self, keys: Sequence[int]) -> Sequence[TermCounts]:
        """Return what the analyzer made of passages when they were put, in the order asked."""
        return [held.terms for held in self._entries_of(keys)]

    def passage_terms(self, keys: Sequence[int]) -> PassageTerms:
        """Return the same as arrays; a term's number is its place among all the terms there are."""
        held = [one.terms for one in self._entries_of(keys)]
        numbers = {term: number for number, term in enumerate(self._vocabulary())}
        return PassageTerms(
            offsets=np.cumsum([0, *(len(one.counts) for one in held)], dtype=np.int64),
            ids=np.array([numbers[term] for one in held for term in one.counts], dtype=np.uint32),
            frequencies=np.array([often for one in held for often in one.counts.values()], dtype=np.uint16),
            lengths=np.array([one.length for one in held], dtype=np.int64),
        )

    def feedback_gains(self, query: TermQuery, keys: Sequence[int], shares: Scores, terms: int) -> None:
        """Leave the formula to who asks."""

    def document_frequencies(self, ids: TermIds) -> NDArray[np.int64]:
        """Count in how many passages each term occurs."""
        known = self.statistics(tuple(dict.fromkeys(texts := self.term_texts(ids)))).frequencies
        return np.array([known[term] for term in texts], dtype=np.int64)

    def term_texts(self, ids: TermIds) -> Sequence[str]:
        """Return the terms of some numbers that `passage_terms` gives."""
        terms = self._vocabulary()
        return [terms[one] for one in ids.tolist()]

    def may_expand(self, ids: TermIds) -> NDArray[np.bool_]:
        """Mark the terms that feedback may add to a question."""
        return np.array([may_expand(term) for term in self.term_texts(ids)], dtype=np.bool_)

    def _vocabulary(self) -> Sequence[str]:
        return sorted({term for one in self._chunks.values() for term in one.terms.counts})

    def document(self, document: str) -> Document | None:
        """Fetch one document by id, whole."""
        entry = self._state.entries.get(document)
        return None if entry is None else entry.document

    def describe(self, documents: Sequence[str]) -> Mapping[str, DocumentInfo]:
        """Describe documents by id."""
        return {one: info_of(self._state.entries[one]) for one in documents if one in self._state.entries}

    def documents(self) -> Iterator[DocumentInfo]:
        """List all documents by rising source, then id."""
        infos = [info_of(entry) for entry in self._state.entries.values()]
        return iter(sorted(infos, key=lambda info: (info.source, info.id)))

    def chunks_of(self, document: str) -> Sequence[Chunk]:
        """Fetch a document's passages in reading order."""
        entry = self._state.entries.get(document)
        return [] if entry is None else [indexed.chunk for indexed in entry.chunks]

    def stretch(self, document: str, first: int, last: int) -> Sequence[Chunk]:
        """Fetch a document's passages with ordinals from `first` to `last`, both included, in reading order."""
        return [chunk for chunk in self.chunks_of(document) if first <= chunk.ordinal <= last]

    def vectors_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors already stored for passages with exactly these indexed texts."""
        held = {
            one.chunk.indexed_text: stored(one.vector).astype(np.float32)
            for one in self._chunks.values()
            if one.vector is not None
        }
        return {text: held[text] for text in texts if text in held}

    def vectors(self, keys: Sequence[int]) -> Sequence[Vector | None]:
        """Return passages' own vectors as they are stored, in the order asked."""
        return [None if one.vector is None else stored(one.vector).astype(np.float32) for one in self._entries_of(keys)]

    def pending_texts(self, most: int) -> Sequence[str]:
        """Return indexed texts of passages without a vector, each once, in the order of writing."""
        waiting = [one.chunk.indexed_text for one in self._chunks.values() if one.vector is None]
        return list(dict.fromkeys(waiting[:most]))

    def count_documents(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, int]:
        """Count for each label of a field's values the documents of these passages that hold such a value."""
        chunks = [self._chunks[key].chunk for key in keys.tolist() if key in self._chunks]
        fields = [(one.document, fields_of(self._state.entries[one.document].document, one)) for one in chunks]
        pairs = {(name, label(value)) for name, held in fields for value in values_of(held.get(field, ()))}
        return Counter(one for _, one in pairs if one is not None)

    def _entries_of(self, keys: Sequence[int]) -> Sequence[IndexedChunk]:
        missing = [key for key in keys if int(key) not in self._chunks]
        if missing:
            raise NotFoundError(f"There is no passage with the key {missing[0]}.", "Search again: it was deleted.")
        return [self._chunks[int(key)] for key in keys]

    def _named(self, query: TermQuery, key: int) -> TermCounts:
        """Return the terms of a passage, and how often it holds each group of the query."""
        held = self._chunks.get(key)
        if held is None or not query.groups:
            return self._terms(key)
        text, counts = squeeze(held.chunk.indexed_text), held.terms.counts

        def count(member: GroupMember) -> int:
            return count_in(squeeze(member.phrase), text) if member.phrase else counts.get(member.terms[0], 0)

        return replace(held.terms, counts=counts_with_groups(query, held.terms, count))

    def _terms(self, key: int) -> TermCounts:
        held = self._chunks.get(key)
        return NOTHING if held is None else held.terms

    def _allowed(self, scope: Scope) -> ChunkKeys:
        keys = [
            indexed.chunk.key
            for entry in self._state.entries.values()
            for indexed in entry.chunks
            if matches(scope.filter, fields_of(entry.document, indexed.chunk))
            and all(holds_clause(clause, indexed) for clause in scope.required)
            and not any(holds_clause(clause, indexed) for clause in scope.excluded)
        ]
        return np.array(keys, dtype=np.int64)


class MemoryStore:
    """Keeps a collection in this process, for as long as it lives."""

    def __init__(self) -> None:
        self._state = State()
        self._writer = threading.Lock()
        self._named, self._last_readers = NamedStates(), dict[str, Readers | None]()  # those of deleted documents

    @contextmanager
    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> Iterator[MemorySnapshot]:  # noqa: ARG002  # rows are all there is
        """Open one consistent state, as one viewer may see it."""
        yield MemorySnapshot(self._state, viewer)

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Record the recipe of the passages."""
        with self._writer:
            held = self._state.fingerprint
            if held is not None and held != fingerprint and self._state.entries:
                raise MismatchError("The index was made by another recipe.", "Run `twofold index reindex`.")
            self._state = replace(self._state, fingerprint=fingerprint)

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Add or replace documents whole, all of the entries or none."""
        added = {entry.document.id: entry for entry in entries}
        if len(added) != len(entries):
            raise InvalidInputError("The same document is put twice at once.", "Put each document once.")
        check_entries(entries)
        with self._writer:
            if self._state.fingerprint is None:
                raise MismatchError(
                    "The index has no recipe yet.", "Call `ensure_fingerprint` before the first `upsert`."
                )
            width = self._state.fingerprint.embedder.dimensions
            given = (indexed.vector for entry in entries for indexed in entry.chunks)
            check_vectors([vector for vector in given if vector is not None], width)
            held = self._state.entries
            self._change({**held, **{name: keeping_readers(held.get(name), one) for name, one in added.items()}})

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Store for each passage without a vector the one of its indexed text; count those that got one."""
        if not vectors:
            return 0
        with self._writer:
            held = self._state.fingerprint
            if held is None or held.embedder != embedder:
                raise MismatchError("The index is made with another embedder.", "Run `twofold sync` again.")
            check_vectors(list(vectors.values()), embedder.dimensions)
            entries = {name: with_vectors(entry, vectors) for name, entry in self._state.entries.items()}
            waiting = sum(pending_in(entry) for entry in self._state.entries.values())
            given = waiting - sum(map(pending_in, entries.values()))
            if given:
                self._change(entries)
            return given

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents by id, all or none; give how many there were."""
        with self._writer:
            gone = {document for document in documents if document in self._state.entries}
            if gone:
                self._change({name: entry for name, entry in self._state.entries.items() if name not in gone})
            return len(gone)

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Make all passages again by another recipe."""
        with self._writer:
            documents = [entry.document for entry in self._state.entries.values()]
            made = zip(documents, remake(documents), strict=True)
            self._state = replace(self._state, fingerprint=fingerprint)
            self._change({document.id: Entry(document, chunks) for document, chunks in made})

    def info(self) -> StoreInfo:
        """Describe the collection."""
        return described(self._state)

    def fingerprint(self) -> IndexFingerprint | None:
        """Return how the collection was made."""
        return self._state.fingerprint

    def verify(self) -> Sequence[Finding]:
        """Check that every passage is its document's text."""
        return [
            Finding(indexed.chunk.id, "the passage is not what stands at its place in the document", repairable=False)
            for entry in self._state.entries.values()
            for indexed in entry.chunks
            if entry.document.text[indexed.chunk.start : indexed.chunk.end] != indexed.chunk.text
        ]

    def get_settings(self) -> Mapping[str, str]:
        """Return the collection's own settings."""
        return self._state.preferences

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Replace the collection's own settings."""
        kept = MappingProxyType(checked_settings(values))
        with self._writer:
            self._state = replace(self._state, preferences=kept)

    def set_synonyms(self, rules: str) -> None:
        """Replace the collection's synonyms."""
        with self._writer:
            self._state = replace(self._state, synonyms=rules, generation=self._state.generation + 1)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Replace the metadata of documents, all of them or none."""
        with self._writer:
            named = {name: entry for name, entry in self._state.entries.items() if name in changes}
            if named:
                self._change({**self._state.entries, **with_metadata(named, changes)})

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Set who may read documents, all of them or none."""
        kept = {name: readers_of(readers) for name, readers in changes.items()}
        with self._writer:
            changed = {
                name: replace(entry, document=replace(entry.document, readers=kept[name]))
                for name, entry in self._state.entries.items()
                if name in kept
            }
            if changed:
                self._change({**self._state.entries, **changed})

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Note what the collection was synced from."""
        with self._writer:
            self._state = replace(self._state, roots=MappingProxyType({**self._state.roots, **roots}))

    def create_snapshot(self, name: str, created: int) -> None:
        """Name the present state."""
        self._named.add(name, created, self._state)

    def snapshots(self) -> Sequence[SnapshotInfo]:
        """List the snapshots; states share what did not change, and are not measured."""
        return self._named.infos()

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot."""
        self._named.remove(name)

    def at(self, name: str) -> PastStore:
        """Return the collection as it was."""
        last = self._last_readers
        return self._named.at(name, lambda held, viewer: MemorySnapshot(read_as_today(held, self._state, last), viewer))

    def compact(self) -> None:
        """There is nothing to merge."""

    def close(self) -> None:
        """There is nothing to close."""

    def _change(self, entries: Mapping[str, Entry]) -> None:
        for name in self._state.entries.keys() - entries.keys():
            self._last_readers[name] = self._state.entries[name].document.readers
        kept, generation = MappingProxyType(dict(entries)), self._state.generation + 1
        self._state = replace(self._state, entries=kept, generation=generation)
