"""The boost stage: codes that question and passage share multiply a score, rules on a passage's fields add to it."""

from dataclasses import dataclass
from itertools import compress

from twofold.domain.errors import InvalidInputError
from twofold.pipeline.results import Step
from twofold.pipeline.standing import Passages, Standing
from twofold.ranking.boost import GREATEST_MULTIPLIER, NO_PATTERNS, CodePatterns, Rule, boosted, boosts_for, codes_in

STAGES = ("fused", "rerank", "both")


@dataclass(frozen=True, slots=True)
class BoostPlan:
    """What lifts a passage; without patterns and rules nothing does.

    `stage` says which scores are lifted: `fused`, before the reranker, `rerank`, after it, or `both` (checklist C11).
    """

    patterns: CodePatterns = NO_PATTERNS
    multiplier: float = 1.5
    rules: tuple[Rule, ...] = ()
    stage: str = "fused"


def check(plan: BoostPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    if plan.stage not in STAGES:
        raise InvalidInputError(f"There is no boost stage {plan.stage!r}.", f"Use one of {', '.join(STAGES)}.")
    if not 1.0 <= plan.multiplier <= GREATEST_MULTIPLIER:
        raise InvalidInputError(f"The boost multiplier must be from 1 to 1000, not {plan.multiplier}.", "Try 1.5.")


def boost(standing: Standing, passages: Passages, question: str, plan: BoostPlan, stage: str) -> Standing:
    """Lift what the plan lifts, at this stage; the order is left as it is where nothing is to be lifted."""
    codes = codes_in(plan.patterns, question)
    if plan.stage not in (stage, "both") or not (codes or plan.rules) or not len(standing.ranking):
        return standing
    keys, before = standing.ranking.keys.tolist(), standing.ranking.scores.tolist()
    fields = passages.fields(keys) if plan.rules else ()
    steps = boosts_for(codes, passages.texts(keys), plan.multiplier, plan.rules, fields)
    changed = [step.multiplier != 1.0 or step.bonus != 0.0 for step in steps]
    name = f"boost {stage}"
    made = {
        key: Step(name, score, step.apply(score), step)
        for key, score, step in compress(zip(keys, before, steps, strict=True), changed)
    }
    said = (f"codes {', '.join(codes)}",) if codes else ()
    decisions = (*said, f"lifted {len(made)} of {len(keys)}")
    return standing.after(name, boosted(standing.ranking, steps), steps=made, decisions=decisions)
