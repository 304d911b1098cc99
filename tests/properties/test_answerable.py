"""What holds of `p_answerable` for all signals: it is a probability, and more of a signal never lowers it."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from twofold.ranking.answerability import Calibration, Signals, load_calibrations, p_answerable

CALIBRATIONS = load_calibrations()
SHARE = st.floats(0.0, 1.0)
RISING = ("coverage_first", "coverage_three", "vector_top", "vector_rise", "bm25_rise", "agreement", "relevance")
calibrations = st.sampled_from(CALIBRATIONS)
signals = st.builds(
    Signals,
    terms=st.integers(0, 10_000),
    coverage_first=SHARE,
    coverage_three=SHARE,
    vector_top=st.floats(-1.0, 1.0),
    vector_rise=st.floats(0.0, 2.0),
    bm25_rise=st.floats(0.0, 100.0),
    agreement=SHARE,
    relevance=SHARE,
)


@given(signals, calibrations)
def test_it_lies_between_0_and_1(made: Signals, calibration: Calibration) -> None:
    assert 0.0 < p_answerable(made, calibration) < 1.0


@given(signals, calibrations, st.sampled_from(RISING), st.floats(0.0, 2.0))
def test_more_of_a_signal_never_lowers_it(made: Signals, calibration: Calibration, name: str, more: float) -> None:
    ceiling = 1.0 if name in {"coverage_first", "coverage_three", "vector_top", "agreement", "relevance"} else 1e3
    risen = replace(made, **{name: min(ceiling, getattr(made, name) + more)})

    assert p_answerable(risen, calibration) >= p_answerable(made, calibration)


@given(calibrations)
def test_the_best_that_was_measured_stands_far_above_the_worst(calibration: Calibration) -> None:
    nothing = Signals(5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    lows: dict[str, Any] = {one.signal: one.low for one in calibration.coefficients if one.signal in RISING[:-1]}
    highs: dict[str, Any] = {one.signal: one.high for one in calibration.coefficients if one.signal in RISING[:-1]}
    worst, best = replace(nothing, **lows), replace(nothing, relevance=1.0, **highs)

    assert p_answerable(worst, calibration) < 0.1
    assert p_answerable(best, calibration) > 0.9
