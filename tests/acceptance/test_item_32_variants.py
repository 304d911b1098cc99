"""Checklist 32: the best score of each passage over the wordings of a question, in each retriever, before fusion.

`p` holds only the first wording's word, `q` only the second one's, `r` both once.
"""

from collections.abc import Iterator

import pytest

from support.exact_scores import Known
from support.fake_llm_server import chatting, saying
from twofold import Index
from twofold.search.engine import SearchOptions
from twofold.search.result import SearchResult

TEXTS = {"p": "p: zeta zeta zeta", "q": "q: other other other", "r": "r: zeta other more"}
COSINES = {"p": 0.9, "q": 0.8, "r": 0.4}
WORDINGS = ("zeta", "other")


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with chatting(saying(lambda _: "1. other")) as address:
        said = {"analyzer": "simple", "generator": f"{address}#m", "search.bm25": {"b": 0.0}, "prf": {"top_k": 0}}
        with Index(":memory:", overrides=said, embedder=Known(COSINES, {"other": 0.5})) as made:
            for source, text in TEXTS.items():
                made.add(text, source=source)
            yield made


def searched(index: Index, merge: str, mode: str = "hybrid", form: str = "rrf") -> SearchResult:
    said = {"query_expansion": {"multi_query": 2, "merge": merge}, "fusion.method": form}
    found = index.search("zeta", mode=mode, settings=said)
    assert found.queries == WORDINGS
    return found


@pytest.mark.parametrize("mode", ["bm25", "vector"])
def test_best_score_keeps_each_passage_at_its_best_in_each_arm(index: Index, mode: str) -> None:
    best: dict[str, float] = {}
    for alone in index.search_many(WORDINGS, SearchOptions(mode=mode)):
        for hit in alone.hits:
            best[hit.source] = max(best.get(hit.source, 0.0), hit.score)

    assert {hit.source: hit.score for hit in searched(index, "best_score", mode).hits} == best


def test_ranks_are_taken_from_the_merged_arms_before_fusion(index: Index) -> None:
    """By words p and q tie before r, by meaning p, q, r: 1/61 + 1/61, 1/62 + 1/62, 1/63 + 1/63."""
    found = {hit.source: hit for hit in searched(index, "best_score").hits}
    bm25 = {source: hit.trace.bm25 for source, hit in found.items()}

    by_words = sorted(one.rank for one in bm25.values() if one is not None and one.rank is not None)
    assert by_words == [1, 2, 3]
    assert found["r"].score == pytest.approx(2 / 63)
    assert found["p"].score + found["q"].score == pytest.approx(2 * (1 / 61 + 1 / 62))


def test_a_wording_that_comes_twice_does_not_count_twice(index: Index) -> None:
    with chatting(saying(lambda _: "1. zeta\n2. Zeta")) as address:
        said = {"query_expansion": {"multi_query": 3}, "generator": f"{address}#m"}
        many, one = index.search("zeta", settings=said), index.search("zeta")

    assert [(hit.source, hit.score) for hit in many.hits] == [(hit.source, hit.score) for hit in one.hits]
