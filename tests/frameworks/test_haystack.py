"""Haystack's own suites over the document store, and the retrievers and the ranker in pipelines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing.document_store import (
    CountDocumentsByFilterTest,
    CountUniqueMetadataByFilterTest,
    DocumentStoreBaseExtendedTests,
    GetMetadataFieldMinMaxTest,
    GetMetadataFieldsInfoTest,
    GetMetadataFieldUniqueValuesTest,
)
from haystack.testing.document_store_async import CountDocumentsAsyncTest, DeleteDocumentsAsyncTest

from twofold.adapters.haystack import (
    TwofoldBM25Retriever,
    TwofoldDocumentStore,
    TwofoldEmbeddingRetriever,
    TwofoldHybridRetriever,
    TwofoldRanker,
)

EMBEDDING = 768  # the width that Haystack's own documents have


def opened(kind: str, folder: Path) -> Iterator[TwofoldDocumentStore]:
    store = TwofoldDocumentStore(":memory:" if kind == "memory" else str(folder / "kept"), EMBEDDING)
    yield store
    store.close()


@pytest.fixture(params=["memory", "disk"])
def document_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TwofoldDocumentStore]:
    yield from opened(request.param, tmp_path)


class OverStores:
    """The published suites bring a fixture of their own, which a class must replace."""

    @pytest.fixture(params=["memory", "disk"])
    def document_store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TwofoldDocumentStore]:
        yield from opened(request.param, tmp_path)


class TestStore(
    OverStores,
    DocumentStoreBaseExtendedTests,
    CountDocumentsByFilterTest,
    CountUniqueMetadataByFilterTest,
    GetMetadataFieldsInfoTest,
    GetMetadataFieldMinMaxTest,
    GetMetadataFieldUniqueValuesTest,
):
    """The published suites."""

    def test_write_documents(self, document_store: TwofoldDocumentStore) -> None:
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])
        self.assert_documents_are_equal(document_store.filter_documents(), [document])


class TestAsync(OverStores, CountDocumentsAsyncTest, DeleteDocumentsAsyncTest):
    """The published suites of the asynchronous methods."""


def vector(*first: float) -> list[float]:
    return [*first, *([0.0] * (EMBEDDING - len(first)))]


DOCUMENTS = [
    Document(id="tower", content="The Eiffel tower stands in Paris.", meta={"n": 1}, embedding=vector(1.0)),
    Document(id="cat", content="The cat sat on the mat.", meta={"n": 2}, embedding=vector(0.6, 0.8)),
    Document(id="bare", content="The tower has no embedding.", meta={"n": 3}),
]


def ids(found: dict[str, Any]) -> list[str]:
    return [one.id for one in found["documents"]]


def test_documents_are_found_by_words_by_vectors_and_by_both(document_store: TwofoldDocumentStore) -> None:
    document_store.write_documents(DOCUMENTS)

    assert set(ids(TwofoldBM25Retriever(document_store).run("tower"))) == {"tower", "bare"}
    near = TwofoldEmbeddingRetriever(document_store).run(vector(0.0, 1.0))["documents"]
    assert [(one.id, round(one.score, 2)) for one in near] == [("cat", 0.8), ("tower", 0.0)]
    both = TwofoldHybridRetriever(document_store).run("tower", vector(1.0))
    assert ids(both)[0] == "tower"
    assert ids(TwofoldHybridRetriever(document_store).run("tower")) == ids(
        TwofoldBM25Retriever(document_store).run("tower")
    )


def test_filters_act_before_the_best_are_chosen(document_store: TwofoldDocumentStore) -> None:
    document_store.write_documents(DOCUMENTS)
    filters = {"field": "meta.n", "operator": ">=", "value": 2}

    assert ids(TwofoldBM25Retriever(document_store, top_k=1, filters=filters).run("tower")) == ["bare"]
    assert ids(TwofoldEmbeddingRetriever(document_store, top_k=1).run(vector(1.0), filters=filters)) == ["cat"]
    none = {"field": "meta.n", "operator": ">", "value": 9}
    assert ids(TwofoldBM25Retriever(document_store).run("tower", filters=none)) == []


def test_a_pipeline_is_kept_and_made_again(tmp_path: Path) -> None:
    store = TwofoldDocumentStore(str(tmp_path / "kept"), EMBEDDING)
    store.write_documents(DOCUMENTS, DuplicatePolicy.OVERWRITE)
    pipeline = Pipeline()
    pipeline.add_component("find", TwofoldBM25Retriever(store, top_k=1))
    pipeline.add_component("rank", TwofoldRanker("word-overlap"))
    pipeline.connect("find.documents", "rank.documents")
    said = pipeline.dumps()
    store.close()

    again = Pipeline.loads(said, allowed_modules=["twofold.adapters.*"])
    answer = again.run({"find": {"query": "Eiffel tower"}, "rank": {"query": "Eiffel tower"}})
    (document,) = answer["rank"]["documents"]
    assert (document.id, document.meta) == ("tower", {"n": 1})
    assert 0.0 < document.score <= 1.0
