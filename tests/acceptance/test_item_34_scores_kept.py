"""Checklist 34: each result keeps what each arm said of it, and the two make its score."""

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, exact_index
from support.indexes import indexed


def test_a_hit_keeps_the_semantic_the_keyword_and_the_final_score() -> None:
    texts = ("git resets the index", "the index of a book", "water boils")
    with indexed({text: text for text in texts}) as index:
        hits = index.search("git index").hits

    assert hits
    for hit in hits:
        assert hit.trace.lexical is not None
        assert hit.trace.dense is not None
        assert hit.score == hit.trace.lexical.part + hit.trace.dense.part == hit.trace.evaluate()
        assert -1.001 <= hit.trace.dense.raw <= 1.001
        assert (hit.trace.lexical.raw > 0.0) == ("git" in hit.source or "index" in hit.source)


def test_the_parts_that_a_fusion_adds_are_shown_beside_its_sum() -> None:
    """One mention of two with k1 = 2 has (1/3) / (2/4) = 2/3; .4 · 2/3 + .6 · .5 = .5667."""
    said = {"fusion.method": "linear", "fusion.dense_weight": 0.6}
    with exact_index({"best": 2, "both": 1}, {"both": 0.5}, k1=2.0) as index:
        hits = {hit.source: hit for hit in index.search(QUESTION, settings=said).hits}

    lexical, dense = hits["both"].trace.arms
    assert (lexical.arm, lexical.rank, dense.arm, dense.rank) == ("lexical", 2, "dense", 1)
    assert (lexical.weight, lexical.normalized, lexical.part) == pytest.approx((0.4, 2 / 3, 0.8 / 3))
    assert dense.weight == pytest.approx(0.6)
    assert (dense.raw, dense.normalized, dense.part) == pytest.approx((0.5, 0.5, 0.3), abs=COSINE_TOLERANCE)
    assert hits["both"].score == lexical.part + dense.part
    assert hits["both"].score == pytest.approx(0.5667, abs=COSINE_TOLERANCE)
