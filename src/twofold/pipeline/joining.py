"""Joining the answers of several collections that were searched each by itself: by rank, or by a reranker.

Their scores are on scales of their own, so only ranks count: `1 / (k + rank)`. With k = 60 the best of each has 1/61,
and stands in the order in which the collections were named. A reranker, asked to join, reads the best of that order
and replaces it: what ranks of different collections say of each other is no opinion to blend with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Ranking
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.rerank import Reading
from twofold.pipeline.rereading import readers_for, reread
from twofold.pipeline.results import (
    Counts,
    FoundPassage,
    HitTrace,
    SearchResult,
    StageTrace,
    Step,
)
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Standing, Stopwatch
from twofold.ranking.confidence import confidence
from twofold.ranking.fusion import ArmTrace, rank_values


@dataclass(frozen=True, slots=True)
class Answered:
    """What one collection answered by itself."""

    name: str
    result: SearchResult


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """All passages in one order, each by its place in `hits`."""

    hits: tuple[FoundPassage, ...]
    ranking: Ranking


def joined_by_rank(answers: Sequence[Answered], plan: SearchPlan, watch: Stopwatch) -> SearchResult:
    """Give the k best of all by reciprocal rank; its own arms stand in the trace without weight.

    Lifting and reranking that a collection did within its own list is in its order, and in no step of the trace.
    """
    with watch.step("fuse"):
        pool = _pooled(answers, plan)
        standing = Standing(pool.ranking, constants={"k": float(plan.fusion.rank_constant)})
    return _told(answers, pool, standing, plan, watch)


def joined_by_reranker(
    parts: SearchParts, question: str, answers: Sequence[Answered], plan: SearchPlan, watch: Stopwatch
) -> SearchResult:
    """Give the k best of all by a reranker, where they are more than it reads (checklist 55, 74); else by rank.

    A reranker that fails leaves them by rank, and `degraded` says so. Raises InvalidInputError where there is none.
    """
    check_reranker(parts)
    with watch.step("fuse"):
        pool = _pooled(answers, plan)
    standing = Standing(pool.ranking, constants={"k": float(plan.fusion.rank_constant)})
    if len(pool.ranking) > plan.rerank.candidates:
        readers = readers_for(parts, plan)
        reading = Reading(question, pool.ranking, lambda keys: [_read_of(pool.hits[key]) for key in keys])
        with watch.step("rerank"):
            standing = reread(standing, readers, reading, replace(plan.rerank, weight=1.0), watch.elapsed)
    return _told(answers, pool, standing, plan, watch)


def check_reranker(parts: SearchParts) -> None:
    """Refuse to join by a reranker where there is none. Raises InvalidInputError."""
    if not parts.aids.rerankers:
        raise InvalidInputError(
            "There is no reranker to join several indexes by.", "Name one: `rerank.model`; or `search.across=rrf`."
        )


def _pooled(answers: Sequence[Answered], plan: SearchPlan) -> _Pool:
    """Put all passages in one order by reciprocal rank, ties to the collection that was named first."""
    hits: list[FoundPassage] = []
    values = []
    for name, result in ((one.name, one.result) for one in answers):
        listed = Ranking(np.arange(len(result.hits)), np.zeros(len(result.hits)))
        ranked = rank_values(listed, plan.fusion.rank_constant).scores
        values.append(ranked)
        for hit, value in zip(result.hits, ranked.tolist(), strict=True):
            own = tuple(replace(arm, weight=0.0) for arm in hit.trace.arms)
            arm = ArmTrace(name, hit.rank, hit.score, value, 1.0)
            trace = replace(hit.trace, arms=(arm, *own), steps=())
            hits.append(replace(hit, collection=name, trace=trace))
    scores = np.concatenate(values) if values else np.empty(0)
    return _Pool(tuple(hits), Ranking.of(np.arange(len(hits)), scores))


def _read_of(hit: FoundPassage) -> str:
    """Give what a reranker reads of a passage."""
    return "\n".join(filter(None, (" > ".join(hit.heading), hit.text)))


def _told(
    answers: Sequence[Answered], pool: _Pool, standing: Standing, plan: SearchPlan, watch: Stopwatch
) -> SearchResult:
    best = list(standing.ranking)[: plan.k]
    hits = tuple(
        replace(pool.hits[key], rank=rank, score=score, trace=_stepped(pool.hits[key].trace, standing.steps, key))
        for rank, (key, score) in enumerate(best, start=1)
    )
    first = answers[0].result
    relevance = [hit.trace.rerank.relevance for hit in hits if hit.trace.rerank is not None]
    return SearchResult(
        query=first.query,
        mode=first.mode,
        fusion="rrf",
        hits=hits,
        constants=standing.constants,
        timings_ms={**{one.name: one.result.timings_ms["total"] for one in answers}, **watch.total()},
        degraded=(*_notes(answers), *standing.degraded),
        rerank=standing.rerank,
        stages=_stages(answers, len(pool.hits), standing, watch),
        counts=Counts(
            sum(one.result.counts.retrieved for one in answers),
            sum(one.result.counts.after_filter for one in answers),
            len(hits),
        ),
        wordings=first.wordings,
        confidence=confidence([one for one in relevance if one is not None]),
        profile=plan.profile,
    )


def _stepped(trace: HitTrace, steps: Mapping[int, tuple[Step, ...]], key: int) -> HitTrace:
    return replace(trace, steps=steps.get(key, ()))


def _notes(answers: Sequence[Answered]) -> tuple[str, ...]:
    return tuple(f"{one.name}: {note}" for one in answers for note in one.result.degraded)


def _stages(answers: Sequence[Answered], pooled: int, standing: Standing, watch: Stopwatch) -> tuple[StageTrace, ...]:
    searched = tuple(
        StageTrace(one.name, one.result.counts.retrieved, len(one.result.hits), one.result.timings_ms["total"])
        for one in answers
    )
    joined = (StageTrace("fuse", pooled, pooled), *standing.stages)
    return (*searched, *(replace(one, milliseconds=watch.steps.get(one.name, 0.0)) for one in joined))
