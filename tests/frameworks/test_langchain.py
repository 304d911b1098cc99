"""LangChain's own suites over the adapter, and what they do not ask: scores, citations, filters, keeping on disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

from twofold import Index
from twofold.adapters.langchain import TwofoldRetriever, TwofoldVectorStore
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {
    "tower.txt": "The Eiffel tower stands in Paris.",
    "cat.txt": "The cat sat on the mat.",
    "dog.txt": "The dog slept in the yard.",
    "git.txt": "To undo the last commit, reset softly.",
}


def filled() -> Index:
    index = Index(":memory:", embedder=HashingEmbedder())
    for source, text in TEXTS.items():
        index.add(text, source=source, metadata={"kind": "note"})
    return index


class TestRetriever(RetrieversIntegrationTests):
    """The published suite."""

    @property
    def retriever_constructor(self) -> type[TwofoldRetriever]:
        return TwofoldRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": filled()}

    @property
    def retriever_query_example(self) -> str:
        return "tower cat dog"


class TestVectorStore(VectorStoreIntegrationTests):
    """The published suite, over a store in memory and over one on disk."""

    @pytest.fixture(params=["memory", "disk"])
    def vectorstore(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TwofoldVectorStore]:
        where = ":memory:" if request.param == "memory" else tmp_path / "kept"
        store = TwofoldVectorStore(where, self.get_embeddings())
        yield store
        store.index.close()


def test_a_retrieved_document_says_where_it_comes_from() -> None:
    index = filled()
    (document,) = TwofoldRetriever(index=index, k=1).invoke("Eiffel tower")
    note = document.metadata["twofold"]

    assert document.metadata["source"] == "tower.txt"
    assert document.metadata["kind"] == "note"
    assert note["score"] == sum(one["part"] for one in note["retrievers"].values())
    assert index.document("tower.txt").text[note["start"] : note["end"]] == document.page_content


def test_options_of_search_are_options_of_invoke() -> None:
    retriever = TwofoldRetriever(index=filled(), filter="source == cat.txt")

    assert [one.metadata["source"] for one in retriever.invoke("tower")] == ["cat.txt"]
    assert [one.metadata["source"] for one in retriever.invoke("tower", filter="source == dog.txt")] == ["dog.txt"]


def test_fields_that_filters_cannot_use_come_back_all_the_same(tmp_path: Path) -> None:
    embeddings = TestVectorStore().get_embeddings()
    metadata = {"year": 2020, "nested": {"a": [1, {"b": None}]}, "tags": ["x", "y"]}
    store = TwofoldVectorStore(tmp_path / "kept", embeddings)
    store.add_documents(
        [Document(page_content="One.", metadata=metadata, id="1"), Document(page_content="Two.", id="2")]
    )
    store.index.close()

    again = TwofoldVectorStore(tmp_path / "kept", embeddings)
    ((document, score),) = again.similarity_search_with_score("One", k=4, filter="year >= 2020 and tags == y")
    assert document == Document(page_content="One.", metadata=metadata, id="1")
    assert score > 0.0
    assert again.as_retriever(search_kwargs={"k": 1, "mode": "bm25"}).invoke("Two") == [
        Document(page_content="Two.", id="2")
    ]
    again.index.close()
