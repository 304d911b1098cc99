"""Checklist 14, 15 and C19: a score that is greater is better, on every store, and BM25 whatever the store is.

A database's own `bm25()` may fall with relevance, and its rank of texts be another thing than BM25; neither is ever
what is fused here: both stores count terms and score by the formula.
"""

import math
from pathlib import Path

import pytest

from support.indexes import indexed
from twofold import Index

TEXTS = {"five": "dbt dbt dbt dbt dbt models", "one": "dbt builds many models", "none": "other models of data"}


@pytest.fixture(params=["memory", "folder"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    where = ":memory:" if request.param == "memory" else tmp_path / "kb"
    return indexed(TEXTS, {"analyzer": "simple"}, where=where)


def test_scores_are_above_zero_and_fall(index: Index) -> None:
    scores = {hit.source: hit.score for hit in index.search("dbt", mode="bm25").hits}

    assert list(scores) == ["five", "one"]
    assert scores["five"] > scores["one"] > 0.0


def test_it_is_the_formula_and_not_a_databases_own_rank(index: Index) -> None:
    k1, b, average = 1.2, 0.75, (6 + 4 + 4) / 3
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = rarity * 5 * (k1 + 1) / (5 + k1 * (1 - b + b * 6 / average))

    assert index.search("dbt", mode="bm25").hits[0].score == pytest.approx(expected, rel=1e-6)


def test_all_words_may_be_asked_for_as_a_plain_query_does(index: Index) -> None:
    found = index.search("+dbt +builds", mode="bm25")

    assert [hit.source for hit in found.hits] == ["one"]


def test_better_words_never_lower_a_fused_score(index: Index) -> None:
    for form in ("additive", "linear", "convex", "rrf"):
        result = index.search("dbt", settings={"fusion.method": form})
        for hit in result.hits:
            assert hit.trace.bm25 is not None
            assert hit.trace.bm25.weight >= 0.0
            assert hit.trace.bm25.normalized >= 0.0
