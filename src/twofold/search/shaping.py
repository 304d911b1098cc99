"""The stages of a search that only what is asked of its results wakes: they score, order, leave out and count."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Operator, kind_of, values_of
from twofold.domain.ports import Scope, Snapshot
from twofold.domain.types import Chunk, ChunkKeys, GroupMember, Metadata, Ranking, Scalar, Scores, TermQuery
from twofold.ranking.fusion import Candidates, union
from twofold.ranking.mmr import mmr_order, relevance_of
from twofold.ranking.rescoring import (
    AGE,
    BM25,
    COSINE,
    SCORE,
    Recency,
    RecencyStep,
    ScoreExpression,
    ScoreStep,
    age_in_days,
    now_of,
)
from twofold.search.document_names import document_named
from twofold.search.facets import FacetQuery, facet_of
from twofold.search.request import QueryVariant
from twofold.search.result import Facet, Step
from twofold.search.retrieve import scope_of
from twofold.search.stages import condition_of
from twofold.search.state import PipelineState
from twofold.text.term_table import ScoredTerms

if TYPE_CHECKING:
    from twofold.search.result_plan import SortKey

MAX_PASSAGE_NUMBER = 9  # digits


def scored(state: PipelineState, expression: ScoreExpression) -> PipelineState:
    """Replace every score by what a formula makes of it and of the passage's fields."""
    if not len(state.ranking):
        return state
    with state.watch.step("score"):
        inputs = {name: _input(state, name) for name in expression.names if name != SCORE}
        after = expression.evaluate({**inputs, SCORE: state.ranking.scores})
    steps = {
        key: Step("score", before, made, ScoreStep(expression.text, {name: float(inputs[name][at]) for name in inputs}))
        for at, (key, before, made) in enumerate(_changes(state.ranking, after))
    }
    return state.after("score", _reordered(state.ranking, after), steps=steps, decisions=(expression.text,))


def _input(state: PipelineState, name: str) -> Scores:
    """Return what each candidate has for a name of a formula, 0 for what it has not."""
    if name in (BM25, COSINE):
        return _raw(state, "bm25" if name == BM25 else "vector")
    fields = state.passages.fields(state.ranking.keys.tolist())
    if name.startswith(f"{AGE}:"):
        now = now_of("")
        return np.array([age_in_days(held, name[len(AGE) + 1 :], now) or 0.0 for held in fields])
    return np.array([_number(held, name) for held in fields])


def _raw(state: PipelineState, retriever: str) -> Scores:
    """Return what one retriever gave each candidate, as its trace shows it; 0 where it was not asked."""
    shares = [one for one in state.retrieved.fused.shares if one.retriever == retriever]
    if not shares:
        return np.zeros(len(state.ranking))
    traces = (shares[0].trace(key) for key in state.ranking.keys.tolist())
    return np.array([one.raw or 0.0 for one in traces])


def _number(fields: Metadata, name: str) -> float:
    """Return the first value of a field that is a number, or reads as one."""
    for value in values_of(fields.get(name, ())):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            continue
        if np.isfinite(number):
            return number
    return 0.0


def apply_recency(state: PipelineState, recency: Recency) -> PipelineState:
    """Let scores fall with the age of the passages."""
    if not len(state.ranking):
        return state
    with state.watch.step("recency"):
        now = now_of(recency.origin)
        fields = state.passages.fields(state.ranking.keys.tolist())
        ages = [age_in_days(held, recency.field, now) for held in fields]
        made = [RecencyStep(recency.field, age, recency.half_life, recency.weight) for age in ages]
        after = np.array([one.apply(before) for one, before in zip(made, state.ranking.scores.tolist(), strict=True)])
    steps = {
        key: Step("recency", before, score, one)
        for one, (key, before, score) in zip(made, _changes(state.ranking, after), strict=True)
        if one.age_days is not None
    }
    said = f"{len(steps)} of {len(made)} have a date in {recency.field}"
    return state.after("recency", _reordered(state.ranking, after), steps=steps, decisions=(said,))


def _changes(ranking: Ranking, after: Scores) -> Iterable[tuple[int, float, float]]:
    return zip(ranking.keys.tolist(), ranking.scores.tolist(), after.tolist(), strict=True)


def _reordered(ranking: Ranking, scores: Scores) -> Ranking:
    """Order again by new scores; ties keep the order that they had."""
    order = np.argsort(-scores, kind="stable")
    return Ranking(ranking.keys[order], scores[order])


def _at(ranking: Ranking, places: Sequence[int]) -> Ranking:
    chosen = np.array(places, dtype=np.intp)
    return Ranking(ranking.keys[chosen], ranking.scores[chosen])


def collapsed(state: PipelineState) -> PipelineState:
    """Keep the best passage of each document, and count the others."""
    keys = state.ranking.keys.tolist()
    first: dict[str, int] = {}
    more: dict[int, int] = {}
    with state.watch.step("collapse"):
        for place, chunk in enumerate(state.passages.chunks(keys)):
            best = first.setdefault(chunk.document, place)
            more[keys[best]] = more.get(keys[best], -1) + 1
    left = _at(state.ranking, sorted(first.values()))
    said = f"{len(keys) - len(left)} further passages of {len(left)} documents"
    return replace(state.after("collapse", left, decisions=(said,)), more=more)


def diversified_by_mmr(state: PipelineState, balance: float) -> PipelineState:
    """Order the candidates by maximal marginal relevance of their vectors; one without a vector is like no other."""
    ranking = state.ranking
    if not len(ranking):
        return state
    with state.watch.step("mmr"):
        texts = state.passages.texts(ranking.keys.tolist())
        known = state.passages.view.vectors_for(texts)
        width = len(next(iter(known.values()), np.zeros(1)))
        vectors = np.array([known.get(text, np.zeros(width)) for text in texts], dtype=np.float64)
        order = mmr_order(relevance_of(ranking.scores), vectors @ vectors.T, balance)
    moved = sum(place != at for at, place in enumerate(order[: state.plan.k]))
    said = f"{moved} of the first {min(state.plan.k, len(ranking))} are others than by relevance alone"
    return state.after("mmr", _at(ranking, order), decisions=(said,))


def sorted_by(state: PipelineState, keys: Sequence["SortKey"]) -> PipelineState:
    """Order the candidates by fields, the first of them first; ties keep their order by score."""
    with state.watch.step("sort"):
        fields = state.passages.fields(state.ranking.keys.tolist())
        places = list(range(len(fields)))
        for key in reversed(keys):
            held = [_sort_value(one, key) for one in fields]
            there = [place for place in places if held[place] is not None]
            there.sort(key=lambda place: held[place] or (0, 0.0, ""), reverse=key.descending)  # used here
            places = there + [place for place in places if held[place] is None]
    said = tuple(f"{key.field}, {'falling' if key.descending else 'rising'}" for key in keys)
    return state.after("sort", _at(state.ranking, places), decisions=said)


def _sort_value(fields: Metadata, key: "SortKey") -> tuple[int, float, str] | None:
    """Return what a passage is sorted by: numbers before text; of several values the one that comes first."""
    values = [_comparable(one) for one in values_of(fields.get(key.field, ()))]
    return (max if key.descending else min)(values) if values else None


def _comparable(value: Scalar) -> tuple[int, float, str]:
    if kind_of(value) == "text":
        return 1, 0.0, str(value).casefold()
    return 0, float(value), ""


def without_passages(state: PipelineState, names: Sequence[str]) -> PipelineState:
    """Leave out single passages that are hidden, by their ids."""
    keys = [chunk.key for name in names for chunk in _passage(state.passages.view, name)]
    if not keys:
        return state
    left = ~np.isin(state.ranking.keys, keys)
    return state.after("hide", Ranking(state.ranking.keys[left], state.ranking.scores[left]))


def not_hidden(state: PipelineState, names: Sequence[str]) -> Filter:
    """Return what leaves hidden documents out."""
    view = state.passages.view
    sources = [_document(view, name) for name in names if not _passage(view, name)]
    return And(tuple(Not(Condition("source", Operator.EQ, one)) for one in sources if one is not None))


def _document(view: Snapshot, name: str) -> str | None:
    """Return the source of a document that is named; None for one that is not there, or one of several."""
    try:
        return document_named(view, name).source
    except (NotFoundError, InvalidInputError):
        return None


def _passage(view: Snapshot, name: str) -> Sequence[Chunk]:
    """Return the passage with this id; none where there is no such."""
    document, _, ordinal = name.rpartition("_chunk_")
    if not ordinal.isdecimal() or len(ordinal) > MAX_PASSAGE_NUMBER:
        return ()
    return view.stretch(document, int(ordinal), int(ordinal))


def pinned(state: PipelineState, names: Sequence[str]) -> PipelineState:
    """Put the named passages, and the best passage of each named document, first, where the filter lets them pass."""
    with state.watch.step("pin"):
        found = dict.fromkeys(key for name in names if (key := _pinned_key(state, name)) is not None)
    first = np.array(list(found), dtype=np.int64)
    held = dict(zip(state.ranking.keys.tolist(), state.ranking.scores.tolist(), strict=True))
    scores = np.array([held.get(key, 0.0) for key in first.tolist()])
    others = ~np.isin(state.ranking.keys, list(_replaced(state, first.tolist())))
    keys = np.concatenate([first, state.ranking.keys[others]])
    ranking = Ranking(keys, np.concatenate([scores, state.ranking.scores[others]]))
    said = (f"{len(first)} pinned",)  # not of how many: some may not be the viewer's to know of
    return state.after("pin", ranking, decisions=said)


def _pinned_key(state: PipelineState, name: str) -> int | None:
    """Return the passage that a name pins: of a document the best one, or else the first that has the most words."""
    view = state.passages.view
    chunks = _passage(view, name)
    if not chunks:
        try:
            chunks = view.chunks_of(document_named(view, name).id)
        except (NotFoundError, InvalidInputError):
            return None
    keys = np.sort(np.array([chunk.key for chunk in chunks], dtype=np.int64))
    passing = view.within(keys, Scope(condition_of(state)))
    ranked = state.ranking.keys[np.isin(state.ranking.keys, passing)]
    if len(ranked) or not len(passing):
        return int(ranked[0]) if len(ranked) else None
    scores = view.score_terms(state.request.parsed.terms, passing)
    best = passing[scores == scores.max()]
    return next(chunk.key for chunk in chunks if chunk.key in best)


def _replaced(state: PipelineState, first: Sequence[int]) -> Iterator[int]:
    """Yield the passages that pinned ones stand for: themselves, and where documents are collapsed theirs."""
    yield from first
    results = state.plan.results
    if results is not None and results.collapse_documents and first:
        documents = {chunk.document for chunk in state.passages.chunks(first)}
        keys = state.ranking.keys.tolist()
        yield from (
            key for key, one in zip(keys, state.passages.chunks(keys), strict=True) if one.document in documents
        )


def counted(state: PipelineState, facets: Sequence[FacetQuery]) -> tuple[Facet, ...]:
    """Count by fields the documents that match: the candidates, and what holds a word of the question."""
    view = state.passages.view
    with state.watch.step("facets"):
        keys = _matching(state)
        documents = sum(view.count_documents(keys, "source", lambda _: "document").values())
        return tuple(facet_of(view, keys, one, documents) for one in facets)


def _matching(state: PipelineState) -> ChunkKeys:
    view, everything = state.passages.view, state.passages.view.sizes().chunks
    scope = scope_of(state)
    if state.plan.filter_stage != "pre":
        scope = replace(scope, filter=condition_of(state))
    asked = [one.terms for one in state.query.asked if one.terms is not None]
    by_words = [np.sort(view.search_bm25(terms, max(1, everything), scope).keys) for terms in asked]
    candidates = np.sort(state.retrieved.fused.ranking.keys)
    return union([view.within(candidates, scope) if scope.filter != MATCH_ALL else candidates, *by_words])


def boosted_terms(
    state: PipelineState, terms: TermQuery, keys: Sequence[int], boosts: Sequence[tuple[str, float]]
) -> ScoredTerms:
    """Return the term table of passages in which a word of a boosted field counts as often as its factor says.

    BM25F as Robertson, Zaragoza and Taylor have it (2004): frequencies are weighted by field before they saturate. A
    factor of 3 adds two for each time that the title or the heading has the word.
    """
    table = state.passages.view.explain_terms(terms, keys)
    often = np.array(table.frequencies, dtype=np.float64)
    columns = _columns(terms)
    counts: dict[str, Mapping[str, int]] = {}
    for field, factor in boosts:
        for row, text in enumerate(_texts_of(state, field, keys)):
            if text not in counts:
                counts[text] = state.parts.analyzer.counts(text).counts
            for term, times in counts[text].items():
                for at, weight in columns.get(term, ()):
                    often[row, at] += (factor - 1.0) * weight * times
    return ScoredTerms(terms, table.idfs, often, np.asarray(table.norms))


def _columns(terms: TermQuery) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Return where each term counts and how much: as itself, and as a member of groups; members of several do not."""
    columns: dict[str, list[tuple[int, float]]] = {}
    for at, name in enumerate(terms.weights):
        for member in terms.groups.get(name, (GroupMember((name,)),)):
            if len(member.terms) == 1 and not member.phrase:
                columns.setdefault(member.terms[0], []).append((at, member.weight))
    return columns


def _texts_of(state: PipelineState, field: str, keys: Sequence[int]) -> Sequence[str]:
    if field == "title":
        return [info.title for info in state.passages.infos(keys)]
    pairs = zip(state.passages.chunks(keys), state.passages.infos(keys), strict=True)
    return [" > ".join(part for part in chunk.heading if part != info.title) for chunk, info in pairs]


def field_boosted(
    state: PipelineState, asked: Sequence[QueryVariant], found: Candidates, boosts: Sequence[tuple[str, float]]
) -> Candidates:
    """Score candidates again, each by the query that it was scored by."""
    scores = found.bm25_scores.copy()
    numbers = np.zeros(len(found.keys), dtype=np.int64) if found.queries is None else np.array(found.queries)
    for number, one in enumerate(asked):
        mine = numbers == number
        if one.terms is not None and mine.any():
            scores[mine] = summed_terms(boosted_terms(state, one.terms, found.keys[mine].tolist(), boosts))
    bm25 = Ranking.of(found.bm25.keys, scores[found.keys.searchsorted(found.bm25.keys)])
    return replace(found, bm25=bm25, bm25_scores=scores)


def summed_terms(table: ScoredTerms) -> Scores:
    """Return each passage's score: its terms' parts, added up from the left as `ScoredTerms.of` gives them."""
    k1, norms = table.query.k1, table.norms
    total: Scores = np.zeros(len(norms), dtype=np.float64)
    for at, weight in enumerate(table.query.weights.values()):
        times: NDArray[np.float64] = table.frequencies[:, at].astype(np.float64)
        part = (weight * table.idfs[at]) * (times * (k1 + 1.0) / (times + norms))
        total += np.where(times > 0.0, part, 0.0)
    return total
