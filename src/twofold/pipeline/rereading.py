"""The rerank stage: the first reranker that can be had reads the best again; where none can, that is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twofold.domain.errors import ModelError
from twofold.domain.ports import Reranker
from twofold.pipeline.limits import TimedCalls
from twofold.pipeline.patience import Patience, waited
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.rerank import Reading, Reranked, RerankPlan, rerank
from twofold.pipeline.results import Step
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Elapsed, Standing


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """Rerankers in the order in which they are tried, and how long each is waited for."""

    rerankers: Sequence[Reranker]
    calls: TimedCalls
    patience: Patience
    fails_open: bool = True


def readers_for(parts: SearchParts, plan: SearchPlan) -> Readers:
    """Give the rerankers that a search has, and the patience that its plan has with them."""
    return Readers(parts.aids.rerankers, parts.aids.calls, plan.patience, fails_open=plan.on_failure != "raise")


def reread(standing: Standing, readers: Readers, reading: Reading, plan: RerankPlan, elapsed_ms: Elapsed) -> Standing:
    """Rerank; a reranker that fails makes way for the next one, and the last leaves the order as it was (checklist 52).

    Raises ModelError where `fails_open` is false.
    """
    notes: list[str] = []
    for reranker in readers.rerankers:
        made = _tried(reranker, readers, reading, plan, elapsed_ms)
        if isinstance(made, Reranked):
            return _after(standing, reading, made, (*notes, *made.degraded))
        if not readers.fails_open:
            raise made
        notes.append(f"rerank unavailable: {made.message}")
    if plan.threshold and notes:
        notes[-1] += "; the threshold was not applied"
    return replace(standing, degraded=(*standing.degraded, *notes))


def _tried(
    reranker: Reranker, readers: Readers, reading: Reading, plan: RerankPlan, elapsed_ms: Elapsed
) -> Reranked | ModelError:
    patience = readers.patience

    def call() -> Reranked:
        return rerank(reranker, reading, plan, elapsed_ms)

    try:
        return waited(readers.calls, "reranking", patience.limits.rerank, patience.retry, call)
    except ModelError as error:
        return error


def _after(standing: Standing, reading: Reading, made: Reranked, notes: tuple[str, ...]) -> Standing:
    left = set(made.ranking.keys.tolist())
    scores = dict(zip(made.ranking.keys.tolist(), made.ranking.scores.tolist(), strict=True))
    before = dict(zip(reading.fused.keys.tolist(), reading.fused.scores.tolist(), strict=True))
    steps = {key: Step("rerank", before[key], scores[key], trace) for key, trace in made.traces.items() if key in left}
    summary = made.summary
    said = () if summary is None else (f"{summary.model} read {summary.read}, dropped {summary.dropped}",)
    after = standing.after("rerank", made.ranking, steps=steps, decisions=said)
    return replace(
        after,
        constants={**standing.constants, **made.constants},
        rerank=summary,
        degraded=(*standing.degraded, *notes),
    )
