"""A plan that cannot be is refused before anything is done, with a remedy."""

from dataclasses import replace

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.pipeline.boosting import BoostPlan
from twofold.pipeline.plan import SearchPlan, check
from twofold.pipeline.rerank import RerankPlan
from twofold.pipeline.rewrite_plan import RewritePlan
from twofold.ranking.fusion import FusionPlan

PLAN = SearchPlan()


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, mode="psychic"),
        replace(PLAN, filter_stage="sometimes"),
        replace(PLAN, on_failure="llm"),
        replace(PLAN, k=0),
        replace(PLAN, k=1_001),
        replace(PLAN, window=-1),
        replace(PLAN, window=51),
        replace(PLAN, depth="x"),
        replace(PLAN, depth="-5"),
        replace(PLAN, depth="5y"),
        replace(PLAN, depth="5 x"),
        replace(PLAN, depth=100_001),
        replace(PLAN, k=1_000, depth="101x"),
        replace(PLAN, fusion=FusionPlan("cold")),
        replace(PLAN, fusion=FusionPlan(dense_weight=1.01)),
        replace(PLAN, fusion=FusionPlan(dense_weight=float("nan"))),
        replace(PLAN, fusion=FusionPlan(lexical_weight=float("inf"))),
        replace(PLAN, fusion=FusionPlan(rank_constant=-1.0)),
        replace(PLAN, fusion=FusionPlan(lexical_norm="loud")),
        replace(PLAN, rewrite=RewritePlan(variants=11)),
        replace(PLAN, rewrite=RewritePlan(merge="shuffle")),
        replace(PLAN, boost=BoostPlan(stage="never")),
        replace(PLAN, boost=BoostPlan(multiplier=0.5)),
        replace(PLAN, rerank=RerankPlan(candidates=0)),
        replace(PLAN, rerank=RerankPlan(threshold=1.5)),
        replace(PLAN, rerank=RerankPlan(weight=float("nan"))),
        replace(PLAN, rerank=RerankPlan(budget_ms=-1.0)),
    ],
)
def test_it_is_refused(plan: SearchPlan) -> None:
    with pytest.raises(InvalidInputError) as refused:
        check(plan)

    assert refused.value.remedy


@pytest.mark.parametrize(
    ("depth", "k", "reach"), [("5x", 5, 25), (100, 10, 100), ("100", 200, 200), ("1x", 7, 7), (1, 1, 1), ("0", 3, 3)]
)
def test_the_arms_reach_at_least_as_far_as_what_is_given(depth: int | str, k: int, reach: int) -> None:
    plan = replace(PLAN, depth=depth, k=k)
    check(plan)

    assert plan.reach == reach
