"""RAGPipeline with its three modes, and its results as dictionaries."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Self

from twofold.compat.shapes import Shape, name_for, normalized_of, plain, raw_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Embedder
from twofold.domain.types import Metadata
from twofold.index import Index
from twofold.search.result import Hit

FUSIONS: Mapping[str, str] = {"weighted": "linear", "rrf": "rrf"}
NO_METADATA: Metadata = {}


class RetrievalMode(StrEnum):
    """Which retrievers search: vectors, BM25, or both."""

    SEMANTIC = "semantic"
    BM25 = "bm25"
    HYBRID = "hybrid"


MODES: Mapping[RetrievalMode, str] = {
    RetrievalMode.SEMANTIC: "vector",
    RetrievalMode.BM25: "bm25",
    RetrievalMode.HYBRID: "hybrid",
}


@dataclass(frozen=True, slots=True)
class Hybrid:
    """How the two retrievers are joined: `weighted` sums, or `rrf`; weights from 0, not both 0."""

    semantic_weight: float = 0.5
    bm25_weight: float = 0.5
    method: str = "weighted"

    def __post_init__(self) -> None:
        """Refuse what cannot be. Raises InvalidInputError."""
        if self.method not in FUSIONS:
            raise InvalidInputError(f"There is no fusion {self.method!r}.", "Use weighted or rrf.")
        if not (min(self.semantic_weight, self.bm25_weight) >= 0.0 < self.total < float("inf")):
            raise InvalidInputError("The weights must be 0 or more, and not both 0.", "0.5 and 0.5 are usual.")

    @property
    def total(self) -> float:
        """What the weights add up to: the greatest combined score there is."""
        return self.semantic_weight + self.bm25_weight


class RAGPipeline:
    """The pipeline of three modes over an `Index`, under the profile `modes`.

    `where` is an index's name or path, in memory by default; `embedder` brings one of your own in place of the model
    that `embedding_model` names. `device` can only be `cpu`. Close it, or use it in a `with` statement.

    >>> from twofold.models.embedders.hashing import HashingEmbedder
    >>> with RAGPipeline(retrieval_mode=RetrievalMode.BM25, embedder=HashingEmbedder()) as pipeline:
    ...     pipeline.add_document("Machine learning is fun.", "doc1.txt")
    ...     found = pipeline.retrieve("machine learning")
    >>> found[0]["chunk"]["chunk_id"], found[0]["retrieval_method"], found[0]["context"]
    ('doc1_chunk_0', 'bm25', [])
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the names and defaults of the earlier system
        self,
        retrieval_mode: RetrievalMode | str = RetrievalMode.HYBRID,
        embedding_model: str = "all-MiniLM-L6-v2",
        device: str = "cpu",
        bm25_k1: float = 1.5,
        bm25_b: float = 0.75,
        hybrid_semantic_weight: float = 0.5,
        hybrid_bm25_weight: float = 0.5,
        hybrid_fusion_method: str = "weighted",
        *,
        where: str | Path = ":memory:",
        embedder: Embedder | None = None,
    ) -> None:
        if device != "cpu":
            raise InvalidInputError(
                f"Models do not run on {device!r} here.", "Use cpu, or a server as embedding_model."
            )
        self._mode = _mode(retrieval_mode)
        self._hybrid = Hybrid(hybrid_semantic_weight, hybrid_bm25_weight, hybrid_fusion_method)
        said = {
            "profile": "modes",
            "embedder": embedding_model,
            "search.bm25": {"k1": bm25_k1, "b": bm25_b},
            "fusion.method": FUSIONS[self._hybrid.method],
            "fusion.vector_weight": self._hybrid.semantic_weight / self._hybrid.total,
        }
        self.index = Index(where, overrides=said, embedder=embedder)

    def add_document(self, text: str, source: str, metadata: Metadata = NO_METADATA) -> None:
        """Cut, embed and keep a document; one of the same source is replaced."""
        self.index.add(text, source=source, metadata=metadata, id=name_for(self.index, source))

    def retrieve(
        self, query: str, top_k: int = 5, retrieval_mode: RetrievalMode | str | None = None, *, window: int = 0
    ) -> list[Shape]:
        """Find the best passages, as dictionaries; a mode that is given wins over the pipeline's own.

        `context` holds up to `window` neighbors on either side, in reading order.
        """
        mode = self._mode if retrieval_mode is None else _mode(retrieval_mode)
        found = self.index.search(query, k=top_k, mode=MODES[mode], settings={"search.context_window": window})
        return [self._shaped(hit, mode) for hit in found.hits]

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _shaped(self, hit: Hit, mode: RetrievalMode) -> Shape:
        chunk = {"chunk_id": hit.chunk_id, "text": hit.text, "source": hit.source, "metadata": plain(hit.metadata)}
        context = [{"chunk_id": f"{hit.document}_chunk_{one.ordinal}", "text": one.text} for one in hit.context]
        return {"chunk": chunk, **self._scores(hit, mode), "retrieval_method": mode.value, "context": context}

    def _scores(self, hit: Hit, mode: RetrievalMode) -> Shape:
        if mode is RetrievalMode.SEMANTIC:
            return {"similarity_score": raw_of(hit, "vector")}
        if mode is RetrievalMode.BM25:
            return {"bm25_score": raw_of(hit, "bm25")}
        combined = hit.score * (self._hybrid.total if self._hybrid.method == "weighted" else 1.0)
        details = {"semantic": normalized_of(hit, "vector"), "bm25": normalized_of(hit, "bm25")}
        return {"combined_score": combined, "score_details": {**details, "combined": combined}}


def _mode(given: RetrievalMode | str) -> RetrievalMode:
    try:
        return RetrievalMode(given.lower())
    except ValueError as error:
        raise InvalidInputError(f"There is no retrieval mode {given!r}.", "Use semantic, bm25 or hybrid.") from error
