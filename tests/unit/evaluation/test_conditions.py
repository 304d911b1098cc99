"""Conditions that fail a build: how they are read, and when they hold."""

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.evaluation.thresholds import check_comparable, failures, parsed_condition

MEANS = {"a": {"nDCG@10": 0.5}, "b": {"nDCG@10": 0.75}}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("ndcg@10 < 0.7", ["a"]),
        ("nDCG@10<.75", ["a"]),
        ("ndcg@10 <= 0.75", ["a", "b"]),
        ("ndcg@10 > 0.6", ["b"]),
        ("ndcg@10 >= 1", []),
        ("ndcg@10 < -0.02", ["a"]),
        ("ndcg@10 < - 0.2", []),
        ("ndcg@10 < +0.25", ["a", "b"]),
        ("ndcg@10 < -0", ["a"]),
        ("ndcg@10 > +0.1", ["b"]),
    ],
)
def test_a_sign_makes_it_about_the_difference(text: str, holds: list[str]) -> None:
    found = failures([parsed_condition(text)], MEANS, {"nDCG@10": 0.625})

    assert [failure.name for failure in found] == holds


def test_what_holds_says_by_which_value() -> None:
    (value, difference) = failures(
        [parsed_condition("ndcg@10 < .7"), parsed_condition("ndcg@10  <  -0.1")],
        {"a": {"nDCG@10": 0.5}},
        {"nDCG@10": 0.75},
    )

    assert (value.condition, value.name, value.value) == ("ndcg@10 < .7", "a", 0.5)
    assert (difference.condition, difference.value) == ("ndcg@10 < -0.1", -0.25)


def test_a_difference_needs_something_to_differ_from() -> None:
    conditions = [parsed_condition("ndcg@10 < 0.1"), parsed_condition("ndcg@10 < -0.1")]

    with pytest.raises(InvalidInputError, match="nothing is compared"):
        check_comparable(conditions, compared=False)
    check_comparable(conditions[:1], compared=False)
    check_comparable(conditions, compared=True)


@pytest.mark.parametrize(
    "text",
    ["", "ndcg@10", "ndcg@10 < ", "ndcg@10 < .", "ndcg@10 = 1", "< 0.5", "ndcg@10 < 1e3", "ndcg@10 < x", "1 < 2"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parsed_condition(text)
