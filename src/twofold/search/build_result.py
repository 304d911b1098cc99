"""Telling: the best passages fetched, with where each score came from and what can be said of the whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Snapshot
from twofold.domain.types import Chunk, Ranking, ScoredKey, Scores, TermQuery, TermScore
from twofold.domain.warning import is_degraded
from twofold.ranking.answerability import Signals, calibration_for, p_answerable
from twofold.ranking.confidence import confidence
from twofold.ranking.context_window import Joined, joined
from twofold.ranking.fusion import Candidates
from twofold.search.components import SearchComponents
from twofold.search.plan import SearchPlan
from twofold.search.query import EncodedQuery
from twofold.search.result import Counts, Hit, HitTrace, Neighbor, RerankTrace, SearchResult, StageTrace
from twofold.search.retrieve import MAX_TERMS, FusedCandidates
from twofold.search.state import Passages, PipelineState, Stopwatch
from twofold.text.bm25 import inverse_document_frequency
from twofold.text.ngrams import NGRAM


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A passage's neighbors in reading order, itself left out, and all of it joined."""

    context: tuple[Neighbor, ...] = ()
    joined: Joined | None = None


def expand_context(view: Snapshot, chunk: Chunk, window: int) -> ContextWindow:
    """Give up to `window` neighbors on either side."""
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
    masses = _masses(view, terms)
    held = [{one.term for one in view.explain_terms(terms, key)} for key in ranking.keys[:LOOKED_AT].tolist()]
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


def _masses(view: Snapshot, terms: TermQuery) -> Mapping[str, float]:
    """Return what each term counts: its weight times how rare it is. One that no passage holds counts most.

    Word n-grams are left out: their words are there, and the chance was learnt from questions without any.
    """
    known = terms.statistics or view.statistics(tuple(terms.weights))
    return {
        term: weight * inverse_document_frequency(known.chunks, known.frequencies.get(term, 0))
        for term, weight in terms.weights.items()
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
    place = int(found.keys.searchsorted(key))
    if place == len(found.keys) or found.keys[place] != key or not len(found.bm25) or not len(found.vector):
        return 0.0
    words = float(found.bm25_scores[place]) / float(found.bm25.scores[0])
    rise = _rise(found.vector.scores, missing=None)
    short = float(found.vector.scores[0] - found.vector_scores[place])
    meaning = 1.0 - short / rise if rise > 0.0 else 1.0
    return float(np.clip(min(words, meaning), 0.0, 1.0))


SURE_OF = 5
"""Confidence is in the best five."""


@dataclass(frozen=True, slots=True, eq=False)
class PipelineRun:
    """One search before its result is built: the encoded query, what the retrievers gave, the candidates now."""

    heard: EncodedQuery
    plan: SearchPlan
    retrieved: FusedCandidates
    standing: PipelineState
    passages: Passages


def build_result(parts: SearchComponents, view: Snapshot, run: PipelineRun, watch: Stopwatch) -> SearchResult:
    """Return what a search found: its k best passages, each with its trace."""
    plan, standing, heard = run.plan, run.standing, run.heard
    with watch.step("fetch"):
        hits = _fetch(view, run, list(islice(standing.ranking, plan.k)))
    with watch.step("confidence"):
        relevance = _relevance(standing)
        best = [relevance[key] for key in standing.ranking.keys[:SURE_OF].tolist() if key in relevance]
        chance = _chance(parts, view, run, relevance)
    summed = standing.filtered.kept if standing.filtered is not None else len(run.retrieved.fused.ranking)
    warnings = (*plan.warnings, *standing.warnings)
    return SearchResult(
        query=heard.understood.parsed.original,
        mode=heard.mode,
        fusion=plan.fusion.method if heard.mode == "hybrid" else heard.mode,
        hits=hits,
        constants=standing.constants,
        timings_ms=watch.total(),
        degraded=is_degraded(warnings),
        warnings=warnings,
        rerank=standing.rerank,
        filtered=standing.filtered,
        stages=_timed((*standing.stages, StageTrace("fetch", len(standing.ranking), len(hits))), watch.steps),
        counts=Counts(len(run.retrieved.fused.ranking), summed, len(hits)),
        queries=tuple(variant.words for variant in heard.understood.queries),
        confidence=confidence(best),
        p_answerable=chance,
        profile=plan.profile,
    )


def _relevance(standing: PipelineState) -> Mapping[int, float]:
    """Return what the reranker found of each passage that it read, by key."""
    details = ((key, step.detail) for key, steps in standing.steps.items() for step in steps)
    return {key: one.relevance for key, one in details if isinstance(one, RerankTrace) and one.relevance is not None}


def _chance(parts: SearchComponents, view: Snapshot, run: PipelineRun, relevance: Mapping[int, float]) -> float | None:
    """Return the calibrated chance that the best five hold an answer, 0 where nothing was found.

    None where such searches were never measured, or nothing could be searched. No question of more than 500 terms was.
    """
    reranker = run.standing.rerank.model if run.standing.rerank is not None and relevance else ""
    embedder = "" if run.heard.mode == "bm25" else parts.embedder.identity.name  # asking it may load the model
    calibration = calibration_for(parts.aids.calibrations, run.heard.mode, embedder, reranker)
    understood = run.heard.understood
    terms = (understood.meant or understood.parsed).terms
    if calibration is None or len(terms.weights) > MAX_TERMS or run.plan.scorer != "bm25":
        return None
    asked = replace(terms, k1=run.plan.k1, b=run.plan.b)
    signals = signals_of(view, run.retrieved.found, run.standing.ranking, asked, relevance or None)
    if signals is None and not run.heard.degradation.left:
        return None
    return p_answerable(signals, calibration)


def _timed(stages: Sequence[StageTrace], steps: Mapping[str, float]) -> tuple[StageTrace, ...]:
    """Put the time that each stage took beside it; a stage that acted twice shows the time of both at the first."""
    left = dict(steps)
    return tuple(replace(one, milliseconds=left.pop(one.name.partition(" ")[0], 0.0)) for one in stages)


def _fetch(view: Snapshot, run: PipelineRun, hits: Sequence[ScoredKey]) -> tuple[Hit, ...]:
    """Fetch passages and say of each where its score came from."""
    keys = [hit.key for hit in hits]
    chunks, infos = run.passages.chunks(keys), run.passages.infos(keys)
    traces = _traces(view, run, keys)
    expanded = (
        [expand_context(view, chunk, run.plan.context_window) for chunk in chunks]
        if run.plan.context_window
        else [ContextWindow()] * len(keys)
    )
    found = zip(hits, chunks, infos, traces, expanded, strict=True)
    return tuple(
        Hit(
            rank=rank,
            score=hit.score,
            source=info.source,
            title=info.title,
            document=chunk.document,
            chunk_id=chunk.id,
            page=chunk.page,
            place=chunk.place,
            heading=chunk.heading,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            trace=trace,
            metadata={**info.metadata, **chunk.metadata},
            context=more.context,
            joined=more.joined,
        )
        for rank, (hit, chunk, info, trace, more) in enumerate(found, start=1)
    )


def _traces(view: Snapshot, run: PipelineRun, keys: Sequence[int]) -> Sequence[HitTrace]:
    by_retriever = [share.traces(keys) for share in run.retrieved.fused.shares]
    asked = [frozenset(one.terms.weights) for one in run.heard.understood.queries]
    traces = []
    for place, key in enumerate(keys):
        query_index, terms = run.retrieved.terms_of(key)
        parts = () if terms is None else _told_apart(view.explain_terms(terms, key), asked[query_index])
        retrievers = tuple(retriever[place] for retriever in by_retriever)
        traces.append(HitTrace(retrievers, parts, run.standing.steps.get(key, ()), query_index))
    return traces


def _told_apart(terms: Sequence[TermScore], asked: frozenset[str]) -> tuple[TermScore, ...]:
    """Say of each term whether the question has it or feedback added it."""
    return tuple(
        one if one.term in asked else TermScore(one.term, one.weight, one.idf, one.frequency, one.score, "prf")
        for one in terms
    )
