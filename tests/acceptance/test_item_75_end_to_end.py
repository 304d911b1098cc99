"""Checklist 71, 75, 76, 77, 78, C17, C18: in a search each part may fail, hang or be busy, and what is left is told."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from support.indexes import GIT, Mute, indexed, sources
from support.scripted_reranker import Dictated
from twofold.domain.errors import ModelError, ModelUnavailableError, StageTimeoutError
from twofold.domain.types import Scores, Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.degradation import NO_RETRIEVER


def test_item_76_where_the_model_is_gone_words_alone_are_searched_and_nothing_is_reranked() -> None:
    reader = Dictated({"merge": 0.9})
    result = indexed(GIT, embedder=Mute()).search("merge commit", rerank=reader)

    assert result.mode == "bm25"
    assert result.hits[0].source == "merge.md"
    assert result.rerank is None
    assert reader.asked == []
    assert tuple(map(str, result.warnings)) == ("vector unavailable: the model is gone.",)


def test_item_75_where_the_reranker_fails_the_fused_order_stands() -> None:
    index = indexed(GIT)
    plain, fallen = index.search("merge commit"), index.search("merge commit", rerank=Dictated({}, last=0))

    assert [(hit.source, hit.score) for hit in fallen.hits] == [(hit.source, hit.score) for hit in plain.hits]
    assert tuple(map(str, fallen.warnings)) == ("rerank unavailable: the reranker is gone.",)
    assert index.metrics().degraded == 1


def test_item_77_c17_empty_gives_nothing_and_says_so() -> None:
    index = indexed(GIT, {"search.on_failure": "empty"}, embedder=Mute())
    result = index.search("merge commit")

    assert result.hits == ()
    assert tuple(map(str, result.warnings)) == ("vector unavailable: the model is gone.", str(NO_RETRIEVER))
    assert index.search("merge commit", mode="bm25").hits
    assert index.search("merge commit", mode="vector").hits == ()


def test_c17_raise_raises_whatever_fails() -> None:
    with pytest.raises(ModelError, match="the model is gone"):
        indexed(GIT, {"search.on_failure": "raise"}, embedder=Mute()).search("merge")
    with pytest.raises(ModelError, match="the reranker is gone"):
        indexed(GIT, {"search.on_failure": "raise"}).search("merge", rerank=Dictated({}, last=0))


def test_c17_no_way_to_fail_asks_a_bare_model() -> None:
    with pytest.raises(ModelError):
        indexed(GIT, embedder=Mute()).search("merge", mode="vector")


class Busy(HashingEmbedder):
    """Is out of reach so often, then works."""

    def __init__(self, refusals: int) -> None:
        super().__init__(64)
        self.refusals = refusals
        self.calls = 0

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls <= self.refusals:
            raise ModelUnavailableError("busy")
        return super().embed_queries(texts)


@pytest.mark.parametrize(("refusals", "retries", "calls", "mode"), [
    (3, 3, 4, "hybrid"), (4, 3, 4, "bm25"), (1, 0, 1, "bm25"), (0, 3, 1, "hybrid"),
])  # fmt: skip
def test_c18_item_78_what_is_busy_is_asked_again(refusals: int, retries: int, calls: int, mode: str) -> None:
    embedder = Busy(refusals)
    settings = {"retries": {"count": retries, "backoff_seconds": 0.0}}
    result = indexed(GIT, settings, embedder=embedder).search("merge commit")

    assert (embedder.calls, result.mode, result.degraded) == (calls, mode, mode == "bm25")


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """What a call hangs on until the test has ended."""
    event = threading.Event()
    yield event
    event.set()


def test_item_71_a_model_that_hangs_is_given_up_and_words_alone_are_searched(stuck: threading.Event) -> None:
    class Hanging(HashingEmbedder):
        def embed_queries(self, texts: Sequence[str]) -> Vectors:
            stuck.wait()
            return super().embed_queries(texts)

    result = indexed(GIT, {"timeouts": {"embed": 0.01}}, embedder=Hanging()).search("merge commit")

    assert result.mode == "bm25"
    assert tuple(map(str, result.warnings)) == ("vector timeout: embedding the question took more than 0.01 s.",)


def test_item_71_a_reranker_that_hangs_is_given_up_and_the_fused_order_stands(stuck: threading.Event) -> None:
    class Hanging(Dictated):
        def score(self, query: str, texts: Sequence[str]) -> Scores:
            stuck.wait()
            return super().score(query, texts)

    index = indexed(GIT, {"timeouts": {"rerank": 0.01}})
    result = index.search("merge commit", rerank=Hanging({}))

    assert sources(result) == sources(index.search("merge commit"))
    assert tuple(map(str, result.warnings)) == ("rerank timeout: reranking took more than 0.01 s.",)


def test_item_71_an_arm_that_takes_too_long_leaves_the_other_and_that_is_told() -> None:
    index = indexed(GIT, {"timeouts": {"retrieve": 1e-9}})
    result = index.search("merge commit")

    assert result.degraded
    assert all("took more than" in note or note == str(NO_RETRIEVER) for note in map(str, result.warnings))
    with pytest.raises(StageTimeoutError):
        index.search("merge commit", settings={"search.on_failure": "raise"})
