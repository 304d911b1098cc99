"""Checklist 47: no passage comes twice, however many lists, wordings and retrievers found it."""

import pytest

from support.custom_parts import Listed
from support.exact_scores import QUESTION, Known, exact_index
from support.fake_llm_server import chatting, saying
from twofold import Index
from twofold.plugins import Plugins
from twofold.ranking.fusion import FUSIONS
from twofold.search.result import SearchResult

REPEATS, COSINES = {"a": 2, "b": 1}, {"b": 0.7, "c": 0.6}


def assert_each_once(found: SearchResult) -> None:
    assert sorted(hit.source for hit in found.hits) == ["a", "b", "c"]
    assert len({hit.chunk_id for hit in found.hits}) == 3


@pytest.mark.parametrize("form", FUSIONS)
def test_a_passage_that_both_arms_found_is_fused_into_one(form: str) -> None:
    with exact_index(REPEATS, COSINES) as index:
        assert_each_once(index.search(QUESTION, settings={"fusion.method": form}))


@pytest.mark.parametrize("merge", ["best_score", "rrf"])
def test_a_passage_that_several_wordings_found_comes_once(merge: str) -> None:
    said = {"query_expansion": {"multi_query": 3, "merge": merge}}
    with (
        chatting(saying(lambda _: "1. zeta zeta\n2. again zeta")) as address,
        exact_index(REPEATS, COSINES, settings={"generator": f"{address}#m"}) as index,
    ):
        found = index.search(QUESTION, settings=said)

    assert len(found.queries) == 3
    assert_each_once(found)


def test_a_passage_that_an_own_retriever_found_too_comes_once() -> None:
    listed = Plugins(retrievers={"mine": Listed([("b_chunk_0", 1.0), ("b_chunk_0", 0.5)])})
    said = {"analyzer": "simple", "plugins.search": ["mine"]}
    with Index(":memory:", overrides=said, embedder=Known(COSINES), plugins=listed) as index:
        for name in ("a", "b", "c"):
            index.add(f"{name}: {QUESTION}", source=name, id=name)
        found = index.search(QUESTION)

    assert_each_once(found)
    assert found.hits[0].source == "b"
