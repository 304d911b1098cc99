"""A view: one snapshot and the transaction it was read in, for the length of one question."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Readers, Viewer, rounded
from twofold.domain.filters import Label
from twofold.domain.ports import ALL, IndexFingerprint, Scope
from twofold.domain.types import (
    EMPTY_RANKING,
    MAX_INTEGER,
    Chunk,
    ChunkKeys,
    Clause,
    Document,
    DocumentInfo,
    FeedbackGains,
    PassageTerms,
    Ranking,
    Scores,
    Sizes,
    Statistics,
    TermCounts,
    TermIds,
    TermQuery,
    Vector,
)
from twofold.kernels import FoundRows, bm25_at, bm25_top, cosines, occurrences, order_found
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local import serialization
from twofold.stores.local.document_counts import documents_by_label
from twofold.stores.local.feedback import feedback_gains
from twofold.stores.local.fetched_rows import fetched_rows
from twofold.stores.local.found_passages import FoundPassages, Held
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.resolve import (
    ResolvedTerms,
    document_frequencies,
    group_scores,
    group_search,
    named_frequencies,
    resolve,
    statistics_of,
    texts_of,
)
from twofold.stores.local.scoping import Mask, count_holding, count_within, masks_of, storable
from twofold.stores.local.serialization import READERS_COLUMN, FetchedRow, reading
from twofold.stores.local.snapshot import Opened, SegmentSnapshot, absent, check_width, row_of, synonyms_of, vector_of
from twofold.stores.local.tfidf import tfidf_added, tfidf_top
from twofold.stores.local.visibility import count_visible_documents, visible_snapshot, visible_words
from twofold.text.bm25 import shared_statistics
from twofold.text.term_table import ScoredTerms
from twofold.text.vocabulary import PlainVocabulary
from twofold.vectors.scan import Plane, nearest


class LocalSnapshot:
    """Answers one question from one snapshot. The connection stands in a read transaction of the same generation."""

    missing: Sequence[str] = ()
    info_columns = serialization.INFO_COLUMNS
    pending_table = "chunk INDEXED BY chunk_pending"

    def __init__(
        self, connection: CatalogConnection, known: KnownTerms, opened: Opened, viewer: Viewer | None = None
    ) -> None:
        self._connection, self._known, self._viewer = connection, known, viewer
        self._state, self._segments = opened
        self._edition = self._state.edition
        self._counts_all = viewer is not None and viewer.statistics == "shared"  # also what the viewer may not read
        self._resolved_queries: dict[int, tuple[TermQuery, ResolvedTerms]] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._found = FoundPassages()
        self._met: dict[str, int] = {}  # numbers of terms
        self._infos: dict[str, tuple[Any, ...]] = {}

    @cached_property
    def _whole(self) -> SegmentSnapshot:
        """All segments: those who read rows alone, as a sync does, never open them."""
        return self._segments()

    @cached_property
    def _snapshot(self) -> SegmentSnapshot:
        """The segments as the viewer may see them."""
        return self._whole if self._viewer is None else visible_snapshot(self._connection, self._whole, self._viewer)

    @property
    def viewer_key(self) -> str:
        """What tells viewers apart."""
        return "" if self._viewer is None else self._viewer.key

    def sizes(self) -> Sizes:
        """Count the documents and the passages."""
        return Sizes(count_visible_documents(self._connection, self._viewer), self._snapshot.state.chunks)

    @property
    def generation(self) -> int:
        """Counts changes; it never goes back."""
        return self._state.generation

    @property
    def synonyms(self) -> str:
        """The rules of its synonyms, one a line."""
        return synonyms_of(self._connection, self._whole)

    @property
    def fingerprint(self) -> IndexFingerprint | None:
        """What the passages were made by."""
        return self._snapshot.fingerprint

    @property
    def pending(self) -> int:
        """Counts the passages that have no vector yet."""
        return (self._state if self._viewer is None else self._snapshot.state).pending

    @reading("a segment")
    def search_bm25(self, query: TermQuery, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k best passages by BM25, or by TF-IDF."""
        if not query.weights or not self._snapshot.parts:
            return EMPTY_RANKING
        terms = self._resolved(query)
        masks = masks_of(self._connection, self._snapshot, scope)
        if query.groups or query.scorer == "tfidf":
            found = (self._searched(query, terms, place, mask, k) for place, mask in enumerate(masks))
            return self._noted(order_found(tuple(found), k))
        segments = [part.segment for part in self._snapshot.parts]
        parts = tuple(
            (one.slots, one.frequencies, *stretch, norms, mask, one.keys)
            for one, stretch, norms, mask in zip(segments, terms.stretches, terms.norms, masks, strict=True)
        )
        return self._noted(bm25_top(parts, terms.weights, query.k1, k))

    def _searched(self, query: TermQuery, terms: ResolvedTerms, place: int, mask: Mask | None, k: int) -> FoundRows:
        """Return what one part holds of a question with groups, or by TF-IDF."""
        held, norms = self._snapshot.parts[place].segment, terms.norms[place]
        if query.groups:
            return (held.keys, *group_search(held, query, terms, place, mask))
        postings = (held.slots, held.frequencies, *terms.stretches[place])
        return (held.keys, *tfidf_top(*postings, terms.weights, np.array(terms.idfs), norms, mask, k))

    @reading("a segment")
    def search_vectors(self, vector: Vector, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k nearest passages by cosine."""
        if not self._snapshot.parts:
            return EMPTY_RANKING
        check_width(self._state, vector)
        masks = self._with_vectors(masks_of(self._connection, self._snapshot, scope))
        segments = [part.segment for part in self._snapshot.parts]
        pairs = zip(segments, masks, strict=True)
        planes = [Plane(one.vectors, one.quantized, one.bit_codes, mask) for one, mask in pairs]
        found = nearest(vector, planes, k, alone=len(self._whole.views) == 1)
        return self._noted(order_found(tuple((one.keys, *near) for one, near in zip(segments, found, strict=True)), k))

    def _noted(self, found: tuple[ChunkKeys, Scores, TermIds, TermIds]) -> Ranking:
        """Return a ranking of keys and scores; in which part and slot each key is, is noted."""
        keys, scores, parts, slots = found
        self._found.note(keys, parts, slots)
        return Ranking(keys, scores)

    @reading("a segment")
    def score_terms(self, query: TermQuery, keys: ChunkKeys) -> Scores:
        """Return the true BM25 score of each key."""
        scores = np.full(len(keys), 0.0)  # `zeros` would let go of the interpreter's lock
        if not query.weights:
            return scores
        terms = self._resolved(query)
        for place, places, slots in self._located(keys):
            norms = terms.norms[place]
            if query.groups:
                often = self._often(terms, place, slots)
                named = named_frequencies(self._snapshot.parts[place].segment, query, often, slots)
                scores[places] = group_scores(named, terms, norms[slots], query.k1)
            elif query.scorer == "tfidf":
                often = self._often(terms, place, slots)
                scores[places] = tfidf_added(often, terms.weights, np.array(terms.idfs), norms[slots])
            else:
                held = self._snapshot.parts[place].segment
                arrays = (held.forward_offsets, held.forward_places, held.forward_frequencies, terms.places[place])
                scores[places] = bm25_at(*arrays, terms.weights, norms, query.k1, slots)
        return scores

    @reading("a segment")
    def score_vector(self, vector: Vector, keys: ChunkKeys) -> Scores:
        """Return the true cosine of each key."""
        scores = np.zeros(len(keys), dtype=np.float64)
        asked = vector.astype(np.float64)
        for place, places, slots in self._located(keys):
            check_width(self._state, vector)
            held = self._snapshot.parts[place].segment
            scores[places] = cosines(asked, held.vectors, slots)
        return scores

    @reading("a segment")
    def without_vector(self, keys: ChunkKeys) -> ChunkKeys:
        """Return those of the keys whose passages have no vector yet."""
        waiting = np.zeros(len(keys), dtype=np.bool_)
        if self.pending:
            for place, places, slots in self._located(keys):
                waiting[places] = ~self._snapshot.parts[place].segment.embedded[slots]
        return keys[waiting]

    @reading("a segment")
    def explain_terms(self, query: TermQuery, keys: Sequence[int]) -> ScoredTerms:
        """Return what each term adds to the scores of some passages."""
        terms = self._resolved(query)
        frequencies = np.zeros((len(keys), len(query.weights)), np.float64 if query.groups else np.uint16)
        norms = np.ones(len(keys))
        for place, places, slots in self._located(np.array(keys, dtype=np.int64)) if len(query.weights) else ():
            held, often = self._snapshot.parts[place].segment, self._often(terms, place, slots)
            rows = named_frequencies(held, query, often, slots) if query.groups else often
            for at, slot, row in zip(places.tolist(), slots.tolist(), rows, strict=True):  # few: numpy would let go
                norms[at], frequencies[at] = terms.norms[place][slot], row
        return ScoredTerms(query, terms.idfs, frequencies, norms)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count live passages, their words, and in how many of them each term occurs."""
        counted = self.counted(terms)
        return shared_statistics(counted) if self._counts_all else counted

    @reading("a segment")
    def counted(self, terms: Sequence[str]) -> Statistics:
        """Return the same before it is rounded for viewers."""
        return statistics_of(self._whole if self._counts_all else self._snapshot, self._known, terms)

    @reading("a segment")
    def count_within(self, scope: Scope, narrower: Sequence[Scope]) -> Sequence[int]:
        """Count for each narrower scope the passages that are in it and in `scope`."""
        return count_within(self._connection, self._snapshot, scope, narrower)

    @reading("a segment")
    def count_holding(self, scope: Scope, clauses: Sequence[Clause]) -> Sequence[int]:
        """Count for each clause the passages of a scope that hold all of its terms; 0 where none holds its words."""
        return count_holding(self._snapshot, masks_of(self._connection, self._snapshot, scope), clauses)

    @reading("a segment")
    def vocabularies(self) -> Sequence[PlainVocabulary]:
        """Return the words of the collection part by part."""
        if self._viewer is not None:
            return [visible_words(self._snapshot)]
        return [part.segment.vocabulary for part in self._snapshot.parts]

    @reading("a segment")
    def within(self, keys: ChunkKeys, scope: Scope) -> ChunkKeys:
        """Return those of the keys whose passages are there and may be found at all."""
        kept = np.zeros(len(keys), dtype=np.bool_)
        masks = masks_of(self._connection, self._snapshot, scope)
        for place, places, slots in self._located(keys):
            mask = masks[place]
            kept[places] = True if mask is None else mask[slots] != 0
        return keys[kept]

    @reading("a segment")
    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked."""
        wanted = [row_of(self._snapshot, key, place) for key, place in zip(keys, self._places_of(keys), strict=True)]
        listed, bound = self._connection.among(wanted)
        query = (  # one statement for all of them, and for what `describe` is asked for next
            f"SELECT chunk.row, {serialization.CHUNK_COLUMNS}, {self.info_columns} FROM chunk"  # noqa: S608
            f" JOIN document ON document.row = chunk.document WHERE chunk.row IN {listed.replace('?', '?2')}"
        )
        found, after_chunk = {}, 1 + serialization.CHUNK_WIDTH
        for columns in self._connection.execute(query, (self._edition, bound)):
            chunk = found[columns[0]] = serialization.read_chunk(columns[1:after_chunk])
            self._infos[chunk.document] = columns[after_chunk:]
        missing = [key for key, row in zip(keys, wanted, strict=True) if row not in found]
        if missing:
            raise absent(missing[0])
        return [found[row] for row in wanted]

    @reading("a segment")
    def fetch(self, keys: Sequence[int]) -> Sequence[FetchedRow]:
        """Fetch passages with their documents' names, in the order asked, by one statement."""
        rows = [row_of(self._snapshot, key, place) for key, place in zip(keys, self._places_of(keys), strict=True)]
        found = fetched_rows(self._connection, self._snapshot, rows)
        for key, row in zip(keys, rows, strict=True):
            if row not in found:
                raise absent(key)
        return [FetchedRow(found[row]) for row in rows]

    @reading("a segment")
    def term_counts(self, keys: Sequence[int]) -> Sequence[TermCounts]:
        """Return what the analyzer made of passages when they were put, in the order asked."""
        held = self.passage_terms(keys)
        texts, often = self.term_texts(held.ids), held.frequencies.tolist()
        return [
            TermCounts(dict(zip(texts[start:end], often[start:end], strict=True)), length)
            for (start, end), length in zip(pairwise(held.offsets.tolist()), held.lengths.tolist(), strict=True)
        ]

    @reading("a segment")
    def passage_terms(self, keys: Sequence[int]) -> PassageTerms:
        """Return the same as arrays, read from the segments' forward indexes."""
        ids, often, lengths = [np.empty(0, np.uint32)], [np.empty(0, np.uint16)], []
        for key, place in zip(keys, self._places_of(keys), strict=True):
            if place is None:
                raise absent(key)
            held, slot = self._snapshot.parts[place[0]].segment, place[1]
            terms = slice(int(held.forward_offsets[slot]), int(held.forward_offsets[slot + 1]))
            ids.append(held.terms[held.forward_places[terms]])
            often.append(held.forward_frequencies[terms])
            lengths.append(int(held.lengths[slot]))
        offsets = np.cumsum([len(one) for one in ids], dtype=np.int64)
        return PassageTerms(offsets, np.concatenate(ids), np.concatenate(often), np.array(lengths, dtype=np.int64))

    @reading("a segment")
    def feedback_gains(self, query: TermQuery, keys: Sequence[int], shares: Scores, terms: int) -> FeedbackGains | None:
        """Return what terms gain by passages; None where it is to be worked out of `passage_terms`."""
        places = [place for place in self._places_of(keys) if place is not None]
        if self._counts_all or len(places) < len(keys):
            return None
        found = feedback_gains(self._snapshot, self._known, query, places, shares, terms)
        if found is None:
            return None
        gains, numbers = found
        self._met.update(numbers)
        return gains

    @reading("a segment")
    def document_frequencies(self, ids: TermIds) -> NDArray[np.int64]:
        """Count in how many live passages each term occurs, by the numbers that `passage_terms` gives."""
        if self._counts_all:
            return np.array([rounded(one) for one in document_frequencies(self._whole, ids).tolist()], dtype=np.int64)
        return document_frequencies(self._snapshot, ids)

    @reading("a segment")
    def term_texts(self, ids: TermIds) -> Sequence[str]:
        """Return the terms of some numbers that `passage_terms` gives."""
        return texts_of(self._snapshot, self._known, ids)

    @reading("a segment")
    def may_expand(self, ids: TermIds) -> NDArray[np.bool_]:
        """Mark the terms that feedback may add to a question."""
        return self._known.may_expand(ids, self.term_texts)

    def document(self, document: str) -> Document | None:
        """Fetch one document by id, whole."""
        query = f"SELECT {serialization.DOCUMENT_COLUMNS} FROM document WHERE id = ?"  # noqa: S608
        row = self._connection.execute(query, (document,)).fetchone() if storable(document) else None
        found = None if row is None else serialization.read_document(row)
        return found if found is not None and self._may_read(found.readers) else None

    def describe(self, documents: Sequence[str]) -> Mapping[str, DocumentInfo]:
        """Describe documents by id."""
        query = f"SELECT {self.info_columns} FROM document WHERE id = ?2"  # noqa: S608
        found = {}
        for document in filter(storable, documents):
            row = self._infos.get(document) or self._connection.execute(query, (self._edition, document)).fetchone()
            if row is not None:
                info = serialization.read_info(row)
                if self._may_read(info.readers):
                    found[document] = info
        return found

    def documents(self) -> Iterator[DocumentInfo]:
        """List all documents by rising source, then id."""
        query = f"SELECT {self.info_columns} FROM document ORDER BY source, id"  # noqa: S608
        for row in self._connection.execute(query, (self._edition,)):
            info = serialization.read_info(row)
            if self._may_read(info.readers):
                yield info

    def chunks_of(self, document: str) -> Sequence[Chunk]:
        """Fetch a document's passages in reading order."""
        query = (
            f"SELECT {serialization.CHUNK_COLUMNS} FROM chunk JOIN document ON document.row = chunk.document"  # noqa: S608
            " WHERE document.id = ? AND edition = ? ORDER BY ordinal"
        )
        if not self._is_there(document):
            return []
        return [serialization.read_chunk(row) for row in self._connection.execute(query, (document, self._edition))]

    def stretch(self, document: str, first: int, last: int) -> Sequence[Chunk]:
        """Fetch a document's passages with ordinals from `first` to `last`, both included, in reading order."""
        if not self._is_there(document):
            return []
        query = (
            f"SELECT {serialization.CHUNK_COLUMNS} FROM document JOIN chunk ON chunk.document = document.row"  # noqa: S608
            " WHERE document.id = ? AND edition = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal"
        )
        bounds = max(first, 0), min(last, MAX_INTEGER)
        found = self._connection.execute(query, (document, self._edition, *bounds))
        return [serialization.read_chunk(row) for row in found]

    def vectors_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors already stored for passages with exactly these indexed texts."""
        query = (
            f"SELECT vector, {READERS_COLUMN} FROM chunk CROSS JOIN document ON document.row = chunk.document"  # noqa: S608
            " WHERE edition = ? AND text_hash = ? AND vector IS NOT NULL"
        )
        found: dict[str, Vector] = {}
        if self._state.pending == self._state.chunks:
            return found
        for text in texts:
            rows = self._connection.execute(query, (self._edition, serialization.text_hash(text)))
            vector = next((held for held, readers in rows if self._may_read_text(readers)), None)
            if vector is not None:
                found[text] = serialization.unpack_vector(vector)
        return found

    @reading("a segment")
    def vectors(self, keys: Sequence[int]) -> Sequence[Vector | None]:
        """Return passages' own vectors as they are stored, in the order asked."""
        return [vector_of(self._snapshot, key, at) for key, at in zip(keys, self._places_of(keys), strict=True)]

    def pending_texts(self, most: int) -> Sequence[str]:
        """Return indexed texts of passages without a vector, each once, in the order of writing."""
        query = (
            f"SELECT {READERS_COLUMN}, heading, header, chunk.text FROM {self.pending_table}"  # noqa: S608
            " CROSS JOIN document ON document.row = chunk.document"
            " WHERE edition = ? AND vector IS NULL ORDER BY chunk.row LIMIT ?"
        )
        bound = most if self._viewer is None else MAX_INTEGER
        waiting = self._connection.execute(query, (self._edition, bound))
        rows = islice((row for readers, *row in waiting if self._may_read_text(readers)), most)
        return list(dict.fromkeys(serialization.read_indexed_text(*row) for row in rows))

    def count_documents(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, int]:
        """Count for each label of a field's values the documents of these passages that hold such a value."""
        return {name: len(rows) for name, rows in self.documents_of(keys, field, label).items()}

    @reading("a segment")
    def documents_of(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, NDArray[np.int64]]:
        """Return for each label the rows of these documents, each once."""
        return documents_by_label(self._snapshot, self._located(keys), field, label)

    def _may_read(self, readers: Readers | None) -> bool:
        return self._viewer is None or self._viewer.may_read(readers)

    def _may_read_text(self, text: object) -> bool:
        return self._viewer is None or self._viewer.may_read(serialization.read_readers(text))

    def _is_there(self, document: str) -> bool:
        """Return whether a document is there for the viewer."""
        if not storable(document) or self._viewer is None:
            return storable(document)
        query = f"SELECT {READERS_COLUMN} FROM document WHERE id = ?"  # noqa: S608
        row = self._connection.execute(query, (document,)).fetchone()
        return row is not None and self._may_read_text(row[0])

    def _with_vectors(self, masks: Sequence[Mask | None]) -> Sequence[Mask | None]:
        """Return masks without the passages that have no vector yet."""
        if not self.pending:
            return masks
        embedded = [part.segment.embedded.view(np.uint8) for part in self._snapshot.parts]
        return [has if mask is None else mask & has for mask, has in zip(masks, embedded, strict=True)]

    def _resolved(self, query: TermQuery) -> ResolvedTerms:
        """Look a question's terms up; a view mostly hears two questions, several times over."""
        held = self._resolved_queries.get(id(query))
        if held is None:
            held = self._resolved_queries[id(query)] = (
                query,
                resolve(self._snapshot, self._known, self._counted(query), self._met),
            )
        return held[1]

    def _counted(self, query: TermQuery) -> TermQuery:
        """Return a question with the counts of all passages, rounded, where the viewer gets those."""
        if not self._counts_all or query.statistics is not None:
            return query
        return replace(query, statistics=self.statistics(query.terms))

    def _often(self, terms: ResolvedTerms, place: int, slots: NDArray[np.uint32]) -> NDArray[np.uint16]:
        """Return how often each term occurs in slots of one part: (slots, terms)."""
        held = self._snapshot.parts[place].segment
        arrays = (held.forward_offsets, held.forward_places, held.forward_frequencies)
        return occurrences(*arrays, terms.places[place], slots)

    def _located(self, keys: ChunkKeys) -> Sequence[Held]:
        """Find the living passages among the keys: which part, their places among the keys, their slots."""
        found = self._found.places(keys, len(self._snapshot.parts))
        return list(self._located_by_key(keys)) if found is None else found

    def _located_by_key(self, keys: ChunkKeys) -> Iterator[Held]:
        """Find the same by the keys alone."""
        for place, part in enumerate(self._snapshot.parts):
            places, slots = part.segment.slots_of_keys(keys)
            if part.live is not None:
                living = part.live[slots] != 0
                places, slots = places[living], slots[living]
            if len(places):
                yield place, places, slots.astype(np.uint32)

    def _places_of(self, keys: Sequence[int]) -> Sequence[tuple[int, int] | None]:
        """Return the part and the slot of each living passage; a view is asked for the same few again and again."""
        if any(key not in self._places for key in keys):
            for place, places, slots in self._located(np.array(keys, dtype=np.int64)):
                for at, slot in zip(places.tolist(), slots.tolist(), strict=True):
                    self._places[keys[at]] = place, slot
        return [self._places.get(key) for key in keys]
