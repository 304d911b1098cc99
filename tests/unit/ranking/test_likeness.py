"""Growing a question by the first passages: against a slow sum, in its shares, and where it does nothing."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Statistics, TermQuery
from twofold.ranking import prf
from twofold.ranking.prf import MIN_SHARE, PrfParameters, prf_terms, shares

TERMS = st.sampled_from("abcdefgh")
IMPACTS = st.dictionaries(TERMS, st.floats(0.01, 20.0), max_size=8)
PASSAGES = st.lists(IMPACTS, min_size=1, max_size=5)
QUESTIONS = st.dictionaries(TERMS, st.floats(0.25, 3.0), min_size=1, max_size=4)
PLANS = st.builds(PrfParameters, st.integers(1, 6), st.integers(1, 9), st.floats(0.05, 0.9), st.floats(0.01, 1.0))


def test_the_worked_numbers_hold() -> None:
    outcome = doctest.testmod(prf)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@given(QUESTIONS, PASSAGES, PLANS)
def test_a_grown_question_is_the_slow_sum(
    question: dict[str, float], passages: list[dict[str, float]], plan: PrfParameters
) -> None:
    counting = np.full(len(passages), 1.0 / len(passages))
    slow = dict(question)
    for impacts in passages:
        best = sorted(impacts, key=lambda term: (-impacts[term], term))[: plan.terms]
        for term in best:
            part = impacts[term] / sum(impacts[one] for one in best) / len(passages)
            slow[term] = slow.get(term, 0.0) + part * sum(question.values()) * plan.weight / (1.0 - plan.weight)

    assert dict(prf_terms(TermQuery(question), passages, counting, plan).weights) == pytest.approx(slow)


@given(QUESTIONS, PASSAGES.filter(all), PLANS)
def test_what_is_new_has_the_share_that_was_given(
    question: dict[str, float], passages: list[dict[str, float]], plan: PrfParameters
) -> None:
    counting = np.full(len(passages), 1.0 / len(passages))
    expand_with_prf = prf_terms(TermQuery(question), passages, counting, plan)

    assert 1.0 - sum(question.values()) / sum(expand_with_prf.weights.values()) == pytest.approx(plan.weight)


@given(QUESTIONS, PASSAGES, PLANS)
def test_the_question_keeps_its_terms_in_their_places_and_loses_no_weight(
    question: dict[str, float], passages: list[dict[str, float]], plan: PrfParameters
) -> None:
    expand_with_prf = prf_terms(TermQuery(question), passages, np.full(len(passages), 1.0 / len(passages)), plan)

    assert list(expand_with_prf.weights)[: len(question)] == list(question)
    assert all(expand_with_prf.weights[term] >= weight for term, weight in question.items())


def test_everything_else_about_the_question_stays() -> None:
    asked = TermQuery({"disk": 1.0}, 0.9, 0.4, Statistics(3, 30, {"disk": 1}))
    expand_with_prf = prf_terms(asked, [{"quota": 2.0}], np.ones(1), PrfParameters())
    assert (expand_with_prf.k1, expand_with_prf.b, expand_with_prf.statistics) == (asked.k1, asked.b, asked.statistics)


@pytest.mark.parametrize("passages", [[], [{}], [{"gone": 0.0}]])
def test_passages_that_hold_nothing_add_nothing(passages: list[dict[str, float]]) -> None:
    asked = TermQuery({"disk": 1.0, "full": 2.0})
    assert prf_terms(asked, passages, np.ones(len(passages)), PrfParameters()) == asked


def test_of_equal_impacts_the_terms_that_come_first_in_order_are_taken() -> None:
    expand_with_prf = prf_terms(
        TermQuery({"q": 1.0}), [{"c": 1.0, "a": 1.0, "b": 1.0}], np.ones(1), PrfParameters(terms=2)
    )
    assert list(expand_with_prf.weights) == ["q", "a", "b"]


@given(st.lists(st.floats(0.0, 1.0), max_size=9), PLANS)
def test_shares_sum_to_1_fall_and_none_is_tiny(scores: list[float], plan: PrfParameters) -> None:
    made = shares(np.array(sorted(scores, reverse=True)), plan).tolist()

    assert len(made) <= min(len(scores), plan.top_k)
    assert sum(made) == pytest.approx(1.0 if scores else 0.0)
    assert made == sorted(made, reverse=True)
    assert all(share >= MIN_SHARE for share in made)


def test_passages_of_equal_score_share_alike() -> None:
    assert shares(np.full(8, 0.7), PrfParameters(top_k=4)).tolist() == [0.25] * 4


def test_a_clear_winner_stands_alone() -> None:
    assert shares(np.array([1.0, 0.5, 0.4]), PrfParameters()).tolist() == [1.0]


@pytest.mark.parametrize("plan", [PrfParameters(top_k=0), PrfParameters(weight=0.0)])
def test_likeness_can_be_left_out(plan: PrfParameters) -> None:
    assert len(shares(np.array([1.0, 0.9]), plan)) == 0


def test_every_passage_needs_its_share() -> None:
    with pytest.raises(InvalidInputError, match="2 passages were given 1 shares"):
        prf_terms(TermQuery({"q": 1.0}), [{"a": 1.0}, {"b": 1.0}], np.ones(1), PrfParameters())


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_k": -1},
        {"top_k": 21},
        {"terms": 0},
        {"terms": 101},
        {"weight": 1.0},
        {"weight": -0.1},
        {"temperature": 0.0},
        {"temperature": math.inf},
        {"temperature": math.nan},
    ],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        PrfParameters(**wrong)  # type: ignore[arg-type]
