"""Checklist 26, 84 and the last line of R: fusion by rank, `Σ 1 / (60 + rank)`, to nine decimals, through a search."""

import pytest

from support.exact_scores import QUESTION, exact_index
from twofold.search.result import SearchResult

# Ranks by words: a 1, b 2, c 3, d 4, e 5. By meaning: a 1, f 2, g 3, h 4, e 5, i 6, and b 7.
REPEATS = {"a": 9, "b": 7, "c": 5, "d": 3, "e": 1}
COSINES = {"a": 0.9, "f": 0.8, "g": 0.7, "h": 0.6, "e": 0.5, "i": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}


def fused(form: str = "rrf", key: str = "search.k", value: object = 9) -> SearchResult:
    said = {"fusion.method": form, "search.candidates": "7", key: value}
    with exact_index(REPEATS, COSINES) as index:
        return index.search(QUESTION, k=9, settings=said)


def scores(found: SearchResult) -> dict[str, float]:
    return {hit.source: hit.score for hit in found.hits}


def test_the_worked_numbers() -> None:
    found = scores(fused())

    assert round(found["a"], 9) == 0.032786885  # 2/61: first in both
    assert round(found["e"], 9) == 0.030769231  # 2/65: fifth in both
    assert found["b"] == 1 / 62 + 1 / 67
    assert found["f"] == 1 / 62


def test_first_in_one_and_fifth_in_the_other() -> None:
    with exact_index({"a": 9, "b": 1}, {"v": 0.9, "w": 0.8, "x": 0.7, "y": 0.6, "a": 0.5, "b": 0.1}) as index:
        found = scores(index.search(QUESTION, k=6, settings={"fusion.method": "rrf"}))

    assert round(found["a"], 9) == 0.031778058  # 1/61 + 1/65


def test_rrf_score_formula() -> None:
    found = fused()

    for hit in found.hits:
        ranks = [retriever.rank for retriever in hit.trace.retrievers if retriever.rank is not None]
        assert ranks
        assert hit.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks), abs=1e-12)


def test_chunk_in_both_lists_gets_higher_score() -> None:
    found = scores(fused())

    assert found["b"] > found["f"]  # both second in one list; b is in the other one too
    assert found["e"] > found["h"]


def test_higher_rank_gets_lower_score() -> None:
    found = scores(fused())

    assert found["f"] > found["g"] > found["h"] > found["i"]


def test_by_the_profile_that_fuses_so_in_every_form_of_ranks() -> None:
    with exact_index(REPEATS, COSINES) as index:
        found = index.search(QUESTION, profile="voicevault", rerank="none")

    assert found.fusion == "rrf"
    assert round(found.hits[0].score, 9) == 0.032786885


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.7, 1.0])
def test_with_weights_first_in_both_is_1_61_whatever_the_weight(weight: float) -> None:
    found = scores(fused("weighted_rrf", "fusion.vector_weight", weight))

    assert found["a"] == pytest.approx(1 / 61)
    assert found["b"] == pytest.approx((1 - weight) / 62 + weight / 67)
    assert found["f"] == pytest.approx(weight / 62)


@pytest.mark.parametrize("k", [0.0, 10.0])
def test_the_constant_is_a_setting(k: float) -> None:
    assert scores(fused("rrf", "fusion.parameters", {"rrf_k": k}))["a"] == pytest.approx(2 / (k + 1))
