"""The probability that something was found: its formula, its choice of coefficients, and those that come along."""

import doctest
import math
from dataclasses import replace

import pytest

from twofold.ranking import answerability
from twofold.ranking.answerability import (
    Calibration,
    Coefficient,
    Measured,
    Signals,
    calibration_for,
    load_calibrations,
    p_answerable,
    value_of,
)

UNMEASURED = Measured(0, 0.0, 0.5, 0.25)
SIGNALS = Signals(3, 0.5, 0.8, 0.75, 0.1, 0.2, 1.0)
COEFFICIENTS = (Coefficient("vector_top", 10.0, 0.4, 0.9), Coefficient("coverage_first", 2.0, 0.0, 1.0))
FITTED = Calibration("hybrid", "made", "", -6.0, COEFFICIENTS, 0.5, UNMEASURED, UNMEASURED)
REREAD = replace(
    FITTED, reranker="reader", coefficients=(*COEFFICIENTS, Coefficient("relevance", 0.5, -12.0, 12.0)), intercept=-7.0
)


def test_the_worked_numbers_hold() -> None:
    outcome = doctest.testmod(answerability)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_it_is_the_logistic_function_of_the_weighted_sum() -> None:
    assert p_answerable(SIGNALS, FITTED) == pytest.approx(1.0 / (1.0 + math.exp(-(-6.0 + 10.0 * 0.75 + 2.0 * 0.5))))


def test_what_a_reranker_said_counts_as_log_odds() -> None:
    read = replace(SIGNALS, relevance=0.9)
    assert p_answerable(read, REREAD) == pytest.approx(
        1.0 / (1.0 + math.exp(-(-7.0 + 10.0 * 0.75 + 2.0 * 0.5 + 0.5 * math.log(9.0))))
    )


@pytest.mark.parametrize(("relevance", "log_odds"), [(0.0, -11.513), (0.5, 0.0), (1.0, 11.513)])
def test_a_certain_reranker_is_not_believed_without_end(relevance: float, log_odds: float) -> None:
    assert value_of(replace(SIGNALS, relevance=relevance), "relevance") == pytest.approx(log_odds, abs=1e-3)


def test_a_calibration_for_reranked_passages_refuses_those_that_were_not() -> None:
    with pytest.raises(ValueError, match="nothing was reranked"):
        p_answerable(SIGNALS, REREAD)


def test_where_no_passage_was_found_none_is_relevant() -> None:
    assert p_answerable(None, FITTED) == 0.0


def test_a_cosine_beyond_any_measured_is_believed_no_more_than_the_greatest_measured() -> None:
    at_the_end, beyond = replace(SIGNALS, vector_top=0.9), replace(SIGNALS, vector_top=0.99)
    assert p_answerable(beyond, FITTED) == p_answerable(at_the_end, FITTED)


def test_a_signal_without_weight_changes_nothing() -> None:
    counted = replace(FITTED, coefficients=(*COEFFICIENTS, Coefficient("terms", 0.0, 2.0, 40.0)))
    single = replace(SIGNALS, terms=1)
    assert p_answerable(single, counted) == p_answerable(single, FITTED)


def test_a_calibration_is_for_its_mode_embedder_and_reranker_alone() -> None:
    words = replace(FITTED, mode="bm25", embedder="")
    held = (FITTED, REREAD, words)
    assert calibration_for(held, "hybrid", "made") is FITTED
    assert calibration_for(held, "hybrid", "made", "reader") is REREAD
    assert calibration_for(held, "hybrid", "another") is None
    assert calibration_for(held, "hybrid", "made", "another reader") is None
    assert calibration_for(held, "vector", "made") is None


def test_words_alone_are_calibrated_for_any_embedder() -> None:
    words = replace(FITTED, mode="bm25", embedder="")
    assert calibration_for((FITTED, words), "bm25", "another") is words


CALIBRATIONS = load_calibrations()
NAMES = [f"{one.mode} {one.embedder} {one.reranker}".strip() for one in CALIBRATIONS]


def test_the_default_ways_of_searching_are_calibrated() -> None:
    for mode in ("hybrid", "bm25", "vector"):
        assert calibration_for(CALIBRATIONS, mode, "bge-small-en-v1.5") is not None
    assert calibration_for(CALIBRATIONS, "hybrid", "never-measured") is None


def test_no_way_of_searching_has_two_calibrations() -> None:
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("calibration", CALIBRATIONS, ids=NAMES)
def test_the_calibrations_that_come_along_are_whole(calibration: Calibration) -> None:
    assert all(one.weight >= 0.0 and one.low < one.high for one in calibration.coefficients)
    assert {one.signal for one in calibration.coefficients} <= set(Signals.__slots__)
    assert ("relevance" in {one.signal for one in calibration.coefficients}) == bool(calibration.reranker)
    assert 0.0 < calibration.answerable < 1.0


@pytest.mark.parametrize("calibration", CALIBRATIONS, ids=NAMES)
def test_the_calibrations_that_come_along_were_measured_to_be_good(calibration: Calibration) -> None:
    assert calibration.held_out.questions > 100
    assert calibration.held_out.ece <= 0.08
    assert calibration.held_out.auroc >= 0.80
    assert calibration.unseen.auroc >= 0.80
