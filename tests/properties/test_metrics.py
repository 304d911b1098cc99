"""Laws of the metrics, with ir-measures (trec_eval) as the oracle."""

import warnings
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.evaluation.metrics import (
    Gains,
    average_precision,
    hit_rate,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ir_measures

Judged = tuple[dict[str, int], list[str]]
METRICS = [ndcg, reciprocal_rank, recall, precision, hit_rate, average_precision]

names = st.integers(0, 30).map(lambda number: f"d{number}")
cuts = st.integers(1, 12)


@st.composite
def judged_rankings(draw: st.DrawFn) -> Judged:
    """Grades with at least one relevant document, and a ranking without repeats."""
    grades = draw(st.dictionaries(names, st.integers(0, 4), max_size=12))
    grades[draw(names)] = draw(st.integers(1, 4))
    return grades, draw(st.lists(names, unique=True, max_size=20))


def in_trec_eval(measure: ir_measures.measures.Measure, ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """Give our order falling scores: trec_eval sorts by score alone."""
    run = {"q": {document: float(len(ranked) - place) for place, document in enumerate(ranked)}}
    return float(ir_measures.calc_aggregate([measure], {"q": dict(grades)}, run)[measure])


@given(judged_rankings(), cuts)
def test_every_metric_equals_trec_eval(judged: Judged, k: int) -> None:
    grades, ranked = judged
    exponential = ir_measures.nDCG(gains={grade: 2**grade - 1 for grade in range(5)})
    pairs = [
        (ndcg(ranked, grades, k), ir_measures.nDCG @ k),
        (ndcg(ranked, grades, k, Gains.EXPONENTIAL), exponential @ k),
        (reciprocal_rank(ranked, grades, k), ir_measures.RR @ k),
        (recall(ranked, grades, k), ir_measures.R @ k),
        (precision(ranked, grades, k), ir_measures.P @ k),
        (hit_rate(ranked, grades, k), ir_measures.Success @ k),
        (average_precision(ranked, grades, k), ir_measures.AP @ k),
    ]
    for ours, measure in pairs:
        assert ours == pytest.approx(in_trec_eval(measure, ranked, grades), abs=1e-9), str(measure)


@given(judged_rankings(), cuts)
def test_every_metric_lies_between_0_and_1(judged: Judged, k: int) -> None:
    grades, ranked = judged
    for metric in METRICS:
        assert 0.0 <= metric(ranked, grades, k) <= 1.0


@given(judged_rankings(), cuts)
def test_the_ideal_order_reaches_the_best_possible(judged: Judged, k: int) -> None:
    grades, ranked = judged
    ideal = sorted(grades, key=lambda document: -grades[document])
    assert ndcg(ideal, grades, k) == 1.0
    assert reciprocal_rank(ideal, grades, k) == hit_rate(ideal, grades, k) == 1.0
    for metric in METRICS:
        assert metric(ideal, grades, k) >= metric(ranked, grades, k)


@given(judged_rankings(), cuts, st.integers(0, 18))
def test_moving_a_better_document_up_never_hurts(judged: Judged, k: int, place: int) -> None:
    grades, ranked = judged
    swapped = list(ranked)
    if place + 1 < len(ranked) and grades.get(ranked[place + 1], 0) > grades.get(ranked[place], 0):
        swapped[place : place + 2] = [ranked[place + 1], ranked[place]]
    for metric in METRICS:
        assert metric(swapped, grades, k) >= metric(ranked, grades, k) - 1e-12


@given(judged_rankings(), cuts)
def test_what_stands_beyond_the_cut_does_not_matter(judged: Judged, k: int) -> None:
    grades, ranked = judged
    for metric in METRICS:
        assert metric(ranked, grades, k) == metric(ranked[:k], grades, k)
