"""Hit rate, MRR, precision and the latency of stages, by numbers worked out by hand."""

import time

import pytest

from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.metrics import hit_rate, precision, reciprocal_rank
from twofold.evaluation.report import evaluate_run, metric_named
from twofold.evaluation.significance import bootstrap_interval
from twofold.search.state import Stopwatch


def ranked(rank: int) -> list[str]:
    """Rank the one relevant document at `rank`."""
    return [f"other {place}" for place in range(1, rank)] + ["relevant"]


def test_mrr_of_ranks_one_three_and_five_is_0_51() -> None:
    found = [reciprocal_rank(ranked(rank), {"relevant": 1}, 10) for rank in (1, 3, 5)]

    assert sum(found) / 3 == pytest.approx(0.5111, abs=5e-5)
    assert f"{sum(found) / 3:.2f}" == "0.51"


def test_mrr_as_eval_reports_it_is_the_same() -> None:
    queries = tuple(Question(f"q{rank}", f"found at {rank}") for rank in (1, 3, 5))
    grades = {query.id: {"relevant": 1} for query in queries}
    judged = JudgedCollection("made", "test", (), queries, grades)

    (scored,) = evaluate_run({f"q{rank}": ranked(rank) for rank in (1, 3, 5)}, judged, [metric_named("mrr@10")])

    assert bootstrap_interval(scored.values).mean == pytest.approx((1 + 1 / 3 + 1 / 5) / 3)


def test_precision_with_three_of_five_relevant_is_0_6() -> None:
    assert precision(["a", "x", "b", "y", "c"], {"a": 1, "b": 1, "c": 1}, 5) == pytest.approx(0.6)


def test_hit_rate_is_one_or_nothing_for_a_query_and_averaged_over_queries() -> None:
    hits = [hit_rate(ranked(rank), {"relevant": 1}, 5) for rank in (1, 5, 6, 9)]

    assert hits == [1.0, 1.0, 0.0, 0.0]
    assert sum(hits) / len(hits) == 0.5
    assert hit_rate(["a", "b"], {"a": 1, "b": 1}, 5) == 1.0


def test_the_latencies_of_stages_add_up_to_235_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    stages = {"expand": 50, "retrieve": 100, "rerank": 30, "filter": 5, "generate": 50}

    watch = Stopwatch()
    for stage, milliseconds in stages.items():
        with watch.step(stage):
            now += milliseconds / 1000
    timings = watch.total()

    assert timings["total"] == pytest.approx(235)
    assert {stage: timings[stage] for stage in stages} == pytest.approx(stages)
