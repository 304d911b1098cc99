"""Checklist 27, C4, C7: `0.6 · semantic + 0.4 · keyword`, the example of A, B and C through a search.

Keyword scores are BM25 over its best. With k1 = 8/3 and b = 0 a passage that holds the word t times has
t / (t + 8/3): 20 times .88235, 8 times .75 and 3 times .52941, which over the first are 1, .85 and .60.
"""

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, exact_index
from twofold.compat.orchestrator import QueryRetrievalModule

REPEATS = {"D": 20, "A": 8, "B": 3}
COSINES = {"A": 0.92, "B": 0.89, "C": 0.75}
K1 = 8 / 3
SETTINGS = {"search.bm25": {"k1": K1, "b": 0.0}, "rerank.model": "none", "search.k": 10}


def test_a_b_and_c_score_as_worked_out_under_the_orchestrator() -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        found = QueryRetrievalModule(index, SETTINGS).process_query(QUESTION)

    assert [one.metadata["path"] for one in found] == ["A", "B", "C", "D"]
    worked = [(0.92, 0.85, 0.892), (0.89, 0.60, 0.774), (0.75, 0.0, 0.450), (0.0, 1.0, 0.4)]
    for one, (semantic, keyword, final) in zip(found, worked, strict=True):
        assert one.semantic_score == pytest.approx(semantic, abs=COSINE_TOLERANCE)
        assert one.keyword_score == pytest.approx(keyword, abs=1e-6)
        assert one.final_score == pytest.approx(final, abs=COSINE_TOLERANCE)


@pytest.mark.parametrize("form", ["weighted_sum", "linear", "average"])
def test_by_any_of_its_names(form: str) -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        found = index.search(QUESTION, settings={"fusion.method": form, "fusion.vector_weight": 0.6})

    assert {hit.source: round(hit.score, 3) for hit in found.hits} == {"A": 0.892, "B": 0.774, "C": 0.45, "D": 0.4}


def test_no_passage_comes_twice() -> None:
    with exact_index(REPEATS, COSINES, K1) as index:
        found = index.search(QUESTION, profile="orchestrator", rerank="none")

    assert len({hit.chunk_id for hit in found.hits}) == len(found.hits) == 4
