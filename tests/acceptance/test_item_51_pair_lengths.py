"""Checklist 51: the query is cut to 512 characters and a passage to 4,000; pairs go in batches, and are sorted."""

from support.scripted_reranker import Dictated
from twofold import Index, load_settings
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.rerank import QUERY_CHARACTERS, TEXT_CHARACTERS

LONG = "commit " * 1_000


def test_a_long_query_and_a_long_passage_are_cut() -> None:
    settings = load_settings(overrides={"chunk.size": 8192, "chunk.strategy": "fixed"})
    reranker = Dictated({})
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        index.add(LONG, source="long")
        index.add("commit", source="short")
        result = index.search("commit " * 200, rerank=reranker)

    ((query, texts),) = reranker.asked
    assert (QUERY_CHARACTERS, TEXT_CHARACTERS) == (512, 4_000)
    assert query == ("commit " * 200)[:512]
    assert sorted(texts, key=len) == ["commit", LONG[:4_000]]
    assert max(len(hit.text) for hit in result.hits) == len(LONG.strip())


def test_all_candidates_go_in_one_call_and_come_back_sorted() -> None:
    reranker = Dictated({f"number {n}.": n / 20 for n in range(12)})
    settings = load_settings(overrides={"rerank.weight": 1.0})
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        for n in range(12):
            index.add(f"commit number {n}.", source=str(n))
        result = index.search("commit", k=12, rerank=reranker)

    assert len(reranker.asked) == 1
    assert [hit.source for hit in result.hits] == [str(n) for n in reversed(range(12))]
