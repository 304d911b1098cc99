"""Checklist 50: top_k_initial 20, top_k_final 5, relevance_threshold 0.3."""

import pytest

from support.scripted_reranker import Dictated
from twofold import Index, SearchResult, load_settings
from twofold.models.embedders.hashing import HashingEmbedder

SCORES = {"A": 0.95, "B": 0.88, "C": 0.65, "D": 0.45, "E": 0.35, "F": 0.25}


def asked(threshold: float, k: int) -> SearchResult:
    overrides = {"rerank.candidates": 20, "rerank.threshold": threshold, "rerank.weight": 1.0}
    with Index(":memory:", settings=load_settings(overrides=overrides), embedder=HashingEmbedder()) as index:
        for name in "FCAEBD":
            index.add(f"passage {name}", source=name)
        scores = {f"passage {name}": score for name, score in SCORES.items()}
        return index.search("passage", k=k, rerank=Dictated(scores))


def test_six_scores_and_a_threshold_of_three_tenths_keep_five() -> None:
    result = asked(0.3, k=20)

    assert [hit.source for hit in result.hits] == ["A", "B", "C", "D", "E"]
    assert [hit.trace.rerank.relevance for hit in result.hits if hit.trace.rerank] == [0.95, 0.88, 0.65, 0.45, 0.35]
    assert result.rerank is not None
    assert (result.rerank.read, result.rerank.dropped) == (6, 1)


def test_five_of_them_are_given_where_five_are_asked_for() -> None:
    assert [hit.source for hit in asked(0.0, k=5).hits] == ["A", "B", "C", "D", "E"]


@pytest.mark.parametrize(("threshold", "kept"), [(0.0, 6), (0.25, 6), (0.26, 5), (0.95, 1), (0.96, 0)])
def test_the_threshold_itself_is_relevant_enough(threshold: float, kept: int) -> None:
    assert len(asked(threshold, k=20).hits) == kept
