"""Haystack: retrievers and a ranker over a document store of twofold's. `pip install 'twofold[haystack]'`.

from haystack import Document
from twofold.adapters.haystack import TwofoldDocumentStore, TwofoldHybridRetriever

store = TwofoldDocumentStore("notes")
store.write_documents([Document(content="The tower closes at 23:45.")])
documents = TwofoldHybridRetriever(store).run(query="When does the tower close?")["documents"]
"""

import asyncio
from dataclasses import replace
from typing import Any, Self

from haystack import Document, component, default_from_dict, default_to_dict

from twofold.adapters.haystack_store import Filters, TwofoldDocumentStore
from twofold.adapters.reranking import DEFAULT_RERANKER, relevances, reranker_named
from twofold.domain.ports import Reranker

__all__ = [
    "TwofoldBM25Retriever",
    "TwofoldDocumentStore",
    "TwofoldEmbeddingRetriever",
    "TwofoldHybridRetriever",
    "TwofoldRanker",
]


class _Retriever:
    """What the retrievers share: a store, how many documents, and filters that a run may replace."""

    def __init__(self, document_store: TwofoldDocumentStore, top_k: int = 10, filters: Filters | None = None) -> None:
        if top_k < 1:
            message = f"top_k must be at least 1, and is {top_k}."
            raise ValueError(message)
        self.document_store = document_store
        self.top_k = top_k
        self.filters = filters

    def to_dict(self) -> dict[str, Any]:
        """Return what makes the component again."""
        store = self.document_store.to_dict()
        made: dict[str, Any] = default_to_dict(self, document_store=store, top_k=self.top_k, filters=self.filters)
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make the component again."""
        said = data["init_parameters"]
        if isinstance(said["document_store"], dict):
            said["document_store"] = TwofoldDocumentStore.from_dict(said["document_store"])
        made: Self = default_from_dict(cls, data)
        return made


@component
class TwofoldBM25Retriever(_Retriever):
    """Retrieves documents by their words, ranked by BM25."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None, filters: Filters | None = None) -> dict[str, list[Document]]:
        """Return the documents that fit a query best."""
        found = self.document_store.find(query, top_k or self.top_k, filters or self.filters, "bm25")
        return {"documents": found}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, filters: Filters | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents that fit a query best."""
        return await asyncio.to_thread(self.run, query, top_k, filters)


@component
class TwofoldEmbeddingRetriever(_Retriever):
    """Retrieves documents by the vector of a query, for a store with an `embedding_dimension`."""

    @component.output_types(documents=list[Document])
    def run(
        self, query_embedding: list[float], top_k: int | None = None, filters: Filters | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents whose embeddings are nearest, scored by cosine."""
        found = self.document_store.find("", top_k or self.top_k, filters or self.filters, "vector", query_embedding)
        return {"documents": found}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query_embedding: list[float], top_k: int | None = None, filters: Filters | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents whose embeddings are nearest, scored by cosine."""
        return await asyncio.to_thread(self.run, query_embedding, top_k, filters)


@component
class TwofoldHybridRetriever(_Retriever):
    """Retrieves documents by words and vectors, fused into one score.

    A store with an `embedding_dimension` needs `query_embedding`; without one it finds by words alone.
    """

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        query_embedding: list[float] | None = None,
        top_k: int | None = None,
        filters: Filters | None = None,
    ) -> dict[str, list[Document]]:
        """Return the documents that fit a query best."""
        mode = "hybrid" if query_embedding is not None or self.document_store.embeds else "bm25"
        found = self.document_store.find(query, top_k or self.top_k, filters or self.filters, mode, query_embedding)
        return {"documents": found}

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        query_embedding: list[float] | None = None,
        top_k: int | None = None,
        filters: Filters | None = None,
    ) -> dict[str, list[Document]]:
        """Return the documents that fit a query best."""
        return await asyncio.to_thread(self.run, query, query_embedding, top_k, filters)


@component
class TwofoldRanker:
    """Orders documents by a cross-encoder of twofold's catalog, named as in `rerank.model`."""

    def __init__(self, model: str = DEFAULT_RERANKER, top_k: int = 10) -> None:
        self.model = model
        self.top_k = top_k
        self._reranker: Reranker | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what makes the component again."""
        made: dict[str, Any] = default_to_dict(self, model=self.model, top_k=self.top_k)
        return made

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the documents, most relevant first, with their relevance in [0, 1] as score."""
        if self._reranker is None:
            self._reranker = reranker_named(self.model)
        scores = relevances(self._reranker, query, [one.content or "" for one in documents])
        scored = [replace(one, score=score) for one, score in zip(documents, scores, strict=True)]
        scored.sort(key=lambda one: -(one.score or 0.0))
        return {"documents": scored[: top_k or self.top_k]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, documents: list[Document], top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents, most relevant first, with their relevance in [0, 1] as score."""
        return await asyncio.to_thread(self.run, query, documents, top_k)
