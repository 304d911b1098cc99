"""Checklist items 29, 53, 55, 67, 69, 74 and 75: RetrievalPipeline with its own names, over one index and several."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.indexes import GIT, Counted, indexed
from support.scripted_reranker import Dictated
from twofold import Index, TwofoldError
from twofold.compat.localgpt import RetrievalPipeline
from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins

CONFIG: dict[str, object] = {"search_type": "hybrid", "dense_weight": 0.7, "ai_rerank": False}


@pytest.fixture
def git() -> Iterator[Index]:
    with indexed(GIT) as index:
        yield index


def test_item_69_a_batch_is_embedded_at_once_and_each_question_ranked_for_itself() -> None:
    embedder = Counted()
    with indexed(GIT, embedder=embedder) as index:
        pipeline = RetrievalPipeline({"git": index}, CONFIG)
        found = pipeline.process_query_batch(["undo the last commit", "join two branches"])
        alone = pipeline.retrieve("join two branches")

    assert embedder.asked[0] == ("undo the last commit", "join two branches")
    assert [one[0]["metadata"]["source"] for one in found] == ["reset.md", "merge.md"]
    assert [one["chunk_id"] for one in found[1]] == [one["chunk_id"] for one in alone]


def test_item_29_the_score_is_linear_with_the_weight_of_the_configuration(git: Index) -> None:
    for one in RetrievalPipeline({"git": git}, CONFIG).retrieve("undo the last commit"):
        assert one["score"] == pytest.approx(0.3 * one["bm25_score"] + 0.7 * one["dense_score"])


def test_item_74_one_broken_index_costs_its_own_results_and_a_warning(git: Index) -> None:
    pipeline = RetrievalPipeline({"good": git}, CONFIG)
    with pytest.warns(RuntimeWarning, match="index missing unavailable"):
        found = pipeline.search_multiple_indexes("undo the last commit", ["good", "missing"])

    assert found
    assert {one["source_index"] for one in found} == {"good"}
    assert found[0]["metadata"]["source"] == "reset.md"


def test_item_74_an_id_stands_for_its_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))
    with Index("text_pages_7", overrides={"embedder": "hashing"}) as index:
        index.add("the seventh table", source="seven.md")
    with RetrievalPipeline({}, CONFIG) as pipeline, warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = pipeline.search_multiple_indexes("seventh", ["7"])

    assert (found["source_index"], found["text"]) == ("7", "the seventh table")


def test_item_74_nothing_left_is_an_error() -> None:
    with RetrievalPipeline({}, CONFIG) as pipeline, pytest.warns(RuntimeWarning), pytest.raises(TwofoldError):
        pipeline.search_multiple_indexes("anything", ["missing"])
    with RetrievalPipeline({}, CONFIG) as pipeline, pytest.raises(TwofoldError, match="no index"):
        pipeline.search_multiple_indexes("anything", [])


def test_item_55_more_than_retrieval_k_are_reranked_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        texts = {f"{name}{n}.md": f"commit number {n} of {name}" for n in range(6)}
        indexed(texts, {"embedder": "hashing"}, where=tmp_path / name).close()
    own = Plugins(rerankers={"mine": Dictated({"of b": 0.9})})
    where = {"a": tmp_path / "a", "b": tmp_path / "b"}
    config: dict[str, object] = {"reranker_model": "mine"}
    with RetrievalPipeline(where, config, plugins=own, embedder=HashingEmbedder()) as pipeline:
        many = pipeline.search_multiple_indexes("commit number", ["a", "b"], retrieval_k=6)
        few = pipeline.search_multiple_indexes("commit number", ["a", "b"], retrieval_k=12)

    assert [one["source_index"] for one in many] == ["b"] * 3 + ["a"] * 3
    assert [one["rerank_score"] for one in many] == pytest.approx([0.9] * 3 + [0.0] * 3)
    assert len(few) == 12
    assert not any("rerank_score" in one for one in few)


def test_item_67_the_last_three_entries_go_before_the_question(git: Index) -> None:
    history = [
        {"role": "user", "content": "Forgotten"},
        {"role": "user", "content": "How do I undo?"},
        {"role": "assistant", "content": "x" * 300},
        {"role": "user", "content": "And then?"},
    ]
    made = RetrievalPipeline({"git": git}, CONFIG).answer_with_history("Which reset?", history)

    assert made["expanded_query"] == (
        f"Previous question: How do I undo?\nPrevious context: {'x' * 200}...\nPrevious question: And then?"
        "\n\nCurrent question: Which reset?"
    )
    assert made["source_documents"][0]["metadata"]["source"] == "reset.md"
    assert made["source_documents"][0]["text"] in made["facts"]


@pytest.mark.parametrize(("search_type", "used"), [("fts", "bm25"), ("dense", "vector"), ("hybrid", "hybrid")])
def test_item_35_the_labels_of_its_screen_are_modes(git: Index, search_type: str, used: str) -> None:
    (first, *_) = RetrievalPipeline({"git": git}, {**CONFIG, "search_type": search_type}).retrieve("the last commit")

    assert (first["dense_score"] != 0.0) == (used != "bm25")
    assert (first["bm25_score"] != 0.0) == (used != "vector")


def test_item_53_ai_rerank_decides_whether_there_is_a_reranker(git: Index) -> None:
    (first, *_) = RetrievalPipeline(
        {"git": git}, {**CONFIG, "ai_rerank": True, "reranker_model": "word-overlap"}
    ).retrieve("the last commit")
    (plain, *_) = RetrievalPipeline({"git": git}, CONFIG).retrieve("the last commit")

    assert "rerank_score" in first
    assert "rerank_score" not in plain


def test_a_name_that_is_nobodys_is_refused(git: Index) -> None:
    with pytest.raises(InvalidInputError):
        RetrievalPipeline({"git": git}, {"retrieval_q": 7}).retrieve("commit")
