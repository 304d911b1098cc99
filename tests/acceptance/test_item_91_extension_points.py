"""Checklist 39 and 91: BaseRetriever, BaseReranker and QueryTransformer as written there; a registry; swapping."""

from typing import Any

import numpy as np
import pytest

from support.indexes import GIT, indexed
from twofold import Index
from twofold.compat.parts import BaseReranker, BaseRetriever, IndexRetriever, QueryTransformer, Registry
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Vectors, document_id
from twofold.models.embedders.hashing import HashingEmbedder

STASH = f"{document_id('stash.md')}_chunk_0"


class CustomRetriever(BaseRetriever):
    def search(self, query: str, k: int = 10) -> list[dict[str, Any]]:
        return [{"chunk_id": STASH, "score": 0.5}][:k] if query else []

    def get_embeddings(self, texts: list[str]) -> Vectors:
        return HashingEmbedder().embed_passages(texts)


class CustomReranker(BaseReranker):
    """The longest first."""

    def rank(self, query: str, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        assert query
        return sorted(documents, key=lambda one: -len(one["text"]))


class ScoringReranker(BaseReranker):
    def rank(self, query: str, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        assert query
        return [{**one, "score": float("two parents" in one["text"])} for one in documents]


class BrokenReranker(BaseReranker):
    def rank(self, query: str, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        raise RuntimeError(query, documents)


class CustomQueryTransformer(QueryTransformer):
    def transform(self, query: str, context: dict[str, str] | None = None) -> str:
        return query.replace("shelve", "put aside") if context is None else ""


def registered() -> Registry:
    registry = Registry()
    registry.register("longest", CustomReranker())
    registry.register("scoring", ScoringReranker())
    registry.register("broken", BrokenReranker())
    return registry


def filled(registry: Registry) -> Index:
    index = Index(":memory:", embedder=HashingEmbedder(), plugins=registry.plugins)
    for source, text in GIT.items():
        index.add(text, source=source)
    return index


def test_a_retriever_takes_part_under_its_name() -> None:
    registry = Registry()
    registry.register("custom", CustomRetriever())
    with filled(registry) as index:
        found = index.search("merge", mode="bm25")

    retrievers = {hit.source: hit.trace.retriever("custom") for hit in found.hits}
    assert retrievers["stash.md"] is not None
    assert retrievers["stash.md"].rank == 1


def test_a_reranker_is_swapped_by_its_name() -> None:
    weight = {"rerank.weight": 1.0}
    with filled(registered()) as index:
        longest = index.search("commit changes", rerank="longest", settings=weight)
        scoring = index.search("commit changes", rerank="scoring", settings=weight)

    lengths = [len(hit.text) for hit in longest.hits]
    assert lengths[0] == max(lengths)
    assert scoring.hits[0].source == "merge.md"
    assert longest.rerank is not None
    assert longest.rerank.model == "longest"


def test_a_reranker_that_fails_leaves_the_order_and_is_named() -> None:
    with filled(registered()) as index:
        plain, broken = index.search("commit"), index.search("commit", rerank="broken")

    assert [hit.chunk_id for hit in broken.hits] == [hit.chunk_id for hit in plain.hits]
    assert any("'broken' failed: RuntimeError" in note for note in map(str, broken.warnings))


def test_a_transformer_rewrites_the_question() -> None:
    registry = Registry()
    registry.register("shelving", CustomQueryTransformer())
    with filled(registry) as index:
        found = index.search("shelve it", mode="bm25")

    assert found.queries == ("shelve it", "put aside it")
    assert found.hits[0].source == "stash.md"


def test_an_index_is_a_retriever_and_gives_embeddings() -> None:
    with indexed(GIT) as index:
        retriever = IndexRetriever(index)
        found = retriever.search("undo the last commit", k=2)
        vectors = retriever.get_embeddings(["one", "two", "three"])

    assert isinstance(retriever, BaseRetriever)
    assert len(found) == 2
    assert {"chunk_id", "text", "score", "document_id", "chunk_index", "metadata"} <= found[0].keys()
    assert vectors.shape == (3, 256)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


def test_a_name_is_registered_once_and_only_parts_are() -> None:
    registry = registered()

    assert registry.names == ("longest", "scoring", "broken")
    with pytest.raises(InvalidInputError, match="already"):
        registry.register("longest", CustomReranker())
    with pytest.raises(InvalidInputError, match="no part"):
        registry.register("text", "text")  # type: ignore[arg-type]
