"""RetrievalPipeline over one index or several: batches, follow-ups, neighbours (checklist 53, 55, 67, 69, 74)."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

from twofold.collection import Collection
from twofold.compat.shapes import Shape, normalised_of, plain, turns_of
from twofold.domain.errors import NotFoundError, TwofoldError
from twofold.domain.ports import Embedder
from twofold.extensions import NONE_OWN, Extensions
from twofold.pipeline.results import FoundPassage
from twofold.query.history import LAST_THREE, Turn, question_with_history
from twofold.searcher import Asking
from twofold.settings import Settings, merge
from twofold.several import Where, search_several

PROFILE = "localgpt"
TABLE = "text_pages_{}"
RETRIEVAL_K = 20
_MODES = {"hybrid": "hybrid", "dense": "semantic", "vector": "semantic", "fts": "bm25", "bm25": "bm25"}
_SAME = {"reranker_top_k": "rerank.keep", "dense_weight": "fusion.dense_weight", "reranker_model": "rerank.model"}


class RetrievalPipeline:
    """Searches indexes under the profile `localgpt`.

    `indexes` maps the ids that `search_multiple_indexes` is asked with to indexes: open ones, names or paths. An id
    that is not in it stands for the index `text_pages_<id>`. `config` holds the earlier system's own names, such as
    `{"search_type": "hybrid", "dense_weight": 0.7, "ai_rerank": False}`, or settings by their dotted names.
    `extensions` and `embedder` are for the indexes that are opened here. Close it, or use it in a `with` statement.
    """

    def __init__(
        self,
        indexes: Mapping[str, Where],
        config: Mapping[str, object] | None = None,
        *,
        extensions: Extensions = NONE_OWN,
        embedder: Embedder | None = None,
    ) -> None:
        self._where = dict(indexes)
        self._settings = _read(config or {})
        self._extensions, self._embedder = extensions, embedder
        self._opened: dict[str, Collection] = {}
        self._stack = ExitStack()

    def retrieve(self, query: str, index_id: str | None = None, k: int | None = None) -> list[Shape]:
        """Search one index: the first, if none is named."""
        found = self._index(index_id).search(query, k=k, profile=PROFILE, settings=self._settings)
        return [shaped(hit) for hit in found.hits]

    def process_query_batch(self, queries: Sequence[str], index_id: str | None = None) -> list[list[Shape]]:
        """Search for many questions: all embedded at once, each joined and reranked for itself (checklist 69)."""
        found = self._index(index_id).search_many(queries, Asking(profile=PROFILE, settings=self._settings))
        return [[shaped(hit) for hit in one.hits] for one in found]

    def search_multiple_indexes(
        self, query: str, index_ids: Sequence[str], retrieval_k: int = RETRIEVAL_K
    ) -> list[Shape]:
        """Search several indexes, each passage tagged with its `source_index`; one that fails is warned of and skipped.

        They are joined by rank; where more than `retrieval_k` are found the best of them are reranked together, if
        there is a reranker. Gives at most `retrieval_k`. Raises the last error where none can be searched.
        """
        opened: dict[str, Collection] = {}
        failed: TwofoldError | None = None
        for name in dict.fromkeys(index_ids):
            try:
                opened[name] = self._index(name)
            except TwofoldError as error:
                failed = error
                _warn(f"index {name} unavailable: {error.message}")
        if not opened:
            raise failed or NotFoundError("There is no index to search.", "Name one or more.")
        settings = {**self._settings, "rerank.candidates": retrieval_k}
        across = "rerank" if self._reranks(next(iter(opened.values()))) else "rrf"
        found = search_several(opened, query, Asking(k=retrieval_k, profile=PROFILE, settings=settings), across)
        for note in found.degraded:
            if note.startswith("collection "):
                _warn(note)
        return [{**shaped(hit), "source_index": hit.collection} for hit in found.hits]

    def answer_with_history(
        self, query: str, conversation_history: Sequence[Turn | Mapping[str, str]], index_id: str | None = None
    ) -> Shape:
        """Search with the last three entries of a conversation before the question, an answer cut at 200 characters.

        Gives `query`, the `expanded_query` that was searched for, `source_documents`, and the `facts` for a model: the
        passages' texts, a blank line apart.
        """
        expanded = question_with_history(query, turns_of(conversation_history), LAST_THREE)
        documents = self.retrieve(expanded, index_id)
        facts = "\n\n".join(one["text"] for one in documents)
        return {"query": query, "expanded_query": expanded, "source_documents": documents, "facts": facts}

    def close(self) -> None:
        """Close the indexes that were opened here."""
        self._stack.close()
        self._opened.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _index(self, index_id: str | None) -> Collection:
        name = next(iter(self._where), "default") if index_id is None else index_id
        where = self._where.get(name, TABLE.format(name))
        if isinstance(where, Collection):
            return where
        if name not in self._opened:
            made = Collection(where, embedder=self._embedder, extensions=self._extensions)
            self._opened[name] = self._stack.enter_context(made)
        return self._opened[name]

    def _reranks(self, index: Collection) -> bool:
        held = merge(index.settings, Asking(profile=PROFILE, settings=self._settings).overrides)
        return held.rerank.model != Settings().rerank.model


def shaped(hit: FoundPassage) -> Shape:
    """Give a hit in the shape of this system; `rerank_score` is there where it was reranked."""
    rerank = hit.trace.rerank
    reread = {} if rerank is None or rerank.relevance is None else {"rerank_score": rerank.relevance}
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document,
        "chunk_index": int(hit.chunk_id.rpartition("_")[2]),
        "text": hit.joined.text if hit.joined is not None else hit.text,
        "score": hit.score,
        "dense_score": normalised_of(hit, "dense"),
        "bm25_score": normalised_of(hit, "lexical"),
        "metadata": {**plain(hit.metadata), "source": hit.source},
        **reread,
    }


def _read(config: Mapping[str, object]) -> dict[str, Any]:
    """Take the earlier system's names apart from settings; a name that is neither is refused where settings are."""
    said: dict[str, Any] = {}
    for name, value in config.items():
        if name == "search_type":
            said["search.mode"] = _MODES.get(str(value), value)
        elif name == "retrieval_k":
            said["search.depth"] = str(value)
        elif name == "ai_rerank":
            said.update({} if value else {"rerank.model": "none"})
        else:
            said[_SAME.get(name, name)] = value
    return said


def _warn(note: str) -> None:
    warnings.warn(note, RuntimeWarning, stacklevel=3)
