"""The boost stage: codes that question and passage share multiply a score, rules on a passage's fields add to it."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import compress

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, Filter, matches
from twofold.domain.types import Ranking
from twofold.ranking.boost import MAX_MULTIPLIER, NO_PATTERNS, CodePatterns, Rule, boosted, boosts_for, codes_in
from twofold.ranking.diversify import Candidate, Limits, diversified
from twofold.ranking.metadata_boost import MetadataStep, MetadataWeights, QueryKind, metadata_features, with_metadata
from twofold.search.result import FilterSummary, Step
from twofold.search.state import Passages, PipelineState

STAGES = ("fused", "reranked", "both")


@dataclass(frozen=True, slots=True)
class BoostPlan:
    """What lifts a passage; without patterns and rules nothing does.

    `stage` says which scores are lifted: `fused`, before the reranker, `reranked`, after it, or `both`.
    """

    patterns: CodePatterns = NO_PATTERNS
    multiplier: float = 1.5
    rules: tuple[Rule, ...] = ()
    stage: str = "fused"


def check(plan: BoostPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    if plan.stage not in STAGES:
        raise InvalidInputError(f"There is no boost stage {plan.stage!r}.", f"Use one of {', '.join(STAGES)}.")
    if not 1.0 <= plan.multiplier <= MAX_MULTIPLIER:
        raise InvalidInputError(f"The boost multiplier must be from 1 to 1000, not {plan.multiplier}.", "Try 1.5.")


def boost(standing: PipelineState, passages: Passages, question: str, plan: BoostPlan, stage: str) -> PipelineState:
    """Lift what the plan lifts, at this stage; the order is left as it is where nothing is to be lifted."""
    codes = codes_in(plan.patterns, question)
    if plan.stage not in (stage, "both") or not (codes or plan.rules) or not len(standing.ranking):
        return standing
    keys, before = standing.ranking.keys.tolist(), standing.ranking.scores.tolist()
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
    return standing.after(name, boosted(standing.ranking, steps), steps=made, decisions=decisions)


FILTER_STAGES = ("pre", "post")


def post_filter(standing: PipelineState, passages: Passages, condition: Filter) -> PipelineState:
    """Keep what passes: of 100 candidates, 3 of them in SQL files, `type == ".sql"` leaves these 3."""
    if condition == MATCH_ALL:
        return standing
    ranking = standing.ranking
    passing = [matches(condition, fields) for fields in passages.fields(ranking.keys.tolist())]
    kept = np.array(passing, dtype=np.bool_)
    left = Ranking(ranking.keys[kept], ranking.scores[kept])
    summary = FilterSummary(candidates=len(ranking), kept=len(left))
    return replace(standing.after("post_filter", left), filtered=summary)


BATCH_SIZE = 32


def diversify(standing: PipelineState, passages: Passages, limits: Limits, k: int) -> PipelineState:
    """Keep the best k that the limits allow, in their order."""
    if limits == Limits():
        return standing
    made = diversified(_candidates(standing.ranking, passages), limits, k)
    places = standing.ranking.ranks()
    kept = np.array([places[key] - 1 for key in made.kept], dtype=np.intp)
    ranking = Ranking(standing.ranking.keys[kept], standing.ranking.scores[kept])
    names = {key: passages.chunks([key])[0].id for one in made.dropped for key in (one.key, one.keeper)}
    decisions = tuple(f"left out {names[one.key]}: {one.reason}, {names[one.keeper]} stays" for one in made.dropped)
    return standing.after("diversify", ranking, decisions=decisions)


def _candidates(ranking: Ranking, passages: Passages) -> Iterator[Candidate]:
    keys = ranking.keys.tolist()
    for start in range(0, len(keys), BATCH_SIZE):
        some = keys[start : start + BATCH_SIZE]
        for key, chunk, info in zip(some, passages.chunks(some), passages.infos(some), strict=True):
            yield Candidate(key, info.id, chunk.page, chunk.text)


def weigh(
    standing: PipelineState, passages: Passages, words: str, kinds: Collection[str], weights: MetadataWeights
) -> PipelineState:
    """Add to each score what the passage's fields are worth for a question; `kinds` are the semantic types it wants."""
    if weights.is_idle or not len(standing.ranking):
        return standing
    asked = QueryKind(frozenset(words.lower().split()), frozenset(kinds))
    keys, scores = standing.ranking.keys.tolist(), standing.ranking.scores.tolist()
    steps = [MetadataStep(weights, metadata_features(fields, asked)) for fields in passages.fields(keys)]
    made = {
        key: Step("metadata_boost", score, step.apply(score), step)
        for key, score, step in zip(keys, scores, steps, strict=True)
    }
    return standing.after("metadata_boost", with_metadata(standing.ranking, steps), steps=made)
