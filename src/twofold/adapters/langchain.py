"""LangChain: a retriever over an index, and a vector store. `pip install 'twofold[langchain]'`.

    from twofold import Index
    from twofold.adapters.langchain import TwofoldRetriever

    retriever = TwofoldRetriever(index=Index("notes"), k=5)
    documents = retriever.invoke("When does the tower close?")

Each document's metadata holds the document's own fields and, under `twofold`, its score, rank, retrievers' parts and
the place that a citation needs.
"""

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field

from twofold.adapters.records import WHOLE, document_of, find, is_empty, plain_fields, record_of, unit
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.index import Index
from twofold.search.result import Hit

NOTE = "twofold"


class TwofoldRetriever(BaseRetriever):
    """Retrieves passages of an index. Options are those of `Index.search`; `invoke(query, k=3)` changes them once."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: Index
    k: int = Field(default=10, ge=1, le=1_000)
    mode: str | None = None
    filter: Any = None
    rerank: str | None = None
    profile: str | None = None
    settings: Mapping[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **options: Any,  # noqa: ANN401
    ) -> list[Document]:
        del run_manager
        return self._found(query, options)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Any,  # noqa: ANN401
    ) -> list[Document]:
        del run_manager
        return await asyncio.to_thread(self._found, query, options)

    def _found(self, query: str, options: Mapping[str, Any]) -> list[Document]:
        own = {"k": self.k, "mode": self.mode, "rerank": self.rerank, "profile": self.profile}
        own |= {"filter": self.filter} if self.filter is not None else {}
        found = self.index.search(query, **{**own, "settings": self.settings, **options})
        return [_passage(hit) for hit in found.hits]


def _passage(hit: Hit) -> Document:
    parts = {one.retriever: {"rank": one.rank, "raw": one.raw, "part": one.part} for one in hit.trace.retrievers}
    note = {
        "score": hit.score,
        "rank": hit.rank,
        "retrievers": parts,
        "document": hit.document,
        "source": hit.source,
        "title": hit.title,
        "page": hit.page,
        "section": list(hit.heading),
        "start": hit.start,
        "end": hit.end,
    }
    own = {"source": hit.source, **plain_fields(hit.metadata)}
    return Document(page_content=hit.text, metadata={**own, NOTE: note}, id=hit.chunk_id)


class _Embedder:
    """LangChain's embeddings as twofold's embedder: vectors at length 1."""

    def __init__(self, embeddings: Embeddings, dimensions: int) -> None:
        self._embeddings = embeddings
        self._identity = EmbedderIdentity(
            f"langchain:{type(embeddings).__name__}", "1", dimensions, max_tokens=2**31 - 1
        )

    @property
    def identity(self) -> EmbedderIdentity:
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._rows(self._embeddings.embed_documents(list(texts)))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._rows([self._embeddings.embed_query(text) for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        """Do nothing: the embeddings belong to the caller."""

    def _rows(self, vectors: Sequence[Sequence[float]]) -> Vectors:
        return np.array([unit(one) for one in vectors], dtype=np.float32).reshape(-1, self._identity.dimensions)


class TwofoldVectorStore(VectorStore):
    """A vector store whose documents are kept in an index, one passage each, and found by both retrievers.

    `where` is a name, a path or `:memory:`, as for `Index`. Without `embedding` twofold's own model embeds. Documents
    come back as they were added; `similarity_search_with_score` gives twofold's score, greater for better.
    """

    def __init__(
        self, where: str | Path = ":memory:", embedding: Embeddings | None = None, *, mode: str | None = None
    ) -> None:
        self._embedding = embedding
        self._mode = mode
        embedder = None if embedding is None else _Embedder(embedding, len(embedding.embed_query("width")))
        self._index = Index(where, embedder=embedder, plugins=WHOLE)

    @property
    def index(self) -> Index:
        """The index, for all that LangChain has no word for: explanations, why-not, sync, answers."""
        return self._index

    @property
    def embeddings(self) -> Embeddings | None:
        """The embeddings that were given."""
        return self._embedding

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **_: Any,  # noqa: ANN401
    ) -> list[str]:
        """Add or replace texts, all of them or none; durable when it returns. Return their ids."""
        rows = list(texts)
        fields = metadatas or [{} for _ in rows]
        names = [one or str(uuid.uuid4()) for one in ids or [""] * len(rows)]
        made = {
            name: document_of(name, text, own, {"text": text, "metadata": own})
            for name, text, own in zip(names, rows, fields, strict=True)
        }
        if made:
            self._index.add_many(list(made.values()))
        return names

    def add_documents(self, documents: list[Document], **options: Any) -> list[str]:  # noqa: ANN401
        """Add or replace documents; those without an id are given one. Return their ids."""
        ids = options.pop("ids", None) or [one.id or "" for one in documents]
        return self.add_texts(
            [one.page_content for one in documents], [dict(one.metadata) for one in documents], ids=ids, **options
        )

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool | None:  # noqa: ANN401
        """Delete documents by id; ids that are not there are passed over. Without ids, delete all."""
        if is_empty(self._index):
            return True
        named = [info.id for info in self._index.documents()] if ids is None else ids
        self._index.delete(*[one for one in named if find(self._index, one) is not None])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids, in their order; those that are not there are left out."""
        if is_empty(self._index):
            return []
        found = [find(self._index, one) for one in ids]
        return [_document(one.id, record_of(one.metadata)) for one in found if one is not None]

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:  # noqa: ANN401
        """Return the `k` documents that fit best."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        **options: Any,  # noqa: ANN401
    ) -> list[tuple[Document, float]]:
        """Return the `k` documents that fit best, with their scores; options are those of `Index.search`."""
        if is_empty(self._index):
            return []
        hits = self._index.search(query, k=k, **{"mode": self._mode, **options}).hits
        return [(_document(hit.document, record_of(hit.metadata)), hit.score) for hit in hits]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> Self:
        """Make a store of texts; options are those of the constructor."""
        store = cls(embedding=embedding, **options)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _document(identity: str, record: Mapping[str, Any]) -> Document:
    return Document(page_content=record.get("text", ""), metadata=record.get("metadata", {}), id=identity)
