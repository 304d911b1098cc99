"""A plan that cannot be is refused before anything is done, with a remedy."""

from dataclasses import replace

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.ranking.fusion import FusionPlan
from twofold.search.plan import BoostPlan, QueryExpansionPlan, RerankPlan, SearchPlan, check

PLAN = SearchPlan()


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, mode="psychic"),
        replace(PLAN, filter_stage="sometimes"),
        replace(PLAN, on_failure="llm"),
        replace(PLAN, k=0),
        replace(PLAN, k=1_001),
        replace(PLAN, context_window=-1),
        replace(PLAN, context_window=51),
        replace(PLAN, candidates="x"),
        replace(PLAN, candidates="-5"),
        replace(PLAN, candidates="5y"),
        replace(PLAN, candidates="5 x"),
        replace(PLAN, candidates=100_001),
        replace(PLAN, k=1_000, candidates="101x"),
        replace(PLAN, fusion=FusionPlan("cold")),
        replace(PLAN, fusion=FusionPlan(vector_weight=1.01)),
        replace(PLAN, fusion=FusionPlan(vector_weight=float("nan"))),
        replace(PLAN, fusion=FusionPlan(bm25_weight=float("inf"))),
        replace(PLAN, fusion=FusionPlan(rrf_k=-1.0)),
        replace(PLAN, fusion=FusionPlan(bm25_norm="loud")),
        replace(PLAN, query_expansion=QueryExpansionPlan(multi_query=11)),
        replace(PLAN, query_expansion=QueryExpansionPlan(merge="shuffle")),
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

    assert refused.value.hint


@pytest.mark.parametrize(
    ("depth", "k", "reach"), [("5x", 5, 25), (100, 10, 100), ("100", 200, 200), ("1x", 7, 7), (1, 1, 1), ("0", 3, 3)]
)
def test_the_arms_reach_at_least_as_far_as_what_is_given(depth: int | str, k: int, reach: int) -> None:
    plan = replace(PLAN, candidates=depth, k=k)
    check(plan)

    assert plan.reach == reach
