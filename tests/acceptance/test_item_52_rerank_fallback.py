"""Checklist 52: where the reranker fails, the hybrid scores and order stand; here they say so as well (C17)."""

import pytest

from support.http_server import Answered, serving
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.domain.ports import Reranker
from twofold.models.embedders.hashing import HashingEmbedder


@pytest.fixture
def index() -> Index:
    made = Index(":memory:", embedder=HashingEmbedder())
    for number in range(8):
        made.add(f"commit number {number} {'and more ' * number}", source=f"{number}.txt")
    return made


def assert_the_fused_order_stands(index: Index, rerank: str | Reranker, reason: str) -> None:
    plain, fallen = index.search("commit"), index.search("commit", rerank=rerank)

    assert [(hit.source, hit.score) for hit in fallen.hits] == [(hit.source, hit.score) for hit in plain.hits]
    assert [hit.trace for hit in fallen.hits] == [hit.trace for hit in plain.hits]
    (note,) = map(str, fallen.warnings)
    assert note.startswith("rerank unavailable: ")
    assert reason in note


def test_a_failing_model_leaves_the_hybrid_order(index: Index) -> None:
    assert_the_fused_order_stands(index, Dictated({}, last=0), "the reranker is gone")


def test_a_model_that_is_not_there_leaves_the_hybrid_order(index: Index) -> None:
    assert_the_fused_order_stands(index, "ms-marco-MiniLM-L-12-v2", "fetching is switched off")


def test_a_server_that_refuses_leaves_the_hybrid_order(index: Index) -> None:
    with serving(lambda _: Answered(status=403)) as address:
        assert_the_fused_order_stands(index, f"{address}/v1#m", "answered 403")


def test_a_server_that_is_gone_leaves_the_hybrid_order(index: Index) -> None:
    with serving(lambda _: Answered()) as address:
        gone = address
    assert_the_fused_order_stands(index, f"{gone}/v1#m", "cannot be reached")
