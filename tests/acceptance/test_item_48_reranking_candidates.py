"""Checklist 48: a cross-encoder reads the top candidates only."""

import pytest

from support.scripted_reranker import Dictated
from twofold import Index, load_settings
from twofold.models.catalog.entries import CATALOG
from twofold.models.catalog.types import Task
from twofold.models.embedders.hashing import HashingEmbedder


@pytest.mark.parametrize("candidates", [1, 7, 20])
def test_the_reranker_reads_so_many_of_the_best_and_no_other(candidates: int) -> None:
    settings = load_settings(overrides={"rerank.candidates": candidates})
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        for number in range(40):
            index.add(f"commit number {number} {'and more ' * number}", source=f"{number}.txt")
        plain = index.search("commit", k=40)
        reranker = Dictated({})
        rerank_with_fallback = index.search("commit", k=40, rerank=reranker)

    ((_, texts),) = reranker.asked
    assert list(texts) == [hit.text for hit in plain.hits[:candidates]]
    assert [hit.source for hit in rerank_with_fallback.hits] == [hit.source for hit in plain.hits]


def test_twenty_candidates_are_read_unless_the_settings_say_otherwise() -> None:
    assert load_settings().rerank.candidates == 20


def test_the_seeds_cross_encoder_is_in_the_catalog() -> None:
    assert CATALOG["ms-marco-MiniLM-L-12-v2"].task is Task.RERANK


@pytest.mark.model
def test_the_cross_encoder_puts_the_answer_on_top() -> None:
    settings = load_settings(overrides={"embedder": "hashing", "rerank.weight": 1.0})
    with Index(":memory:", settings=settings) as index:
        index.add("Berlin, Berlin, how many songs and people are about Berlin!", source="songs")
        index.add("The city had 3,520,031 registered inhabitants, said Berlin.", source="answer")
        result = index.search("How many people live in Berlin?", rerank="ms-marco-MiniLM-L-12-v2")

    assert result.hits[0].source == "answer"
    assert result.warnings == ()
