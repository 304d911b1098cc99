"""Checklist 34: each result keeps what each retriever said of it, and the two make its score."""

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, exact_index
from support.indexes import indexed


def test_a_hit_keeps_the_semantic_the_keyword_and_the_final_score() -> None:
    texts = ("git resets the index", "the index of a book", "water boils")
    with indexed({text: text for text in texts}) as index:
        hits = index.search("git index").hits

    assert hits
    for hit in hits:
        assert hit.trace.bm25 is not None
        assert hit.trace.vector is not None
        assert hit.score == hit.trace.bm25.part + hit.trace.vector.part == hit.trace.recompute_score()
        assert hit.trace.bm25.raw is not None
        assert hit.trace.vector.raw is not None
        assert -1.001 <= hit.trace.vector.raw <= 1.001
        assert (hit.trace.bm25.raw > 0.0) == ("git" in hit.source or "index" in hit.source)


def test_the_parts_that_a_fusion_adds_are_shown_beside_its_sum() -> None:
    """One mention of two with k1 = 2 has (1/3) / (2/4) = 2/3; .4 · 2/3 + .6 · .5 = .5667."""
    said = {"fusion.method": "linear", "fusion.vector_weight": 0.6}
    with exact_index({"best": 2, "both": 1}, {"both": 0.5}, k1=2.0) as index:
        hits = {hit.source: hit for hit in index.search(QUESTION, settings=said).hits}

    bm25, vector = hits["both"].trace.retrievers
    assert (bm25.retriever, bm25.rank, vector.retriever, vector.rank) == ("bm25", 2, "vector", 1)
    assert (bm25.weight, bm25.normalized, bm25.part) == pytest.approx((0.4, 2 / 3, 0.8 / 3))
    assert vector.weight == pytest.approx(0.6)
    assert (vector.raw, vector.normalized, vector.part) == pytest.approx((0.5, 0.5, 0.3), abs=COSINE_TOLERANCE)
    assert hits["both"].score == bm25.part + vector.part
    assert hits["both"].score == pytest.approx(0.5667, abs=COSINE_TOLERANCE)
