"""Intervals and tests: deterministic, and right where the answer is known."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.evaluation.significance import bootstrap_interval, holm, randomization_test, smallest_detectable

values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)


@given(values, st.integers(0, 3))
def test_an_interval_holds_within_the_values_and_repeats(sample: list[float], seed: int) -> None:
    interval = bootstrap_interval(sample, resamples=50, seed=seed)
    assert interval == bootstrap_interval(sample, resamples=50, seed=seed)
    assert min(sample) - 1e-12 <= interval.low <= interval.high <= max(sample) + 1e-12
    assert interval.mean == pytest.approx(sum(sample) / len(sample))


def test_the_interval_agrees_with_the_normal_one_on_many_questions() -> None:
    sample = np.random.default_rng(1).random(400)
    half = 1.96 * float(sample.std()) / 20
    interval = bootstrap_interval(sample.tolist())
    assert interval.low == pytest.approx(interval.mean - half, abs=half / 10)
    assert interval.high == pytest.approx(interval.mean + half, abs=half / 10)


def test_intervals_of_known_level_cover_the_truth_about_that_often() -> None:
    random = np.random.default_rng(5)
    intervals = [bootstrap_interval(random.random(60).tolist(), resamples=400) for _ in range(200)]
    covered = sum(interval.low <= 0.5 <= interval.high for interval in intervals)
    assert 178 <= covered <= 200


def test_a_wider_level_gives_a_wider_interval() -> None:
    sample = [0.0, 1.0, 0.5, 0.25, 0.75]
    narrow, wide = bootstrap_interval(sample, level=0.5), bootstrap_interval(sample, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_resampling_in_steps_gives_what_one_step_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = np.random.default_rng(2).random(30).tolist()
    whole = bootstrap_interval(sample), randomization_test(sample, sample[::-1])
    monkeypatch.setattr("twofold.evaluation.significance._CELL_BATCH_SIZE", 100)
    assert (bootstrap_interval(sample), randomization_test(sample, sample[::-1])) == whole


@pytest.mark.parametrize(("sample", "level", "resamples"), [([], 0.95, 10), ([1.0], 1.0, 10), ([1.0], 0.95, 0)])
def test_an_interval_of_nothing_is_refused(sample: list[float], level: float, resamples: int) -> None:
    with pytest.raises(InvalidInputError):
        bootstrap_interval(sample, level, resamples)


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=8))
def test_the_randomization_test_approaches_the_count_of_all_signs(pairs: list[tuple[int, int]]) -> None:
    first, second = [a / 10 for a, _ in pairs], [b / 10 for _, b in pairs]
    gaps = [a - b for a, b in pairs]
    sums = [
        abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True)))
        for signs in product((-1, 1), repeat=len(gaps))
    ]
    exact = sum(other >= abs(sum(gaps)) for other in sums) / len(sums)
    assert randomization_test(first, second, rounds=4000) == pytest.approx(exact, abs=0.05)


def test_the_randomization_test_does_not_care_who_comes_first() -> None:
    first, second = [0.1, 0.9, 0.4, 0.3], [0.2, 0.7, 0.3, 0.1]
    assert randomization_test(first, second) == randomization_test(second, first)


def test_a_steady_gain_over_many_questions_is_no_chance() -> None:
    base = np.random.default_rng(3).random(50)
    assert randomization_test((base + 0.05).tolist(), base.tolist()) < 0.001


@pytest.mark.parametrize(("first", "second"), [([], []), ([0.1], [0.1, 0.2])])
def test_what_is_not_paired_is_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="no pairs"):
        randomization_test(first, second)


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]) == ()


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_holm_rejects_what_the_stepwise_procedure_rejects(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    still_rejecting = True
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        still_rejecting = still_rejecting and (len(p_values) - place) * p_values[index] <= 0.05
        assert (adjusted[index] <= 0.05) == still_rejecting
        assert p_values[index] <= adjusted[index] <= 1.0


def test_four_times_the_questions_show_half_the_difference() -> None:
    assert smallest_detectable(400, 0.2) == pytest.approx(smallest_detectable(100, 0.2) / 2)
    with pytest.raises(InvalidInputError):
        smallest_detectable(0, 0.1)
