"""Checklist 30: `dense + 0.35 · sparse + bonus` = 1.125 and the average `0.7 · dense + 0.3 · sparse` = 0.71.

The sparse .5 is BM25 over its best: with k1 = 2 and b = 0 one mention has 1/3 and four have 4/6.
"""

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, exact_index

REPEATS = {"best": 4, "shown": 1}
COSINES = {"shown": 0.8}
K1 = 2.0
GOOD = {"chunk_quality": "ok", "entity_density": 0.5, "omit_flag": False}
SHORT_SHEET = {"source_type": "excel", "word_count": 39, "semantic_type_primary": "water_bodies"}


def score(source: str, settings: dict[str, object], metadata: dict[str, object] | None = None) -> float:
    with exact_index(REPEATS, COSINES, K1, metadata={**GOOD, **(metadata or {})}) as index:  # type: ignore[dict-item]
        said = {"search.bm25": {"k1": K1, "b": 0.0}, "rerank.model": "none", **settings}
        found = index.search(QUESTION, profile="aanae", settings=said)
    return next(hit.score for hit in found.hits if hit.source == source)


def test_dense_0_8_sparse_0_5_bonus_0_15_make_1_125() -> None:
    assert score("shown", {}, SHORT_SHEET) == pytest.approx(1.125, abs=COSINE_TOLERANCE)  # .8 + .35 · .5 + .15


def test_without_the_bonus_it_is_0_975() -> None:
    assert score("shown", {}) == pytest.approx(0.975, abs=COSINE_TOLERANCE)
    assert score("best", {}) == pytest.approx(0.35, abs=COSINE_TOLERANCE)  # in one list: 0 + .35 · 1


def test_their_average_is_0_71() -> None:
    assert score("shown", {"fusion.method": "average"}) == pytest.approx(0.71, abs=COSINE_TOLERANCE)
    assert score("best", {"fusion.method": "average"}) == pytest.approx(0.3, abs=COSINE_TOLERANCE)


def test_a_bonus_finds_nothing_that_no_arm_found() -> None:
    with exact_index({"worded": 1}, {"meant": 0.8, "bonus": -0.9}, K1) as index:
        said = {"fusion.method": "additive", "boost": {"rules": {"source == 'bonus'": 5.0}}, "search.candidates": "1"}
        found = index.search(QUESTION, k=1, settings=said)

    assert [hit.source for hit in found.hits] == ["meant"]
