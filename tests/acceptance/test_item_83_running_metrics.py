"""Checklist 83, by its meaning: each query counts once, the error rate is errors over queries, times are by stage."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.metrics import MAX_NAMES, OTHERS, WINDOW_SIZE, DocumentCounts, Meter, Times, percentile

STAGES = {"embed": 50.0, "vector": 100.0, "rerank": 30.0, "fuse": 5.0, "synthesise": 50.0}


def test_each_query_counts_once_and_errors_are_a_share_of_all() -> None:
    meter = Meter()
    for total in (100.0, 200.0, 300.0):
        meter.record({"total": total})
    meter.record_error("ModelError")
    metrics = meter.snapshot()

    assert (metrics.queries, metrics.answered) == (4, 3)
    assert metrics.error_rate == 0.25
    assert metrics.errors == {"ModelError": 1}
    assert metrics.response == Times(3, 200.0, 200.0, 300.0)


def test_stages_add_up_to_the_time_of_the_answer() -> None:
    meter = Meter()
    meter.record(STAGES)
    metrics = meter.snapshot()

    assert metrics.response.mean_ms == 235.0
    assert {name: times.mean_ms for name, times in metrics.stages.items()} == STAGES


def test_the_hit_rate_is_the_share_of_answers_and_the_stages_of_those_are_not_counted_again() -> None:
    meter = Meter()
    meter.record({**STAGES, "total": 235.0}, documents=DocumentCounts(20, 18, 5))
    for _ in range(3):
        meter.record({**STAGES, "total": 1.0}, cached=True, documents=DocumentCounts(20, 18, 5))
    meter.record_error("ModelError")
    metrics = meter.snapshot()

    assert metrics.cache_hit_rate == 0.75
    assert metrics.response.mean_ms == pytest.approx(238.0 / 4)
    assert metrics.stages["embed"].count == 1
    assert metrics.documents == DocumentCounts(20, 18, 5)


def test_document_counts_add_up() -> None:
    meter = Meter()
    meter.record({"total": 1.0}, documents=DocumentCounts(20, 18, 5))
    meter.record({"total": 1.0}, documents=DocumentCounts(10, 10, 10))

    assert meter.snapshot().documents == DocumentCounts(
        documents_retrieved=30, documents_after_filter=28, documents_after_rerank=15
    )


def test_degraded_answers_are_answers() -> None:
    meter = Meter()
    meter.record({"total": 1.0}, degraded=True)
    metrics = meter.snapshot()

    assert (metrics.degraded, metrics.answered, metrics.error_rate) == (1, 1, 0.0)


def test_before_the_first_query_all_is_nothing() -> None:
    metrics = Meter().snapshot()

    assert (metrics.queries, metrics.cache_hit_rate, metrics.error_rate) == (0, 0.0, 0.0)
    assert metrics.response == Times()
    assert metrics.stages == {}


def test_percentiles_of_one_to_a_hundred() -> None:
    rising = [float(number) for number in range(1, 101)]

    assert [percentile(rising, percent) for percent in (50.0, 95.0, 100.0)] == [50.0, 95.0, 100.0]
    assert percentile([1.0, 2.0, 3.0, 4.0], 50.0) == 2.0
    assert percentile([7.0], 95.0) == 7.0
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 50.0)


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=60), st.sampled_from([1.0, 50.0, 95.0, 99.0, 100.0]))
def test_so_many_percent_lie_at_or_below_a_percentile_and_fewer_below_any_smaller_value(
    values: list[float], percent: float
) -> None:
    found = percentile(sorted(values), percent)

    assert sum(value <= found for value in values) * 100.0 >= percent * len(values)
    assert sum(value < found for value in values) * 100.0 < percent * len(values)
    assert found == np.percentile(values, percent, method="inverted_cdf")


def test_means_are_of_all_and_percentiles_of_the_last_thousand() -> None:
    meter = Meter()
    for number in range(3 * WINDOW_SIZE):
        meter.record({"total": 1.0 if number < 2 * WINDOW_SIZE else 4.0})

    assert meter.snapshot().response == Times(3 * WINDOW_SIZE, 2.0, 4.0, 4.0)


def test_names_without_end_are_counted_together() -> None:
    meter = Meter()
    for number in range(10 * MAX_NAMES):
        meter.record({f"stage {number}": 1.0})
        meter.record_error(f"kind {number}")
    metrics = meter.snapshot()

    assert len(metrics.stages) == len(metrics.errors) == MAX_NAMES + 1
    assert metrics.stages[OTHERS].count == metrics.errors[OTHERS] == 9 * MAX_NAMES
    assert metrics.queries == 20 * MAX_NAMES


def test_many_threads_lose_no_query() -> None:
    meter = Meter()

    def work(_: int) -> None:
        for _ in range(200):
            meter.record({"embed": 1.0, "total": 2.0}, degraded=True)
            meter.record_error("ModelError")
            meter.snapshot()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    metrics = meter.snapshot()

    assert (metrics.queries, metrics.answered, metrics.degraded) == (3_200, 1_600, 1_600)
    assert metrics.stages["embed"].count == 1_600


def test_a_snapshot_does_not_change_afterwards() -> None:
    meter = Meter()
    meter.record({"embed": 1.0, "total": 2.0})
    before = meter.snapshot()
    meter.record({"embed": 9.0, "total": 9.0})
    meter.record_error("ModelError")

    assert before.stages["embed"].count == before.queries == 1
    assert before.errors == {}


def test_what_a_real_search_measures_can_be_recorded() -> None:
    index = Index(":memory:", embedder=HashingEmbedder())
    index.add("undo the last commit", source="git.txt")
    meter = Meter()
    for _ in range(3):
        meter.record(index.search("commit", rerank="word-overlap").timings_ms)
    stages = meter.snapshot().stages

    assert {"embed", "bm25", "vector", "fuse", "rerank"} <= stages.keys()
    assert all(times.count == 3 and 0.0 <= times.p50_ms <= times.p95_ms < math.inf for times in stages.values())
