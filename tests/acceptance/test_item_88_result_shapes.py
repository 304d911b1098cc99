"""Checklist items 1, 28, 34, 35, 60, 87 and 88: RAGPipeline, its three modes, and its results key by key."""

import json
from collections.abc import Iterator, Mapping

import pytest

from twofold.compat.modes import RAGPipeline, RetrievalMode
from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {
    "doc1.txt": "Machine learning is the study of programs that improve by experience.",
    "doc2.txt": "Learning to play the piano takes years.",
    "doc3.txt": "A recipe for apple pie with cinnamon.",
}


def pipeline(mode: RetrievalMode | str = RetrievalMode.HYBRID, **kwargs: float) -> RAGPipeline:
    made = RAGPipeline(retrieval_mode=mode, embedder=HashingEmbedder(), **kwargs)  # type: ignore[arg-type]
    for source, text in TEXTS.items():
        made.add_document(text, source)
    return made


@pytest.fixture
def hybrid() -> Iterator[RAGPipeline]:
    with pipeline() as made:
        yield made


def keys(value: object) -> object:
    """Give a value's shape: its keys in order, and the types of what is in it."""
    if isinstance(value, Mapping):
        return {name: keys(one) for name, one in value.items() if name != "metadata"}
    return type(value).__name__


CHUNK = {"chunk_id": "str", "text": "str", "source": "str"}


def test_item_88_a_semantic_result() -> None:
    with pipeline(RetrievalMode.SEMANTIC) as made:
        (first, *_) = made.retrieve("machine learning")

    assert keys(first) == {"chunk": CHUNK, "similarity_score": "float", "retrieval_method": "str", "context": "list"}
    assert list(first) == ["chunk", "similarity_score", "retrieval_method", "context"]
    assert list(first["chunk"]) == ["chunk_id", "text", "source", "metadata"]
    assert first["chunk"]["chunk_id"] == "doc1_chunk_0"
    assert first["chunk"]["text"] == TEXTS["doc1.txt"]
    assert first["chunk"]["source"] == "doc1.txt"
    assert isinstance(first["chunk"]["metadata"], dict)
    assert (first["retrieval_method"], first["context"]) == ("semantic", [])
    assert -1.0 <= first["similarity_score"] <= 1.0


def test_item_88_a_bm25_result() -> None:
    with pipeline(RetrievalMode.BM25) as made:
        found = made.retrieve("machine learning")

    assert keys(found[0]) == {"chunk": CHUNK, "bm25_score": "float", "retrieval_method": "str", "context": "list"}
    assert list(found[0]) == ["chunk", "bm25_score", "retrieval_method", "context"]
    assert [one["chunk"]["source"] for one in found] == ["doc1.txt", "doc2.txt"]
    assert found[0]["bm25_score"] > found[1]["bm25_score"] > 0.0
    assert found[0]["retrieval_method"] == "bm25"


def test_item_88_a_hybrid_result(hybrid: RAGPipeline) -> None:
    (first, *_) = hybrid.retrieve("machine learning")

    assert list(first) == ["chunk", "combined_score", "score_details", "retrieval_method", "context"]
    assert list(first["score_details"]) == ["semantic", "bm25", "combined"]
    assert (first["retrieval_method"], first["context"]) == ("hybrid", [])


def test_items_28_34_the_combined_score_is_half_and_half_of_its_details(hybrid: RAGPipeline) -> None:
    for one in hybrid.retrieve("machine learning"):
        details = one["score_details"]
        assert one["combined_score"] == details["combined"]
        assert details["combined"] == pytest.approx(0.5 * details["semantic"] + 0.5 * details["bm25"])
        assert 0.0 <= details["bm25"] <= 1.0


def test_item_28_weights_that_are_no_shares_are_added_up_as_they_are() -> None:
    with pipeline(hybrid_semantic_weight=2.0, hybrid_bm25_weight=1.0) as made:
        details = made.retrieve("machine learning")[0]["score_details"]

    assert details["combined"] == pytest.approx(2.0 * details["semantic"] + 1.0 * details["bm25"])


def test_item_28_fusion_by_rank() -> None:
    with RAGPipeline(hybrid_fusion_method="rrf", embedder=HashingEmbedder()) as made:
        made.add_document(TEXTS["doc1.txt"], "doc1.txt")
        (only,) = made.retrieve("machine learning")

    assert only["combined_score"] == pytest.approx(2 / 61)


def test_item_35_hybrid_is_the_default_and_an_explicit_mode_always_wins(hybrid: RAGPipeline) -> None:
    assert [mode.name for mode in RetrievalMode] == ["SEMANTIC", "BM25", "HYBRID"]
    assert hybrid.retrieve("learning")[0]["retrieval_method"] == "hybrid"
    assert hybrid.retrieve("learning", retrieval_mode=RetrievalMode.SEMANTIC)[0]["retrieval_method"] == "semantic"
    with pipeline("BM25") as made:
        assert made.retrieve("learning")[0]["retrieval_method"] == "bm25"


def test_results_are_json(hybrid: RAGPipeline) -> None:
    hybrid.add_document("With fields of its own.", "d.txt", {"tags": ("a", "b"), "year": 2025})
    (first, *_) = hybrid.retrieve("fields of its own", top_k=1)

    read = json.loads(json.dumps(first))
    assert read == first
    assert read["chunk"]["metadata"]["tags"] == ["a", "b"]


def test_item_60_neighbors_are_the_context() -> None:
    with pipeline("bm25") as made:
        made.add_document("\n\n".join(f"Part {n} tells of the number {n}. " * 40 for n in range(6)), "long.txt")
        (alone,) = made.retrieve("number 3", top_k=1)
        (found,) = made.retrieve("number 3", top_k=1, window=1)

    number = int(found["chunk"]["chunk_id"].rpartition("_")[2])
    assert alone["context"] == []
    assert [one["chunk_id"] for one in found["context"]] == [f"long_chunk_{number - 1}", f"long_chunk_{number + 1}"]
    assert all(one["text"] for one in found["context"])


def test_documents_of_one_name_in_two_folders_stay_apart_and_one_source_is_replaced(hybrid: RAGPipeline) -> None:
    hybrid.add_document("the first of two", "a/same.txt")
    hybrid.add_document("the second of two", "b/same.txt")
    hybrid.add_document("the first once more", "a/same.txt")

    texts = {one["chunk"]["source"]: one["chunk"]["text"] for one in hybrid.retrieve("first second of two", top_k=9)}
    assert texts["a/same.txt"] == "the first once more"
    assert texts["b/same.txt"] == "the second of two"


@pytest.mark.parametrize(
    "kwargs",
    [
        {"retrieval_mode": "magic"},
        {"hybrid_fusion_method": "sum"},
        {"hybrid_semantic_weight": -1.0},
        {"hybrid_semantic_weight": 0.0, "hybrid_bm25_weight": 0.0},
        {"hybrid_semantic_weight": float("nan")},
        {"device": "cuda"},
        {"bm25_b": 2.0},
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        RAGPipeline(embedder=HashingEmbedder(), **kwargs)  # type: ignore[arg-type]
