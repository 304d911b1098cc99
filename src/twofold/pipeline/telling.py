"""Telling: the best passages fetched, with where each score came from and what can be said of the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from twofold.domain.ports import View
from twofold.domain.types import Hit, TermScore
from twofold.pipeline.answerable import signals_of
from twofold.pipeline.expanding import Expanded, expand
from twofold.pipeline.fusing import MOST_TERMS, Joined
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.results import Counts, FoundPassage, HitTrace, RerankTrace, SearchResult, StageTrace
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Passages, Standing, Stopwatch
from twofold.pipeline.understanding import Heard
from twofold.ranking.answerable import calibration_for, p_answerable
from twofold.ranking.confidence import confidence

SURE_OF = 5
"""Confidence is in the best five."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One search up to the point where it is told: what was heard, what the arms gave, and how the candidates stand."""

    heard: Heard
    plan: SearchPlan
    arms: Joined
    standing: Standing
    passages: Passages


def told(parts: SearchParts, view: View, run: Run, watch: Stopwatch) -> SearchResult:
    """Tell what a search found: its k best passages, each with its trace."""
    plan, standing, heard = run.plan, run.standing, run.heard
    with watch.step("fetch"):
        hits = _fetch(view, run, list(islice(standing.ranking, plan.k)))
    with watch.step("confidence"):
        relevance = _relevance(standing)
        best = [relevance[key] for key in standing.ranking.keys[:SURE_OF].tolist() if key in relevance]
        chance = _chance(parts, view, run, relevance)
    summed = standing.filtered.kept if standing.filtered is not None else len(run.arms.fused.ranking)
    return SearchResult(
        query=heard.understood.parsed.original,
        mode=heard.mode,
        fusion=plan.fusion.form if heard.mode == "hybrid" else heard.mode,
        hits=hits,
        constants=standing.constants,
        timings_ms=watch.total(),
        degraded=(*plan.notes, *standing.degraded),
        rerank=standing.rerank,
        filtered=standing.filtered,
        stages=_timed((*standing.stages, StageTrace("fetch", len(standing.ranking), len(hits))), watch.steps),
        counts=Counts(len(run.arms.fused.ranking), summed, len(hits)),
        wordings=tuple(wording.words for wording in heard.understood.wordings),
        confidence=confidence(best),
        p_answerable=chance,
        profile=plan.profile,
    )


def _relevance(standing: Standing) -> Mapping[int, float]:
    """Give what the reranker found of each passage that it read, by key."""
    details = ((key, step.detail) for key, steps in standing.steps.items() for step in steps)
    return {key: one.relevance for key, one in details if isinstance(one, RerankTrace) and one.relevance is not None}


def _chance(parts: SearchParts, view: View, run: Run, relevance: Mapping[int, float]) -> float | None:
    """Give the calibrated chance that the best five hold an answer, 0 where nothing was found.

    None where such searches were never measured, or nothing could be searched. No question of more than 500 terms was.
    """
    reranker = run.standing.rerank.model if run.standing.rerank is not None and relevance else ""
    embedder = "" if run.heard.mode == "bm25" else parts.embedder.identity.name  # asking it may load the model
    calibration = calibration_for(parts.aids.calibrations, run.heard.mode, embedder, reranker)
    understood = run.heard.understood
    terms = (understood.meant or understood.parsed).terms
    if calibration is None or len(terms.weights) > MOST_TERMS or run.plan.lexical != "bm25":
        return None
    asked = replace(terms, k1=run.plan.k1, b=run.plan.b)
    signals = signals_of(view, run.arms.found, run.standing.ranking, asked, relevance or None)
    if signals is None and not run.heard.footing.left:
        return None
    return p_answerable(signals, calibration)


def _timed(stages: Sequence[StageTrace], steps: Mapping[str, float]) -> tuple[StageTrace, ...]:
    """Put the time that each stage took beside it; a stage that acted twice shows the time of both at the first."""
    left = dict(steps)
    return tuple(replace(one, milliseconds=left.pop(one.name.partition(" ")[0], 0.0)) for one in stages)


def _fetch(view: View, run: Run, hits: Sequence[Hit]) -> tuple[FoundPassage, ...]:
    """Fetch passages and say of each where its score came from."""
    keys = [hit.key for hit in hits]
    chunks, infos = run.passages.chunks(keys), run.passages.infos(keys)
    traces = _traces(view, run, keys)
    expanded = (
        [expand(view, chunk, run.plan.window) for chunk in chunks] if run.plan.window else [Expanded()] * len(keys)
    )
    found = zip(hits, chunks, infos, traces, expanded, strict=True)
    return tuple(
        FoundPassage(
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


def _traces(view: View, run: Run, keys: Sequence[int]) -> Sequence[HitTrace]:
    by_arm = [share.traces(keys) for share in run.arms.fused.shares]
    asked = [frozenset(one.terms.weights) for one in run.heard.understood.wordings]
    traces = []
    for place, key in enumerate(keys):
        wording, terms = run.arms.terms_of(key)
        parts = () if terms is None else _told_apart(view.explain_terms(terms, key), asked[wording])
        arms = tuple(arm[place] for arm in by_arm)
        traces.append(HitTrace(arms, parts, run.standing.steps.get(key, ()), wording))
    return traces


def _told_apart(terms: Sequence[TermScore], asked: frozenset[str]) -> tuple[TermScore, ...]:
    """Say of each term whether the question has it or feedback added it."""
    return tuple(
        one if one.term in asked else TermScore(one.term, one.weight, one.idf, one.frequency, one.score, "feedback")
        for one in terms
    )
