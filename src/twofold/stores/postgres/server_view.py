"""A view that lets the database rank: no segment is read, and the same bits come out.

BM25 is the formula of `twofold.text.bm25` in SQL, its parts added up in the order of the query. Vectors are compared by
pgvector and the best of them again by the kernel; without pgvector the kernel compares all. Whatever else is asked of a
few passages is worked out here from their rows.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Viewer, rounded
from twofold.domain.filters import Label, fields_of, values_of
from twofold.domain.ports import ALL, IndexFingerprint, Scope
from twofold.domain.types import (
    EMPTY_RANKING,
    Chunk,
    ChunkKeys,
    Clause,
    GroupMember,
    Metadata,
    PassageTerms,
    Ranking,
    Scores,
    Sizes,
    Statistics,
    TermIds,
    TermQuery,
    Vector,
)
from twofold.kernels import cosines
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.resolve import ResolvedTerms, group_scores
from twofold.stores.local.serialization import (
    CHUNK_COLUMNS,
    FETCHED_COLUMNS,
    FIELD_COLUMNS,
    FetchedRow,
    FieldsRow,
    finite_scores,
    read_chunk,
    read_document_fields,
    read_filter_fields,
    read_indexed_text,
    reading,
)
from twofold.stores.local.snapshot import SegmentSnapshot, State, absent, check_width, current_fingerprint
from twofold.stores.local.tfidf import tfidf_added
from twofold.stores.local.view import LocalSnapshot
from twofold.stores.local.visibility import count_visible_documents
from twofold.stores.postgres.connection import PostgresConnection
from twofold.stores.postgres.nearest import Nearest
from twofold.stores.postgres.posting_rows import PostingRows
from twofold.stores.postgres.server_rows import CachedState, Passage, ServerRows
from twofold.text.bm25 import (
    group_frequency,
    inverse_document_frequency,
    length_norms,
    shared_statistics,
    with_groups,
)
from twofold.text.phrases import count_in, squeeze, stands_in
from twofold.text.term_table import ScoredTerms
from twofold.text.tfidf import idfs_of, norm_of_query
from twofold.text.vocabulary import PlainVocabulary

FEW = 64  # as many passages are read to count what stands in them word for word

Floats = NDArray[np.float64]

_BM25 = (
    "SELECT p.key, sum(a.weight * (p.frequency::float8 * ?::float8"
    " / (p.frequency::float8 + ?::float8 * (?::float8 + ?::float8 * p.words::float8 / ?::float8)))"
    " ORDER BY a.at) AS score"
    " FROM unnest(?::bigint[], ?::float8[]) WITH ORDINALITY AS a (term, weight, at)"
    " JOIN posting AS p ON p.edition = ?::bigint AND p.term = a.term{found} GROUP BY p.key"
)


class ServerView(LocalSnapshot):
    """Answers one question from one transaction's rows."""

    def __init__(  # a view's, and what is kept between views
        self,
        connection: PostgresConnection,
        known: KnownTerms,
        state: State,
        viewer: Viewer | None,
        remembered: CachedState,
        tables: PostingRows,
    ) -> None:
        super().__init__(connection, known, (state, _no_segments), viewer)
        self._rows = ServerRows(connection, known, remembered, state, viewer)
        self._nearest = Nearest(self._rows, state, tables)

    def sizes(self) -> Sizes:
        """Count the documents and the passages."""
        return Sizes(count_visible_documents(self._connection, self._viewer), self._rows.totals()[0])

    @property
    def generation(self) -> int:
        """Counts changes; it never goes back."""
        return self._state.generation

    @property
    def synonyms(self) -> str:
        """The rules of its synonyms, one a line."""
        query = "SELECT rules FROM synonyms"
        return self._rows.cached("synonyms", lambda: str(next(self._rows.select(query), ("",))[0]))

    @property
    def fingerprint(self) -> IndexFingerprint | None:
        """What the passages were made by."""
        return self._rows.cached("fingerprint", lambda: current_fingerprint(self._connection))

    @property
    def pending(self) -> int:
        """Counts the passages that have no vector yet."""
        if self._viewer is None or not self._state.pending:
            return self._state.pending
        seen = self._rows.seen("chunk")
        query = f"SELECT count(*) FROM chunk WHERE edition = ? AND vector IS NULL{seen.sql}"  # noqa: S608
        return int(next(self._rows.select(query, self._edition, *seen.bound))[0])

    @reading("a passage")
    def search_bm25(self, query: TermQuery, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k best passages by BM25, or by TF-IDF."""
        if not query.weights or not self._state.chunks:
            return EMPTY_RANKING
        found = self._rows.found("p", scope)
        if query.groups or query.scorer == "tfidf":
            numbers = [one for one in self._rows.numbers(query.terms) if one >= 0]
            held = f"SELECT DISTINCT key FROM posting AS p WHERE edition = ? AND term = ANY(?::bigint[]){found.sql}"  # noqa: S608
            keys = np.array([key for (key,) in self._rows.select(held, self._edition, numbers, *found.bound)], np.int64)
            scores = self.score_terms(query, keys)
            return Ranking.of(keys[scores > 0], finite_scores(scores[scores > 0]), k)
        numbers, weights = self._rows.numbers(query.terms), self._looked_up(query)[1].tolist()
        average = self._statistics(query).average_length
        formula = (query.k1 + 1.0, query.k1, 1.0 - query.b, query.b, average)
        ranked = (
            f"SELECT key, score FROM ({_BM25.format(found=found.sql)}) AS scored"  # noqa: S608
            " WHERE score > 0 ORDER BY score DESC, key LIMIT ?"
        )
        rows = list(self._rows.select(ranked, *formula, numbers, weights, self._edition, *found.bound, k))
        return Ranking.of([key for key, _ in rows], finite_scores(np.array([one for _, one in rows], np.float64)), k)

    @reading("a passage")
    def search_vectors(self, vector: Vector, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k nearest passages by cosine."""
        if not self._state.chunks:
            return EMPTY_RANKING
        check_width(self._state, vector)
        return self._nearest.search(vector, k, scope)

    @reading("a passage")
    def score_terms(self, query: TermQuery, keys: ChunkKeys) -> Scores:
        """Return the true BM25 score of each key."""
        scores = np.zeros(len(keys), dtype=np.float64)
        if not query.weights:
            return scores
        idfs, weights = self._looked_up(query)
        often, norms = self._table(query, keys.tolist())
        if query.scorer == "tfidf":
            held = often.any(axis=1)
            scores[held] = tfidf_added(often[held].astype(np.uint16), weights, idfs, norms[held])
            return scores
        return group_scores(often, ResolvedTerms(tuple(idfs.tolist()), weights, (), (), ()), norms, query.k1)

    @reading("a passage")
    def score_vector(self, vector: Vector, keys: ChunkKeys) -> Scores:
        """Return the true cosine of each key."""
        scores = np.zeros(len(keys), dtype=np.float64)
        found = self._rows.vectors(keys.tolist())
        if found:
            check_width(self._state, vector)
        held = [(place, found[key]) for place, key in enumerate(keys.tolist()) if found.get(key) is not None]
        if held:
            matrix = np.stack([one for _, one in held if one is not None])
            slots = np.arange(len(held), dtype=np.uint32)
            scores[[place for place, _ in held]] = cosines(vector.astype(np.float64), matrix, slots)
        return scores

    def without_vector(self, keys: ChunkKeys) -> ChunkKeys:
        """Return those of the keys whose passages have no vector yet."""
        if not self._state.pending:
            return keys[:0]
        seen = self._rows.seen("chunk")
        query = (
            "SELECT key FROM chunk WHERE edition = ? AND vector IS NULL AND key = ANY(?::bigint[])"  # noqa: S608
            f"{seen.sql}"
        )
        waiting = [key for (key,) in self._rows.select(query, self._edition, keys.tolist(), *seen.bound)]
        return keys[np.isin(keys, waiting)]

    @reading("a passage")
    def explain_terms(self, query: TermQuery, keys: Sequence[int]) -> ScoredTerms:
        """Return what each term adds to the scores of some passages."""
        often, norms = self._table(query, list(keys))
        idfs = tuple(self._looked_up(query)[0].tolist())
        return ScoredTerms(query, idfs, often if query.groups else often.astype(np.uint16), norms)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count live passages, their words, and in how many of them each term occurs."""
        whole = self._counts_all
        numbers = self._rows.numbers(terms)
        held = self._rows.frequencies(numbers, whole=whole)
        counts = {term: held.get(number, 0) for term, number in zip(terms, numbers, strict=True)}
        totals = (self._state.chunks, self._state.words) if whole else self._rows.totals()
        return shared_statistics(Statistics(*totals, counts)) if whole else Statistics(*totals, counts)

    def count_within(self, scope: Scope, narrower: Sequence[Scope]) -> Sequence[int]:
        """Count for each narrower scope the passages that are in it and in `scope`."""
        among = None if scope == ALL else self._rows.rows_in(scope)
        found = [self._rows.rows_in(one) for one in narrower]
        return [len(one) if among is None else len(np.intersect1d(one, among, assume_unique=True)) for one in found]

    @reading("a passage")
    def count_holding(self, scope: Scope, clauses: Sequence[Clause]) -> Sequence[int]:
        """Count for each clause the passages of a scope that hold all of its terms; 0 where none holds its words."""
        return [self._holding(self._rows.rows_in(replace(scope, required=(*scope.required, _terms(one)))), one)
                for one in clauses]  # fmt: skip

    def _holding(self, rows: NDArray[np.int64], clause: Clause) -> int:
        wanted, found = squeeze(clause.verbatim), 0
        for at in range(0, len(rows), FEW):
            query = "SELECT heading, header, text FROM chunk WHERE row = ANY(?::bigint[])"
            some = self._rows.select(query, rows[at : at + FEW].tolist())
            found += sum(not wanted or stands_in(wanted, squeeze(read_indexed_text(*row))) for row in some)
            if found and len(rows) > FEW:
                return len(rows)
        return found

    def vocabularies(self) -> Sequence[PlainVocabulary]:
        """Return the words of the passages, titles and fields that the viewer may read, counted for a generation."""
        return [self._rows.cached("words", self._words)]

    @reading("a passage")
    def _words(self) -> PlainVocabulary:
        seen = self._rows.seen("chunk")
        texts = f"SELECT heading, header, text FROM chunk WHERE edition = ?{seen.sql}"  # noqa: S608
        joined = "FROM chunk JOIN document ON document.row = chunk.document"
        fields = f"SELECT {FIELD_COLUMNS} {joined} WHERE edition = ?{seen.sql} ORDER BY chunk.row"
        held = [FieldsRow(*row) for row in self._rows.select(fields, self._edition, *seen.bound)]
        names = (name for one in held for name in _fields(one))
        found = (squeeze(read_indexed_text(*row)) for row in self._rows.select(texts, self._edition, *seen.bound))
        return PlainVocabulary.of(found, [one.title for one in held], frozenset(names))

    def within(self, keys: ChunkKeys, scope: Scope) -> ChunkKeys:
        """Return those of the keys whose passages are there and may be found at all."""
        found = self._rows.found("chunk", scope)
        query = f"SELECT key FROM chunk WHERE edition = ? AND key = ANY(?::bigint[]){found.sql}"  # noqa: S608
        there = [key for (key,) in self._rows.select(query, self._edition, keys.tolist(), *found.bound)]
        return keys[np.isin(keys, there)]

    @reading("a passage")
    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked."""
        return [read_chunk(row[1:]) for row in self._fetched(CHUNK_COLUMNS, keys)]

    def fetch(self, keys: Sequence[int]) -> Sequence[FetchedRow]:
        """Fetch passages with their documents' names, in the order asked, by one statement."""
        return [FetchedRow(row) for row in self._fetched(FETCHED_COLUMNS, keys)]

    def _fetched(self, columns: str, keys: Sequence[int]) -> list[tuple[Any, ...]]:
        seen = self._rows.seen("chunk")
        query = (
            f"SELECT key, {columns} FROM chunk JOIN document ON document.row = chunk.document"  # noqa: S608
            f" WHERE edition = ? AND key = ANY(?::bigint[]){seen.sql}"
        )
        wanted = [int(key) for key in keys]
        found = {row[0]: row for row in self._rows.select(query, self._edition, wanted, *seen.bound)} if wanted else {}
        for key in wanted:
            if key not in found:
                raise absent(key)
        return [found[key] for key in wanted]

    @reading("a passage")
    def passage_terms(self, keys: Sequence[int]) -> PassageTerms:
        """Return the terms of passages as arrays."""
        held = self._passages_of(keys)
        return PassageTerms(
            np.cumsum([0, *(len(one.ids) for one in held)], dtype=np.int64),
            np.concatenate([np.empty(0, np.uint32), *(one.ids for one in held)]),
            np.concatenate([np.empty(0, np.uint16), *(one.frequencies for one in held)]),
            np.array([one.words for one in held], dtype=np.int64),
        )

    def feedback_gains(self, query: TermQuery, keys: Sequence[int], shares: Scores, terms: int) -> None:
        """Leave the formula to who asks."""

    def document_frequencies(self, ids: TermIds) -> NDArray[np.int64]:
        """Count in how many live passages each term occurs, by the numbers that `passage_terms` gives."""
        held = self._rows.frequencies(ids.tolist(), whole=self._counts_all)
        counts = [held.get(one, 0) for one in ids.tolist()]
        return np.array(list(map(rounded, counts)) if self._counts_all else counts, dtype=np.int64)

    @reading("a term")
    def term_texts(self, ids: TermIds) -> Sequence[str]:
        """Return the terms of some numbers that `passage_terms` gives."""
        return self._rows.texts(ids.tolist())

    def vectors(self, keys: Sequence[int]) -> Sequence[Vector | None]:
        """Return passages' own vectors as they are stored, in the order asked."""
        self._passages_of(keys)
        found = self._rows.vectors([int(key) for key in keys])
        held = (found[int(key)] for key in keys)
        return [None if one is None else one.astype(np.float32) for one in held]

    @reading("a passage")
    def count_documents(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, int]:
        """Count for each label of a field's values the documents of these passages that hold such a value."""
        seen = self._rows.seen("chunk")
        query = (
            f"SELECT {FIELD_COLUMNS} FROM chunk JOIN document ON document.row = chunk.document"  # noqa: S608
            f" WHERE edition = ? AND key = ANY(?::bigint[]){seen.sql}"
        )
        pairs = set()
        for row in self._rows.select(query, self._edition, keys.tolist(), *seen.bound):
            held = FieldsRow(*row)
            pairs |= {(held.document, label(value)) for value in values_of(_fields(held).get(field, ()))}
        counts: dict[Hashable, int] = {}
        for _, name in pairs:
            if name is not None:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def _passages_of(self, keys: Sequence[int]) -> list[Passage]:
        found = self._rows.passages([int(key) for key in keys])
        for key in keys:
            if int(key) not in found:
                raise absent(int(key))
        return [found[int(key)] for key in keys]

    def _statistics(self, query: TermQuery) -> Statistics:
        """Return the counts that a query is scored by, its groups counted as terms too."""
        known = query.statistics
        if known is None:
            known = self._rows.cached(("counts", query.terms), lambda: self.statistics(query.terms))
        return with_groups(query, known)

    def _looked_up(self, query: TermQuery) -> tuple[Floats, Floats]:
        """Return how rare each name of the query is, and its weight times that."""
        statistics = self._statistics(query)
        if query.scorer == "tfidf":
            idfs = list(idfs_of(query, statistics))
        else:
            held = statistics.frequencies
            idfs = [inverse_document_frequency(statistics.chunks, held.get(name, 0)) for name in query.weights]
        rare = np.array(idfs, dtype=np.float64)
        return rare, np.fromiter(query.weights.values(), dtype=np.float64, count=len(idfs)) * rare

    def _table(self, query: TermQuery, keys: Sequence[int]) -> tuple[Floats, Floats]:
        """Return how often passages hold each name of the query, (keys, names), and their norms."""
        held = self._rows.passages(keys)
        numbers = np.array(self._rows.numbers(query.terms), dtype=np.int64)
        columns = np.zeros((len(keys), len(numbers)), dtype=np.float64)
        norms = np.ones(len(keys), dtype=np.float64)
        there = [place for place, key in enumerate(keys) if key in held]
        for place in there:
            one = held[keys[place]]
            at = np.minimum(one.ids.searchsorted(numbers), max(len(one.ids) - 1, 0))
            if len(one.ids):
                columns[place] = np.where(one.ids[at] == numbers, one.frequencies[at], 0)
        words = np.array([held[keys[place]].words for place in there], dtype=np.int64)
        statistics = self._statistics(query)
        if query.scorer == "tfidf":
            asked = norm_of_query(query, statistics) or math.inf
            norms[there] = [asked * one for one in self._lengths([held[keys[place]] for place in there])]
        else:
            norms[there] = length_norms(words, statistics.average_length, query.k1, query.b)
        return (self._grouped(query, keys, columns) if query.groups else columns), norms

    def _lengths(self, passages: Sequence[Passage]) -> list[float]:
        """Return the length of each passage's TF-IDF vector, its terms added up by rising number."""
        numbers = np.unique(np.concatenate([np.empty(0, np.uint32), *(one.ids for one in passages)]))
        held, chunks = self._rows.frequencies(numbers.tolist()), self._rows.totals()[0]
        holding = np.array([held.get(number, 0) for number in numbers.tolist()], dtype=np.int64)
        idfs = np.log((1.0 + chunks) / (1.0 + holding)) + 1.0
        lengths = []
        for one in passages:
            weighed = one.frequencies * idfs[numbers.searchsorted(one.ids)]
            squares = np.add.accumulate(weighed * weighed)
            lengths.append(math.sqrt(squares[-1]) if len(squares) else 1.0)
        return lengths

    def _grouped(self, query: TermQuery, keys: Sequence[int], columns: Floats) -> Floats:
        """Return how often passages hold each name of a query with groups."""
        phrases = any(member.phrase for members in query.groups.values() for member in members)
        texts = self._rows.indexed_texts(keys) if phrases else {}
        folded = {key: squeeze(text) for key, text in texts.items()}
        of_term = {term: column for column, term in enumerate(query.terms)}
        made = np.zeros((len(keys), len(query.weights)), dtype=np.float64)

        def count(place: int, member: GroupMember) -> int:
            if member.phrase:
                return count_in(squeeze(member.phrase), folded.get(keys[place], ""))
            return int(columns[place, of_term[member.terms[0]]])

        for at, name in enumerate(query.weights):
            if name not in query.groups:
                made[:, at] = columns[:, of_term[name]]
                continue
            for place in range(len(keys)):
                made[place, at] = group_frequency(query.groups[name], lambda one, place=place: count(place, one))  # type: ignore[misc]
        return made


def _terms(clause: Clause) -> Clause:
    return Clause(clause.terms)


def _fields(row: FieldsRow) -> Metadata:
    return fields_of(read_document_fields(row), read_filter_fields(row))


def _no_segments() -> SegmentSnapshot:
    message = "the database ranks: no segment is read"
    raise AssertionError(message)
