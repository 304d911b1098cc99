"""The rerank stage: the first reranker that works reranks the best candidates; without one there is a warning."""

from collections.abc import Sequence
from dataclasses import replace

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import Reranker
from twofold.domain.warning import StageWarning, warning_of
from twofold.search.components import SearchComponents
from twofold.search.plan import RerankPlan, SearchPlan
from twofold.search.rerank import Reranked, RerankInput, rerank
from twofold.search.result import Step
from twofold.search.state import Elapsed, PipelineState
from twofold.search.timeouts import TimedCalls, Timeouts, waited


@dataclass(frozen=True, slots=True, eq=False)
class RerankerChain:
    """Rerankers in the order in which they are tried, and how long each is waited for."""

    rerankers: Sequence[Reranker]
    calls: TimedCalls
    patience: Timeouts
    fails_open: bool = True


def reranker_chain_for(parts: SearchComponents, plan: SearchPlan) -> RerankerChain:
    """Return the rerankers that a search has, and the patience that its plan has with them."""
    return RerankerChain(
        parts.models.rerankers, parts.models.calls, plan.timeouts, fails_open=plan.on_failure != "raise"
    )


def rerank_with_fallback(
    state: PipelineState, readers: RerankerChain, reading: RerankInput, plan: RerankPlan, elapsed_ms: Elapsed
) -> PipelineState:
    """Rerank; a reranker that fails makes way for the next one, and the last leaves the order as it was.

    Raises ModelError where `fails_open` is false.
    """
    notes: list[StageWarning] = []
    for reranker in readers.rerankers:
        made = _tried(reranker, readers, reading, plan, elapsed_ms)
        if isinstance(made, Reranked):
            return _after(state, reading, made, (*notes, *made.warnings))
        if not readers.fails_open:
            raise made
        notes.append(warning_of("rerank", made))
    if plan.threshold and notes:
        notes[-1] = replace(notes[-1], message=f"{notes[-1].message} The threshold was not applied.")
    return replace(state, warnings=(*state.warnings, *notes))


def _tried(
    reranker: Reranker, readers: RerankerChain, reading: RerankInput, plan: RerankPlan, elapsed_ms: Elapsed
) -> Reranked | ModelError:
    patience = readers.patience

    def call() -> Reranked:
        return rerank(reranker, reading, plan, elapsed_ms)

    try:
        return waited(readers.calls, "reranking", patience.limits.rerank, patience.retry, call)
    except ModelError as error:
        return error


def _after(
    state: PipelineState, reading: RerankInput, made: Reranked, warnings: tuple[StageWarning, ...]
) -> PipelineState:
    left = set(made.ranking.keys.tolist())
    scores = dict(zip(made.ranking.keys.tolist(), made.ranking.scores.tolist(), strict=True))
    before = dict(zip(reading.fused.keys.tolist(), reading.fused.scores.tolist(), strict=True))
    steps = {key: Step("rerank", before[key], scores[key], trace) for key, trace in made.traces.items() if key in left}
    summary = made.summary
    said = () if summary is None else (f"{summary.model} read {summary.read}, dropped {summary.dropped}",)
    after = state.after("rerank", made.ranking, steps=steps, decisions=said)
    return replace(
        after,
        constants={**state.constants, **made.constants},
        rerank=summary,
        warnings=(*state.warnings, *warnings),
    )
