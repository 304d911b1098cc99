"""The stages after retrieval: each takes a state of a search and returns the next one, or the same where it is idle."""

from collections.abc import Iterator
from itertools import compress

import numpy as np

from twofold.domain.dataclass import replace
from twofold.domain.filters import MATCH_ALL, Filter, matches
from twofold.domain.types import Ranking
from twofold.query.operators import all_of
from twofold.query.parse import checked
from twofold.ranking.boost import boosted, boosts_for, codes_in
from twofold.ranking.diversify import Candidate, Limits, diversified
from twofold.ranking.metadata_boost import MetadataStep, QueryKind, metadata_features, with_metadata
from twofold.search.degradation import Stage
from twofold.search.rerank import RerankInput
from twofold.search.reranker_chain import rerank_with_fallback, reranker_chain_for
from twofold.search.result import FilterSummary, Step
from twofold.search.state import Passages, PipelineState


def condition_of(state: PipelineState) -> Filter:
    """Return what a passage must pass: the search's filter, the plan's own and the question's."""
    plan, parsed = state.plan, state.request.parsed
    asked = parsed.filter
    if plan.results is not None:
        asked = all_of(plan.results.hidden_documents(state), asked)
    if plan.filter is MATCH_ALL and plan.default_filter is MATCH_ALL:
        return asked
    return all_of(checked(plan.filter), all_of(plan.default_filter_left, asked))


def rerank(state: PipelineState) -> PipelineState:
    """Let a reranker read the best candidates; the fused order is kept if there is no reranker."""
    if not reranks(state):
        return state
    words = state.request.complete or state.request.parsed.words
    reading = RerankInput(words, state.ranking, state.passages.texts)
    chain = reranker_chain_for(state.parts, state.plan)
    with state.watch.step("rerank"):
        return rerank_with_fallback(state, chain, reading, state.plan.rerank, state.watch.elapsed)


def reranks(state: PipelineState) -> bool:
    """Return whether there is a reranker to ask, and nothing has failed before."""
    return bool(state.parts.models.rerankers) and Stage.RERANK in state.query.degradation.left


def boost_fused(state: PipelineState) -> PipelineState:
    """Boost the fused scores."""
    with state.watch.step("boost_fused"):
        return _boosted(state, "fused")


def boost_reranked(state: PipelineState) -> PipelineState:
    """Boost the scores that the reranker left, where there is one."""
    if not reranks(state):
        return state
    with state.watch.step("boost_reranked"):
        return _boosted(state, "reranked")


def _boosted(state: PipelineState, stage: str) -> PipelineState:
    """Lift what the plan lifts, at this stage; the order is left as it is where nothing is to be lifted."""
    plan, passages = state.plan.boost, state.passages
    if plan.stage not in (stage, "both") or not len(state.ranking):
        return state
    codes = codes_in(plan.patterns, state.request.parsed.original)
    if not (codes or plan.rules):
        return state
    keys, before = state.ranking.keys.tolist(), state.ranking.scores.tolist()
    fields = passages.fields(keys) if plan.rules else ()
    steps = boosts_for(codes, passages.texts(keys), plan.multiplier, plan.rules, fields)
    changed = [step.multiplier != 1.0 or step.bonus != 0.0 for step in steps]
    name = f"boost_{stage}"
    made = {
        key: Step(name, score, step.apply(score), step)
        for key, score, step in compress(zip(keys, before, steps, strict=True), changed)
    }
    said = (f"codes {', '.join(codes)}",) if codes else ()
    decisions = (*said, f"lifted {len(made)} of {len(keys)}")
    return state.after(name, boosted(state.ranking, steps), steps=made, decisions=decisions)


def post_filter(state: PipelineState) -> PipelineState:
    """Keep what passes: of 100 candidates, 3 of them in SQL files, `type == ".sql"` leaves these 3."""
    if state.plan.filter_stage == "pre":
        return state
    passages, condition = state.passages, condition_of(state)
    if condition == MATCH_ALL:
        return state
    ranking = state.ranking
    with state.watch.step("post_filter"):
        passing = [matches(condition, fields) for fields in passages.fields(ranking.keys.tolist())]
        kept = np.array(passing, dtype=np.bool_)
    left = Ranking(ranking.keys[kept], ranking.scores[kept])
    summary = FilterSummary(candidates=len(ranking), kept=len(left))
    return replace(state.after("post_filter", left), filtered=summary)


BATCH_SIZE = 32


def diversify(state: PipelineState) -> PipelineState:
    """Keep the best k that the limits allow, in their order."""
    passages, limits = state.passages, state.plan.diversity
    if limits == Limits():
        return state
    made = diversified(_candidates(state.ranking, passages), limits, state.plan.k)
    places = state.ranking.ranks()
    kept = np.array([places[key] - 1 for key in made.kept], dtype=np.intp)
    ranking = Ranking(state.ranking.keys[kept], state.ranking.scores[kept])
    names = {key: passages.chunks([key])[0].id for one in made.dropped for key in (one.key, one.keeper)}
    decisions = tuple(f"left out {names[one.key]}: {one.reason}, {names[one.keeper]} stays" for one in made.dropped)
    unseen = len(state.ranking) - len(ranking) - len(made.dropped)
    return replace(state.after("diversify", ranking, decisions=decisions), dropped=made.dropped, unseen=unseen)


def _candidates(ranking: Ranking, passages: Passages) -> Iterator[Candidate]:
    keys = ranking.keys.tolist()
    for start in range(0, len(keys), BATCH_SIZE):
        some = keys[start : start + BATCH_SIZE]
        for key, chunk, info in zip(some, passages.chunks(some), passages.infos(some), strict=True):
            yield Candidate(key, info.id, chunk.page, chunk.text)


def metadata_boost(state: PipelineState) -> PipelineState:
    """Add to each score what the passage's fields are worth for a question."""
    weights, passages, request = state.plan.metadata_boost, state.passages, state.request
    if weights.is_idle or not len(state.ranking):
        return state
    asked = QueryKind(frozenset(request.parsed.words.lower().split()), request.kinds)
    keys, scores = state.ranking.keys.tolist(), state.ranking.scores.tolist()
    steps = [MetadataStep(weights, metadata_features(fields, asked)) for fields in passages.fields(keys)]
    made = {
        key: Step("metadata_boost", score, step.apply(score), step)
        for key, score, step in zip(keys, scores, steps, strict=True)
    }
    return state.after("metadata_boost", with_metadata(state.ranking, steps), steps=made)


def hide(state: PipelineState) -> PipelineState:
    """Leave out the passages that the search or the index hides; hidden documents were no candidates."""
    return state if state.plan.results is None else state.plan.results.hide(state)


def rescore(state: PipelineState) -> PipelineState:
    """Replace scores by a formula, and let them fall with age, where that was asked for."""
    return state if state.plan.results is None else state.plan.results.rescore(state)


def collapse(state: PipelineState) -> PipelineState:
    """Keep the best passage of each document, where that was asked for."""
    return state if state.plan.results is None else state.plan.results.collapse(state)


def reorder(state: PipelineState) -> PipelineState:
    """Order by novelty or by fields, where that was asked for."""
    return state if state.plan.results is None else state.plan.results.reorder(state)


def pin(state: PipelineState) -> PipelineState:
    """Put what the search or the index pins first."""
    return state if state.plan.results is None else state.plan.results.pin(state)
