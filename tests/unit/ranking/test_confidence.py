"""Confidence: its range and its direction, and no number where there is no absolute scale."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.ranking.confidence import confidence

RELEVANCES = st.lists(st.floats(0, 1), max_size=10)
NUMBERS = st.integers(1, 12)


@given(RELEVANCES.filter(bool), NUMBERS)
def test_it_is_half_and_half_the_mean_of_the_first(relevances: list[float], n: int) -> None:
    top = relevances[:n]

    assert confidence(relevances, n) == pytest.approx(0.5 + 0.5 * sum(top) / len(top))


@given(RELEVANCES, NUMBERS)
def test_it_lies_from_a_half_to_one_or_is_none(relevances: list[float], n: int) -> None:
    made = confidence(relevances, n)

    assert (made is None) == (not relevances)
    assert made is None or 0.5 <= made <= 1.0


@given(RELEVANCES.filter(bool), NUMBERS, st.integers(0, 9), st.floats(0, 1))
def test_a_passage_that_is_more_relevant_never_lowers_it(relevances: list[float], n: int, at: int, more: float) -> None:
    at %= len(relevances)
    raised = [*relevances]
    raised[at] = max(raised[at], more)

    assert (confidence(raised, n) or 0.0) >= (confidence(relevances, n) or 0.0) - 1e-12


def test_what_else_was_found_does_not_matter() -> None:
    assert confidence([0.2, 0.1], n=1) == confidence([0.2], n=1) == 0.6


@pytest.mark.parametrize("relevance", [-0.1, 1.1, float("nan"), 9.15])
def test_scores_on_another_scale_are_refused(relevance: float) -> None:
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        confidence([relevance])


def test_no_passages_to_speak_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 1"):
        confidence([0.5], n=0)
