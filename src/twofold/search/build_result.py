"""The end of a search: what the result needs is read in the snapshot, and made into objects when it is read."""

import math
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from twofold.domain.dataclass import dataclass, replace
from twofold.domain.filters import Condition, Operator, field_names
from twofold.domain.ports import ALL, Scope, Snapshot
from twofold.domain.types import Chunk, Ranking, Scores, TermQuery, TermScore, TermTable
from twofold.domain.warning import StageWarning, WarningCode, is_degraded
from twofold.ranking.answerability import Signals, calibration_for, p_answerable
from twofold.ranking.confidence import confidence
from twofold.ranking.context_window import joined
from twofold.ranking.fusion import Candidates
from twofold.search.components import Analyzer
from twofold.search.request import ParsedRequest
from twofold.search.result import (
    CacheInfo,
    ContextWindow,
    Counts,
    Hit,
    HitTrace,
    Neighbor,
    QuestionFilter,
    RerankTrace,
    SearchResult,
    StageTrace,
    Step,
)
from twofold.search.retrieve import MAX_TERMS
from twofold.search.stages import condition_of
from twofold.search.state import Fetched, PipelineState, Retrieved
from twofold.text.bm25 import inverse_document_frequency
from twofold.text.ngrams import NGRAM


def expand_context(view: Snapshot, chunk: Chunk, window: int) -> ContextWindow:
    """Return up to `window` neighbors on either side."""
    stretch = view.stretch(chunk.document, max(0, chunk.ordinal - window), chunk.ordinal + window)
    context = tuple(
        Neighbor(one.ordinal, one.start, one.end, one.text, one.page, one.place, one.heading)
        for one in stretch
        if one.ordinal != chunk.ordinal
    )
    return ContextWindow(context, joined(stretch))


LOOKED_AT = 3
JUDGED = 5
CROWD = 9  # the tenth best score of a retriever stands for what does not stand out


def signals_of(
    view: Snapshot, found: Candidates, ranking: Ranking, terms: TermQuery, relevance: Mapping[int, float] | None = None
) -> Signals | None:
    """Read the signals off a search; None where no passage was found.

    `found` and `terms` are those of the question as it was asked, before it was grown by what was found or rewritten;
    `ranking` is the order that is shown, and `relevance` what the reranker gave by a passage's key; None, or none of
    the best five read, where there was no reranking. With `terms.statistics` these count instead of the collection's.
    Of two terms, idf 2.0 and 1.0, the best passage holds the first one: its coverage is 2/3.
    """
    if not len(ranking):
        return None
    table = view.explain_terms(terms, ranking.keys[:LOOKED_AT].tolist())
    masses = _masses(table)
    held = [
        {term for term, often in zip(terms.weights, row, strict=True) if often} for row in table.frequencies.tolist()
    ]
    read = [relevance[key] for key in ranking.keys[:JUDGED].tolist() if key in relevance] if relevance else []
    possible = sum(masses.values()) * (terms.k1 + 1.0)
    return Signals(
        terms=len(masses),
        coverage_first=_share(masses, held[:1]),
        coverage_three=_share(masses, held),
        vector_top=float(found.vector.scores[0]) if len(found.vector) else 0.0,
        vector_rise=_rise(found.vector.scores, missing=None),
        bm25_rise=math.sqrt(len(masses)) * _rise(found.bm25.scores, missing=0.0) / possible if possible else 0.0,
        agreement=_agreement(found, int(ranking.keys[0])),
        relevance=max(read) if read else None,
    )


def _masses(table: TermTable) -> Mapping[str, float]:
    """Return what each term counts: its weight times how rare it is. One that no passage holds counts most.

    Word n-grams are left out: their words are there, and the chance was learnt from questions without any.
    """
    weights = table.query.weights.items()
    return {
        term: weight * idf
        for (term, weight), idf in zip(weights, table.idfs, strict=True)
        if not term.startswith(NGRAM)
    }


def _share(masses: Mapping[str, float], held: Sequence[set[str]]) -> float:
    total = sum(masses.values())
    there = set().union(*held)
    return min(1.0, sum(mass for term, mass in masses.items() if term in there) / total) if total else 0.0


def _rise(scores: Scores, missing: float | None) -> float:
    """Return what the best score has above the tenth; where there are fewer, above `missing`, or above the last."""
    if not len(scores):
        return 0.0
    if len(scores) > CROWD:
        return float(scores[0] - scores[CROWD])
    return float(scores[0] - (scores[-1] if missing is None else missing))


def _agreement(found: Candidates, key: int) -> float:
    """Return the lesser of two shares of a passage: its BM25 to the best, its cosine's rise to the best's."""
    place = bisect_left(found.keys, key)
    if place == len(found.keys) or found.keys[place] != key or not len(found.bm25) or not len(found.vector):
        return 0.0
    words = float(found.bm25_scores[place]) / float(found.bm25.scores[0])
    rise = _rise(found.vector.scores, missing=None)
    short = float(found.vector.scores[0] - found.vector_scores[place])
    meaning = 1.0 - short / rise if rise > 0.0 else 1.0
    return float(np.clip(min(words, meaning), 0.0, 1.0))


SURE_OF = 5
"""Confidence is in the best five."""


def fetch(state: PipelineState) -> PipelineState:
    """Read in the snapshot all that the result needs of it: the best passages, and what their terms count for."""
    keys = state.ranking.keys[: state.plan.k].tolist()
    view, window = state.passages.view, state.plan.context_window
    with state.watch.step("fetch"):
        passages = view.fetch(keys)
        windows = [expand_context(view, one.chunk, window) for one in passages] if window else ()
        tables, table_keys = _tables(state, keys)
    with state.watch.step("confidence"):
        chance = _chance(state)
    trace = StageTrace("fetch", len(state.ranking), len(keys))
    facets = () if state.plan.results is None else state.plan.results.count_facets(state)
    generation = 0 if view.viewer_key else view.generation  # it counts changes to what a viewer may not read
    meant = _did_you_mean(state, tables.get(0))
    fetched = Fetched(passages, windows, tables, table_keys, chance, generation, facets, meant)
    if state.plan.results is not None or not keys:
        state = replace(state, warnings=(*state.warnings, *_unknown_fields(state, found=bool(keys))))
    return replace(state, fetched=fetched, stages=(*state.stages, trace))


def _unknown_fields(state: PipelineState, *, found: bool) -> Iterator[StageWarning]:
    """Yield a warning for each field that no document has: of a filter that let nothing pass, and to sort by."""
    plan, view = state.plan, state.passages.view
    names = () if found else sorted(field_names(plan.filter))
    keys = () if plan.results is None else [key.field for key in plan.results.sort]
    for name in dict.fromkeys((*names, *keys)):
        if not view.count_within(ALL, [Scope(Condition(name, Operator.EXISTS))])[0]:
            stage = "sort" if name in keys else "filter"
            yield StageWarning(stage, WarningCode.NO_MATCH, f"No document has the field {name!r}.")


def _did_you_mean(state: PipelineState, table: TermTable | None) -> str:
    """Return the question with its unknown words spelt otherwise; empty where the index knows them all.

    A term that no passage holds is one as rare as none can be, which the table of the hits has said already.
    """
    parsed, view = state.request.parsed, state.passages.view
    terms = state.query.asked[0].terms if state.query.asked else None
    if terms is None or terms.scorer != "bm25":
        return ""
    if table is None:
        held = view.statistics(tuple(parsed.terms.weights)).frequencies
        unknown = {term for term in parsed.terms.weights if not held.get(term)}
    else:
        rarest = inverse_document_frequency(view.statistics(()).chunks, 0)
        unknown = {term for term, idf in zip(table.query.weights, table.idfs, strict=True) if idf >= rarest}
    unknown &= {term for term in parsed.terms.weights if term not in parsed.terms.groups}
    if not unknown or len(parsed.terms.weights) > MAX_TERMS:
        return ""
    from twofold.search.suggest import did_you_mean

    with state.watch.step("spelling"):
        return did_you_mean(view, state.parts.analyzer, parsed.original, unknown, Scope(condition_of(state)))


def _tables(state: PipelineState, keys: Sequence[int]) -> tuple[Mapping[int, TermTable], Mapping[int, Sequence[int]]]:
    """Return what each query's terms add to the scores of the passages that are scored by it."""
    retrieved, of_query = state.retrieved, dict[int, list[int]]()
    for key in keys:
        number, terms = retrieved.terms_of(key)
        if terms is not None:
            of_query.setdefault(number, []).append(key)
    tables = {}
    for number, some in of_query.items():
        terms, results = retrieved.asked[number].terms, state.plan.results
        if terms is not None:
            make = _plain_terms if results is None or not results.boosts else results.boosted_terms
            tables[number] = make(state, terms, some)
    return tables, of_query


def _plain_terms(state: PipelineState, terms: TermQuery, keys: Sequence[int]) -> TermTable:
    return state.passages.view.explain_terms(terms, keys)


def build_result(state: PipelineState) -> SearchResult:
    """Return what a search found: its k best passages, each with its trace; what is costly is made when it is read."""
    plan, query, fetched = state.plan, state.query, state.fetched
    relevance = _relevance(state)
    best = [relevance[key] for key in state.ranking.keys[:SURE_OF].tolist() if key in relevance]
    count = len(state.retrieved.fused.ranking)
    kept = state.filtered.kept if state.filtered is not None else count
    read = Reading(
        state.ranking, state.retrieved, state.steps, fetched, query.understood, state.more, state.parts.analyzer
    )
    steps = dict(state.watch.steps)
    warnings = (*plan.warnings, *state.warnings)
    return SearchResult.deferring(
        {"hits": read.hits, "stages": partial(_timed, _with_extracted(state), steps)},
        query=query.understood.parsed.original,
        mode=query.mode,
        fusion=plan.fusion.method if query.mode == "hybrid" else query.mode,
        constants=state.constants,
        timings_ms=state.watch.total(),
        degraded=is_degraded(warnings),
        warnings=warnings,
        rerank=state.rerank,
        filtered=state.filtered,
        counts=Counts(count, kept, len(fetched.passages), len(state.ranking) + state.unseen),
        queries=tuple(variant.words for variant in query.understood.queries),
        confidence=confidence(best),
        p_answerable=fetched.p_answerable,
        profile=plan.profile,
        cache=CacheInfo(),
        generation=fetched.generation,
        facets=fetched.facets,
        next_cursor="",
        did_you_mean=fetched.did_you_mean,
        extracted=tuple(QuestionFilter(*one) for one in query.understood.extracted),
    )


NO_WINDOW = ContextWindow()


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What hits are made of when they are read: arrays and rows, which need the snapshot no more."""

    ranking: Ranking
    retrieved: Retrieved
    steps: Mapping[int, tuple[Step, ...]]
    fetched: Fetched
    request: ParsedRequest
    more: Mapping[int, int]
    analyzer: Analyzer

    def highlights(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return where the terms of the question stand in a text; those that feedback added are not among them."""
        wanted = {term for one in self.request.queries for term in one.terms.terms}
        for variant in self.retrieved.asked:
            groups = () if variant.terms is None else variant.terms.groups.values()
            wanted.update(term for members in groups for member in members for term in member.terms)
        made: list[tuple[int, int]] = []
        for start, end in sorted((one.start, one.end) for one in self.analyzer.tokens(text) if one.term in wanted):
            if made and start < made[-1][1]:
                made[-1] = made[-1][0], max(end, made[-1][1])
            else:
                made.append((start, end))
        return tuple(made)

    def hits(self) -> tuple[Hit, ...]:
        """Return the passages that are shown, best first; their traces and fields are left for later."""
        return tuple(map(self._hit, range(len(self.fetched.passages))))

    def _hit(self, place: int) -> Hit:
        passage, fetched = self.fetched.passages[place], self.fetched
        chunk = passage.chunk
        window = fetched.windows[place] if fetched.windows else NO_WINDOW
        return Hit.deferring(
            {
                "trace": partial(self.trace, place),
                "metadata": lambda: {**passage.metadata, **chunk.metadata},
                "highlights": lambda: self.highlights(chunk.text),
            },
            rank=place + 1,
            score=float(self.ranking.scores[place]),
            source=passage.source,
            title=passage.title,
            document=chunk.document,
            chunk_id=chunk.id,
            page=chunk.page,
            place=chunk.place,
            heading=chunk.heading,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            context=window.context,
            joined=window.joined,
            collection="",
            header=chunk.header,
            more=self.more.get(int(self.ranking.keys[place]), 0) if self.more else 0,
        )

    def trace(self, place: int) -> HitTrace:
        """Return where a passage's score came from."""
        key = int(self.ranking.keys[place])
        retrievers = tuple(share.trace(key) for share in self.retrieved.fused.shares if key in share.keys)
        number, terms = self.retrieved.terms_of(key)
        parts: tuple[TermScore, ...] = ()
        if terms is not None:
            groups = self.retrieved.asked[number].terms
            asked = {*self.request.queries[number].terms.weights, *(groups.groups if groups else ())}
            found = self.fetched.tables[number].of(self.fetched.table_keys[number].index(key))
            parts = _with_origin(found, asked)
        return HitTrace(retrievers, parts, self.steps.get(key, ()), number)


def _with_extracted(state: PipelineState) -> tuple[StageTrace, ...]:
    """Return the stages, before them what was read out of the question as filters."""
    said = state.query.understood.extracted
    if not said:
        return state.stages
    notes = tuple(f"{phrase}: {condition}" for phrase, condition in said)
    return (StageTrace("extract_filters", 1, len(said), notes=notes), *state.stages)


def _relevance(state: PipelineState) -> Mapping[int, float]:
    """Return what the reranker found of each passage that it read, by key."""
    details = ((key, step.detail) for key, steps in state.steps.items() for step in steps)
    return {key: one.relevance for key, one in details if isinstance(one, RerankTrace) and one.relevance is not None}


def _chance(state: PipelineState) -> float | None:
    """Return the calibrated chance that the best five hold an answer, 0 where nothing was found.

    None where such searches were never measured, or nothing could be searched. No question of more than 500 terms was.
    """
    parts, plan, query, relevance = state.parts, state.plan, state.query, _relevance(state)
    reranker = state.rerank.model if state.rerank is not None and relevance else ""
    embedder = "" if query.mode == "bm25" else parts.embedder.identity.name  # asking it may load the model
    measured = (query.mode, embedder, reranker)
    if query.mode == "hybrid" and not state.retrieved.found.embedded.all():
        measured = ("bm25", "", "")  # judged by BM25 while candidates have no vector
    calibration = calibration_for(parts.models.calibrations, *measured)
    understood = query.understood
    terms = (understood.meant or understood.parsed).terms
    if calibration is None or len(terms.weights) > MAX_TERMS or plan.scorer != "bm25":
        return None
    asked = replace(terms, k1=plan.k1, b=plan.b)
    known = query.asked[0].terms if query.asked else None
    if known is not None and known.weights is terms.weights and known == asked:
        asked = known  # which the snapshot has looked up
    signals = signals_of(state.passages.view, state.retrieved.found, state.ranking, asked, relevance or None)
    if signals is None and not query.degradation.left:
        return None
    return p_answerable(signals, calibration)


def _timed(stages: Sequence[StageTrace], steps: Mapping[str, float]) -> tuple[StageTrace, ...]:
    """Add the time that each stage took; a stage that acted twice shows the time of both at the first."""
    left = dict(steps)
    return tuple(replace(one, milliseconds=left.pop(one.name.partition(" ")[0], 0.0)) for one in stages)


def _with_origin(terms: Sequence[TermScore], asked: Container[str]) -> tuple[TermScore, ...]:
    """Return the terms, each with whether the query has it or PRF added it."""
    return tuple(
        one if one.term in asked else TermScore(one.term, one.weight, one.idf, one.frequency, one.score, "prf")
        for one in terms
    )
