"""Checklist 50, 52, 53, 82 and C16: reranking in a search, on and off, what is read, kept and counted, and its heir."""

import pytest

from support.http_server import Answered, serving
from support.indexes import GIT, indexed, sources
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.query.filter_json import filter_from_json
from twofold.search.metrics import DocumentCounts
from twofold.search.result import Counts

NAMES = "ABCDEFGHIJKLMNOPQRST"
RELEVANCE = dict(zip((f"number {name}" for name in NAMES), (0.95, 0.88, 0.65, 0.45, 0.35, 0.25), strict=False))


@pytest.fixture
def index() -> Index:
    """Twenty passages found alike, two of them of another repository."""
    made = indexed({})
    for name in NAMES:
        repository = "old" if name in "ST" else "new"
        made.add(f"Report number {name} on trade.", source=name, metadata={"repository": repository})
    return made


def test_c16_item_50_twenty_are_read_what_is_relevant_stays_and_five_are_given(index: Index) -> None:
    reader = Dictated(RELEVANCE)
    settings = {"rerank.threshold": 0.3, "rerank.weight": 1.0, "rerank.top_n": 5, "search.k": 10}
    result = index.search("report trade", rerank=reader, settings=settings)

    assert sources(result) == list("ABCDE")
    assert [hit.score for hit in result.hits] == [0.95, 0.88, 0.65, 0.45, 0.35]
    assert len(reader.asked[0][1]) == 20
    assert result.rerank is not None
    assert (result.rerank.read, result.rerank.dropped) == (20, 15)


def test_item_82_twenty_are_retrieved_eighteen_pass_the_filter_and_five_are_left(index: Index) -> None:
    settings = {"search.filter_stage": "post", "rerank.top_n": 5, "search.candidates": "20"}
    new = filter_from_json({"repository": "new"})
    result = index.search("report trade", filter=new, rerank=Dictated(RELEVANCE), settings=settings)

    assert result.counts == result.trace.counts == Counts(retrieved=20, after_filter=18, returned=5, total=5)
    assert index.metrics().documents == DocumentCounts(20, 18, 5)
    assert "total" in result.timings_ms
    assert sum(stage.milliseconds for stage in result.stages) <= result.timings_ms["total"]


def test_item_53_a_search_turns_reranking_on_or_off(index: Index) -> None:
    rerank_with_fallback = index.search("report trade", rerank="word-overlap")
    assert rerank_with_fallback.rerank is not None
    assert rerank_with_fallback.rerank.model == "word-overlap"

    assert index.search("report trade").rerank is None
    always = indexed(GIT, {"rerank.model": "word-overlap"})
    assert always.search("merge").rerank is not None
    assert always.search("merge", rerank="none").rerank is None
    assert always.search("merge", settings={"rerank.model": "none"}).rerank is None


def test_item_52_where_the_first_reranker_fails_the_second_one_reads_and_that_is_told() -> None:
    with serving(lambda _: Answered(status=500)) as address:
        settings = {"rerank.model": f"{address}/v1#m", "rerank.fallback": "word-overlap", "retries": {"count": 0}}
        result = indexed(GIT, settings).search("merge commit")

    assert result.rerank is not None
    assert result.rerank.model == "word-overlap"
    (note,) = map(str, result.warnings)
    assert note.startswith("rerank unavailable: ")
