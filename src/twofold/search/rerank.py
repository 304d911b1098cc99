"""Reranking: a model reads the best candidates together with the question, and what it says is blended in.

Texts are cut to what such models read anyway. With a time budget the candidates are read a few at a
time, the best first, and reading stops where the next few would, at the pace of those before, end too late.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import Reranker
from twofold.domain.types import Ranking, Scores
from twofold.domain.warning import StageWarning, WarningCode
from twofold.ranking.rerank_blend import Blend, blend
from twofold.search.plan import RerankPlan
from twofold.search.result import RerankSummary, RerankTrace

QUERY_CHARACTERS = 512
TEXT_CHARACTERS = 4_000
BATCH_SIZE = 5


@dataclass(frozen=True, slots=True, eq=False)
class RerankInput:
    """What is to be read: the question's words, the fused order, and how to get the texts of some keys."""

    question: str
    fused: Ranking
    texts_of: Callable[[Sequence[int]], Sequence[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Reranked:
    """An order with each passage's trace by key, and what was done; the fused order where nothing could be read."""

    ranking: Ranking
    traces: Mapping[int, RerankTrace] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    summary: RerankSummary | None = None
    warnings: tuple[StageWarning, ...] = ()


def rerank(
    reranker: Reranker, reading: RerankInput, plan: RerankPlan, elapsed_ms: Callable[[], float] = lambda: 0.0
) -> Reranked:
    """Rerank the first candidates of an order; the others stay beneath, and are left out where there is a threshold.

    `elapsed_ms` tells how much of the budget is spent; where all of it is, nothing is read, and a warning says so.
    Raises ModelError when the reranker fails, or gives what no reranker may.
    """
    fused = reading.fused
    wanted = fused.keys[: plan.candidates].tolist()
    if not wanted:
        return Reranked(fused)
    raw = _read(reranker, reading, wanted, plan, elapsed_ms)
    relevance = _relevance(reranker, raw)
    if not len(raw):
        why = f"the budget of {plan.budget_ms:g} ms was spent."
        note = StageWarning("rerank", WarningCode.SKIPPED, why)
        return Reranked(fused, summary=_summary(reranker, plan, 0, 0), warnings=(note,))
    return _blended(reranker, fused, (raw, relevance), plan)


def _read(
    reranker: Reranker, reading: RerankInput, keys: Sequence[int], plan: RerankPlan, elapsed_ms: Callable[[], float]
) -> Scores:
    """Score the texts of some keys, or of as many as the budget allows."""
    question = reading.question[:QUERY_CHARACTERS]
    budget_ms = plan.budget_ms
    size = min(plan.batch or len(keys), BATCH_SIZE if budget_ms else len(keys))
    scores: list[Scores] = []
    slowest = 0.0
    for start in range(0, len(keys), size):
        before = elapsed_ms()
        some = keys[start : start + size]
        if budget_ms and (before >= budget_ms or before + slowest * len(some) > budget_ms):
            break
        texts = [text[:TEXT_CHARACTERS] for text in reading.texts_of(some)]
        scores.append(_checked(reranker, reranker.score(question, texts), len(texts)))
        slowest = max(slowest, (elapsed_ms() - before) / len(some))
    return np.concatenate(scores) if scores else np.empty(0, dtype=np.float64)


def _checked(reranker: Reranker, raw: Scores, count: int) -> Scores:
    values = np.asarray(raw, dtype=np.float64)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ModelError(
            f"{reranker.identity.name} did not give one finite score for each text.", "Use another reranker."
        )
    return values


def _relevance(reranker: Reranker, raw: Scores) -> Scores:
    values = np.asarray(reranker.relevance(raw), dtype=np.float64)
    if values.shape != raw.shape or not ((values >= 0.0) & (values <= 1.0)).all():
        raise ModelError(f"{reranker.identity.name} gave a relevance outside of 0 to 1.", "Use another reranker.")
    return values


def _blended(reranker: Reranker, fused: Ranking, read: tuple[Scores, Scores], plan: RerankPlan) -> Reranked:
    raw, relevance = read
    made = blend(fused, relevance, plan.weight)
    traces = _traces(fused, raw, relevance, made, plan.weight)
    ranking, dropped = made.ranking, 0
    if plan.threshold:
        dropped = int((relevance < plan.threshold).sum())
        relevant = fused.keys[: len(raw)][relevance >= plan.threshold]
        kept = np.isin(ranking.keys, relevant)
        ranking = Ranking(ranking.keys[kept], ranking.scores[kept])
    if plan.top_n:
        ranking = Ranking(ranking.keys[: plan.top_n], ranking.scores[: plan.top_n])
    constants = {"fused_low": made.span.low, "fused_high": made.span.high}
    return Reranked(ranking, traces, constants, _summary(reranker, plan, len(raw), dropped))


def _traces(fused: Ranking, raw: Scores, relevance: Scores, made: Blend, weight: float) -> Mapping[int, RerankTrace]:
    read = zip(raw.tolist(), relevance.tolist(), strict=True)
    before = enumerate(zip(fused.keys.tolist(), fused.scores.tolist(), made.fused_values.tolist(), strict=True), 1)
    traces = {}
    for rank, (key, score, value) in before:
        given = next(read, None)
        if given is None:
            traces[key] = RerankTrace(rank, score, value, None, None, 0.0)
        else:
            traces[key] = RerankTrace(rank, score, value, *given, weight)
    return traces


def _summary(reranker: Reranker, plan: RerankPlan, read: int, dropped: int) -> RerankSummary:
    identity = reranker.identity
    return RerankSummary(identity.name, identity.scale, plan.candidates, read, dropped, plan.weight, plan.threshold)
