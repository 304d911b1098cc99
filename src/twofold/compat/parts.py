"""BaseRetriever, BaseReranker and QueryTransformer as one writes them by hand, a registry, and the way into an index.

Checklist 91. A part is registered under a name; the registry gives the `Plugins` to open an `Index` with, and a
reranker is then swapped by its name: `index.search(query, rerank="mine")`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from twofold.compat.localgpt import shaped
from twofold.compat.shapes import Shape
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.ports import RerankerIdentity, Retrieved, Scale
from twofold.domain.retry import retried
from twofold.domain.types import Scores, Vectors
from twofold.index import Index
from twofold.plugins import Plugins
from twofold.search.engine import SearchOptions


class BaseRetriever(ABC):
    """Finds passages: dictionaries that hold at least `chunk_id` and `score`, higher being better."""

    @abstractmethod
    def search(self, query: str, k: int = 10) -> list[Shape]:
        """Find at most k passages."""

    @abstractmethod
    def get_embeddings(self, texts: list[str]) -> Vectors:
        """Embed texts: (len(texts), dimensions)."""


class BaseReranker(ABC):
    """Orders passages again."""

    @abstractmethod
    def rank(self, query: str, documents: list[Shape]) -> list[Shape]:
        """Return the same dictionaries, best first; a `score` in [0, 1] in each counts, else their order does."""


class QueryTransformer(ABC):
    """Rewrites questions."""

    @abstractmethod
    def transform(self, query: str, context: dict[str, str] | None = None) -> str:
        """Return one other query."""


class IndexRetriever(BaseRetriever):
    """An index as one of these retrievers; `mode` is `hybrid`, `bm25` or `vector`."""

    def __init__(self, index: Index, mode: str = "hybrid") -> None:
        self._index = index
        self._mode = mode

    def search(self, query: str, k: int = 10) -> list[Shape]:
        """Find the k best passages."""
        return [shaped(hit) for hit in self._index.search(query, k=k, mode=self._mode).hits]

    def get_embeddings(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as passages: (len(texts), dimensions), rows of length 1."""
        parts, plan = self._index.searcher.parts_for(SearchOptions())
        return retried(lambda: parts.embedder.embed_passages(texts), plan.timeouts.retry)


class BM25Retriever(IndexRetriever):
    """BM25 only."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, "bm25")


class DenseRetriever(IndexRetriever):
    """Vector search only."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, "vector")


class HybridRetriever(IndexRetriever):
    """Both, joined as the index's settings say."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, "hybrid")


class Registry:
    """The parts that were written by hand, by name."""

    def __init__(self) -> None:
        self._retrievers: dict[str, BaseRetriever] = {}
        self._rerankers: dict[str, BaseReranker] = {}
        self._transformers: dict[str, QueryTransformer] = {}

    def register(self, name: str, part: BaseRetriever | BaseReranker | QueryTransformer) -> None:
        """Keep a part under a name. Raises InvalidInputError for a name that is taken, and for another kind of part."""
        if name in self.names:
            raise InvalidInputError(f"{name!r} is registered already.", "Choose another name.")
        if isinstance(part, BaseRetriever):
            self._retrievers[name] = part
        elif isinstance(part, BaseReranker):
            self._rerankers[name] = part
        elif isinstance(part, QueryTransformer):
            self._transformers[name] = part
        else:
            raise InvalidInputError(
                f"{type(part).__name__} is no part of a search.", "Derive it from one of the bases."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """All names, retrievers first."""
        return (*self._retrievers, *self._rerankers, *self._transformers)

    @property
    def plugins(self) -> Plugins:
        """What to open an index with: `Index("notes", plugins=registry.plugins)`."""
        return Plugins(
            retrievers={name: _Retrieving(one) for name, one in self._retrievers.items()},
            rerankers={name: _Reranking(name, one) for name, one in self._rerankers.items()},
            transformers={name: _Transforming(one) for name, one in self._transformers.items()},
        )


class _Retrieving:
    def __init__(self, part: BaseRetriever) -> None:
        self._part = part

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        return [Retrieved(one["chunk_id"], float(one["score"])) for one in self._part.search(query, k)]


class _Transforming:
    def __init__(self, part: QueryTransformer) -> None:
        self._part = part

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        return self._part.transform(query, None if context is None else dict(context))


class _Reranking:
    """Documents go out as `{"id", "text"}` and come back in another order; their places, or scores, are the relevance.

    Of n documents without scores the first has 1, the second 1 - 1/n, and so on; one that is left out has 0.
    """

    def __init__(self, name: str, part: BaseReranker) -> None:
        self._identity = RerankerIdentity(name, "own", Scale.RELEVANCE)
        self._part = part

    @property
    def identity(self) -> RerankerIdentity:
        return self._identity

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        ranked: list[dict[str, Any]] = self._part.rank(query, [{"id": at, "text": one} for at, one in enumerate(texts)])
        scores = np.zeros(len(texts))
        for place, one in enumerate(ranked):
            scores[one["id"]] = float(one.get("score", 1.0 - place / len(texts)))
        if ((scores < 0.0) | (scores > 1.0)).any():
            raise ModelError(f"The reranker {self._identity.name!r} gave a score outside of 0 to 1.", "Leave it out.")
        return scores

    def relevance(self, raw: Scores) -> Scores:
        return raw

    def close(self) -> None:
        """Nothing was opened here."""
