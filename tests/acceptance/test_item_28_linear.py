"""Checklist 28, 29, C6: `(1 - w) · bm25 + w · vector`, BM25 over its best and cosines as they are, through a search.

With b = 0 one mention of two has (2 + k1) / (2 + 2 · k1) of the score of both; for 12.456 of 17.673, which is .7048,
k1 is (2 - 2 · .7048) / (2 · .7048 - 1).
"""

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, Known, exact_index
from twofold.compat.localgpt import RetrievalPipeline
from twofold.compat.modes import RAGPipeline

SHARE = 12.456 / 17.673
K1 = (2 - 2 * SHARE) / (2 * SHARE - 1)
REPEATS = {"best": 2, "shown": 1}
COSINES = {"shown": 0.8734}
EXACT = {"search.bm25": {"k1": K1, "b": 0.0}}


def test_a_plain_cosine_and_bm25_over_its_best_make_0_7891() -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        found = index.search(QUESTION, profile="modes", settings=EXACT)

    shown = next(hit.trace for hit in found.hits if hit.source == "shown")
    assert shown.bm25 is not None
    assert shown.vector is not None
    assert round(shown.bm25.normalized, 4) == 0.7048
    assert shown.vector.normalized == pytest.approx(0.8734, abs=COSINE_TOLERANCE)
    assert shown.recompute_score() == pytest.approx(0.7891, abs=COSINE_TOLERANCE)


def test_the_pipeline_of_three_modes_gives_it_with_its_details() -> None:
    with RAGPipeline(bm25_k1=K1, bm25_b=0.0, embedder=Known(COSINES)) as pipeline:
        for name, times in REPEATS.items():
            pipeline.add_document(f"{name}: {' '.join([QUESTION] * times)}", name)
        found = {one["chunk"]["source"]: one["score_details"] for one in pipeline.retrieve(QUESTION)}

    assert found["shown"]["bm25"] == pytest.approx(0.7048, abs=1e-4)
    assert found["shown"]["combined"] == pytest.approx(0.7891, abs=COSINE_TOLERANCE)
    assert found["best"] == pytest.approx({"semantic": 0.0, "bm25": 1.0, "combined": 0.5}, abs=COSINE_TOLERANCE)


def test_min_max_would_not_give_it() -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        said = {"fusion.method": "linear", "fusion.vector_weight": 0.5, "fusion.parameters": {"bm25_norm": "minmax"}}
        found = {hit.source: hit.score for hit in index.search(QUESTION, settings=said).hits}

    assert found["shown"] == pytest.approx(0.5 * 0.8734, abs=COSINE_TOLERANCE)  # the lesser BM25 becomes 0


def test_a_dense_weight_of_0_7_counts_the_dense_arm_with_0_7() -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        pipeline = RetrievalPipeline({"it": index}, {"ai_rerank": False, **EXACT, "search.context_window": 0})
        found = {one["metadata"]["source"]: one["score"] for one in pipeline.retrieve(QUESTION)}

    assert found["shown"] == pytest.approx(0.3 * SHARE + 0.7 * 0.8734, abs=COSINE_TOLERANCE)
    assert found["best"] == pytest.approx(0.3, abs=COSINE_TOLERANCE)


@pytest.mark.parametrize(("weight", "first"), [(0.0, "best"), (1.0, "shown")])
def test_the_whole_weight_leaves_the_order_to_one_arm(weight: float, first: str) -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        found = index.search(QUESTION, settings={"fusion.method": "linear", "fusion.vector_weight": weight})

    assert found.hits[0].source == first
