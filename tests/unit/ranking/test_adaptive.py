"""The weight of meaning by question: monotone in what the retrievers tell apart, and itself where they tell nothing."""

import doctest
import statistics
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.ranking import adaptive
from twofold.ranking.adaptive import adaptive_weight, lead, separation

FEW = st.lists(st.floats(0.0, 1.0), max_size=3).map(lambda below: np.array([1.0, *below]))
"""Too few for a lead of the best above the fifth."""

VALUES = st.lists(st.floats(0.0, 1.0), max_size=30).map(lambda below: np.array([1.0, *below]))
WEIGHTS = st.floats(0.0, 1.0)


def test_the_worked_numbers_hold() -> None:
    outcome = doctest.testmod(adaptive)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@given(VALUES, st.randoms())
def test_separation_is_the_best_less_the_upper_median_in_any_order(values: np.ndarray, random: Random) -> None:
    shuffled = values.tolist()
    random.shuffle(shuffled)
    assert separation(np.array(shuffled)) == max(shuffled) - statistics.median_high(shuffled)


@given(VALUES, VALUES, WEIGHTS)
def test_the_weight_stays_within_0_and_1(bm25: np.ndarray, vector: np.ndarray, weight: float) -> None:
    assert 0.0 <= adaptive_weight(bm25, vector, weight) <= 1.0


@given(FEW, WEIGHTS)
def test_arms_that_separate_alike_leave_the_weight_as_it_is(values: np.ndarray, weight: float) -> None:
    assert adaptive_weight(values, values, weight) == pytest.approx(weight, abs=1e-9)


@given(FEW, FEW, st.floats(0.05, 0.95))
def test_the_arm_that_separates_more_gains(bm25: np.ndarray, vector: np.ndarray, weight: float) -> None:
    made = adaptive_weight(bm25, vector, weight)
    if separation(vector) > separation(bm25):
        assert made >= weight
    else:
        assert made <= weight + 1e-12


def test_where_five_passages_hold_the_words_alike_the_vectors_count_for_more() -> None:
    vector = np.array([1.0, 0.5, 0.5, 0.5, 0.5, 0.5])
    flat = np.array([1.0, 0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])  # lead .1, separates by .5
    steep = np.array([1.0, 0.5, 0.5, 0.5, 0.0])  # lead 1, separates by .5
    assert (lead(flat), lead(steep)) == pytest.approx((0.1, 1.0))
    # Odds .6 / .4 · .5 / .5 = 1.5; times exp(1.2 · .4) = 1.616 or exp(1.2 · -.5) = .549: 2.424 / 3.424, .823 / 1.823
    assert adaptive_weight(flat, vector, 0.6) == pytest.approx(0.7080, abs=1e-4)
    assert adaptive_weight(steep, vector, 0.6) == pytest.approx(0.4515, abs=1e-4)


@given(VALUES)
def test_a_lead_is_what_the_best_has_above_the_fifth_in_any_order(values: np.ndarray) -> None:
    assert lead(values[::-1]) == lead(values)
    assert 0.0 <= lead(values) <= 1.0


def test_an_arm_that_finds_everything_equally_good_has_no_say() -> None:
    alike, sharp = np.ones(5), np.array([1.0, 0.3, 0.2, 0.1, 0.0])
    assert adaptive_weight(sharp, alike, 0.6) == 0.0
    assert adaptive_weight(alike, sharp, 0.6) == 1.0


@pytest.mark.parametrize("candidates", [0, 1, 4])
def test_where_neither_arm_separates_the_weight_is_the_one_given(candidates: int) -> None:
    assert adaptive_weight(np.ones(candidates), np.ones(candidates), 0.6) == 0.6


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_an_arm_that_was_left_out_stays_out(weight: float) -> None:
    assert adaptive_weight(np.array([1.0, 0.2, 0.1]), np.array([1.0, 0.9, 0.5]), weight) == weight


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        adaptive_weight(np.ones(2), np.ones(2), weight)
