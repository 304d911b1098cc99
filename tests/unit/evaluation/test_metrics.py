"""Metrics on cases small enough to work out by hand."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.evaluation.metrics import (
    Gains,
    average_precision,
    hit_rate,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)

Compute = Callable[[Sequence[str], Mapping[str, int], int], float]
ALL: list[Compute] = [ndcg, reciprocal_rank, recall, precision, hit_rate, average_precision]
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.__name__)


def test_first_relevant_at_1_3_and_5_makes_mrr_0_5111() -> None:
    ranked = ["a", "b", "c", "d", "e"]
    ranks = [reciprocal_rank(ranked, {wanted: 1}, 10) for wanted in ("a", "c", "e")]
    assert round(sum(ranks) / 3, 4) == 0.5111


def test_three_relevant_of_five_is_precision_0_6() -> None:
    assert precision(["a", "b", "c", "d", "e"], {"a": 1, "c": 2, "d": 1}, 5) == 0.6


def test_precision_counts_empty_places_as_not_relevant() -> None:
    assert precision(["a"], {"a": 1}, 5) == 0.2


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 0.0), (3, 1.0), (100, 1.0)])
def test_hit_rate_is_one_from_the_rank_of_the_first_relevant(k: int, value: float) -> None:
    assert hit_rate(["x", "y", "a"], {"a": 1}, k) == value


def test_linear_and_exponential_gains_differ_by_grades_above_one_only() -> None:
    ranked = ["b", "a"]
    assert ndcg(ranked, {"a": 1, "b": 1}, 2) == ndcg(ranked, {"a": 1, "b": 1}, 2, Gains.EXPONENTIAL)
    assert ndcg(ranked, {"a": 3, "b": 1}, 2) > ndcg(ranked, {"a": 3, "b": 1}, 2, Gains.EXPONENTIAL)


@every_metric
def test_an_empty_ranking_scores_nothing(metric: Compute) -> None:
    assert metric([], {"a": 1}, 10) == 0.0


@every_metric
@pytest.mark.parametrize("grades", [{}, {"a": 0}, {"a": -1}], ids=["unjudged", "zero", "negative"])
def test_nothing_relevant_scores_nothing(metric: Compute, grades: Mapping[str, int]) -> None:
    assert metric(["a", "b"], grades, 10) == 0.0


@every_metric
def test_a_negative_grade_is_as_good_as_none(metric: Compute) -> None:
    assert metric(["x", "a"], {"a": 1, "x": -2}, 2) == metric(["x", "a"], {"a": 1}, 2)


@every_metric
def test_a_document_listed_twice_gains_once(metric: Compute) -> None:
    grades = {"a": 2, "b": 1}
    assert metric(["a", "a", "a"], grades, 3) == metric(["a", "x", "y"], grades, 3)


@every_metric
@pytest.mark.parametrize("k", [0, -1])
def test_a_cut_below_one_is_refused(metric: Compute, k: int) -> None:
    with pytest.raises(InvalidInputError, match="at least 1"):
        metric(["a"], {"a": 1}, k)
