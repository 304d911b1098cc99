"""RetrievalPipeline over one index or several: searches, batches, follow-ups, neighbors, and answers."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from typing import Any, Self

import msgspec

from twofold.answer.events import ChunkEvent, ErrorEvent, StageEvent
from twofold.answer.pipeline import AnswerStream
from twofold.compat.localgpt_parts import HyDEGenerator, PerformanceTracker, QueryDecomposer
from twofold.compat.shapes import Shape, normalized_of, plain, turns_of
from twofold.config.load import Settings, grouped, merge
from twofold.domain.errors import ModelError, NotFoundError, TwofoldError
from twofold.domain.ports import Embedder
from twofold.index import Index
from twofold.index_reader import Collection
from twofold.multi_index import MultiIndex, Where, search_multi
from twofold.plugins import NO_PLUGINS, Plugins
from twofold.query.history import LAST_THREE, Turn, question_with_history
from twofold.search.engine import SearchOptions
from twofold.search.result import Hit

__all__ = ["HyDEGenerator", "PerformanceTracker", "QueryDecomposer", "RetrievalPipeline", "shaped"]
PROFILE = "localgpt"
TABLE = "text_pages_{}"
RETRIEVAL_K = 20
_BY_WORDS: Mapping[str, object] = {"search.mode": "bm25", "rerank.model": "none", "rerank.fallback": ""}
_MODES = {"hybrid": "hybrid", "dense": "vector", "vector": "vector", "fts": "bm25", "bm25": "bm25"}
_SAME = {
    "reranker_top_k": "rerank.top_n",
    "dense_weight": "fusion.vector_weight",
    "reranker_model": "rerank.model",
    "generation_model": "generator",
    "prompt_override": "answer.prompt",
    "cache_ttl": "cache.ttl_seconds",
    "semantic_cache_threshold": "cache.semantic_threshold",
    "cache_scope": "cache.scope",
}


class RetrievalPipeline:
    """Searches indexes under the profile `localgpt`.

    `indexes` maps the ids that `search_multiple_indexes` is asked with to indexes: open ones, names or paths. An id
    that is not in it stands for the index `text_pages_<id>`. `config` holds the earlier system's own names, such as
    `{"search_type": "hybrid", "dense_weight": 0.7, "ai_rerank": False}`, or settings by their dotted names.
    `plugins` and `embedder` are for the indexes that are opened here. Close it, or use it in a `with` statement.
    """

    def __init__(
        self,
        indexes: Mapping[str, Where],
        config: Mapping[str, object] | None = None,
        *,
        plugins: Plugins = NO_PLUGINS,
        embedder: Embedder | None = None,
    ) -> None:
        self._where = dict(indexes)
        self._settings = _read(config or {})
        self._plugins, self._embedder = plugins, embedder
        self._opened: dict[str, Collection] = {}
        self._stack = ExitStack()
        self._fallen: Mapping[str, object] = {}
        self._tracker = PerformanceTracker()

    def retrieve(self, query: str, index_id: str | None = None, k: int | None = None) -> list[Shape]:
        """Search one index: the first, if none is named."""
        found = self._index(index_id).search(query, k=k, profile=PROFILE, settings={**self._settings, **self._fallen})
        return [shaped(hit) for hit in found.hits]

    def process_query_batch(self, queries: Sequence[str], index_id: str | None = None) -> list[list[Shape]]:
        """Search for many questions: all embedded at once, each joined and reranked for itself."""
        found = self._index(index_id).search_many(
            queries, SearchOptions(profile=PROFILE, settings={**self._settings, **self._fallen})
        )
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
        settings = {**self._settings, "rerank.candidates": retrieval_k, **self._fallen}
        across = "rerank" if self._reranks(next(iter(opened.values()))) else "rrf"
        found = search_multi(opened, query, SearchOptions(k=retrieval_k, profile=PROFILE, settings=settings), across)
        for warning in found.warnings:
            if warning.stage == "index":
                _warn(f"index {warning.collection} unavailable: {warning.message}")
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

    def answer_stream(  # the names of the earlier system
        self,
        query: str,
        index_id: str | None = None,
        *,
        index_ids: Sequence[str] = (),
        conversation_history: Sequence[Turn | Mapping[str, str]] = (),
        session_id: str | None = None,
        event_callback: Callable[[Shape], None] | None = None,
    ) -> Iterator[str]:
        """Yield an answer piece by piece, from one index or from several, by the model that `generator` names.

        Without a model it is made of the documents' own sentences. Where the search fails the model answers alone, and
        says so; `session_id` says whose answers that were kept may be given again. `event_callback` hears each event of
        an answer as a dictionary, such as `{"type": "answer_chunk", "content": "..."}`. Raises what an `ask` raises.
        """
        history = turns_of(conversation_history)
        with (
            ExitStack() as stack,
            closing(self._begin_answer(stack, query, (index_id, index_ids), history, session_id)) as told,
        ):
            for event in told:
                if isinstance(event, ErrorEvent):
                    raise ModelError(event.message, event.hint)
                if event_callback is not None:
                    event_callback(msgspec.to_builtins(event))
                if isinstance(event, ChunkEvent):
                    yield event.content

    def get_cached_result(self, query: str, session_id: str | None = None, index_id: str | None = None) -> Shape | None:
        """Return the answer that is kept for this question, or one almost the same; None where none is.

        Nothing is asked of a model. Gives `query`, `answer`, and the `source_documents` as `retrieve` has them.
        """
        with ExitStack() as stack, closing(self._begin_answer(stack, query, (index_id, ()), (), session_id)) as told:
            cached = False
            for event in told:
                if isinstance(event, StageEvent) and event.name != "search":
                    cached = event.name == "cache"
                if isinstance(event, StageEvent) and event.name not in {"search", "cache"}:
                    return None
                if isinstance(event, ChunkEvent):
                    documents = self.retrieve(query, index_id)
                    return {"query": query, "answer": event.content, "source_documents": documents} if cached else None
        return None

    def recover_from_embedding_failure(self, query: str, index_id: str | None = None) -> bool:
        """Return whether questions can be embedded, with a model that is opened again if need be.

        Where they cannot, this searches with BM25 only, without reranking, until they can.
        """
        try:
            self._index(index_id).search(query, k=1, mode="vector", rerank="none", settings={"cache": {"size": 0}})
        except ModelError as error:
            _warn(f"{error.message} Searching with BM25 only.")
            self._fallen = _BY_WORDS
            return False
        self._fallen = {}
        return True

    def monitor_memory_usage(self, index_id: str | None = None) -> Shape:
        """Return `memory_mb`, the `components` that are loaded, and a `warning`, empty while all is well.

        Above the limit, 8 GB unless it was set, garbage is collected after a search.
        """
        held = self._index(index_id).metrics()
        return {
            "memory_mb": held.memory.resident_mb,
            "components": list(held.loaded),
            "warning": held.memory.warning,
        }

    @property
    def performance(self) -> PerformanceTracker:
        """The tracker of this pipeline: its `metrics` have the times of stages of the first index."""
        self._tracker.observe(self._index(None).metrics())
        return self._tracker

    def track_query(self, query: str) -> AbstractContextManager[None]:
        """Count what is done in the block as one question; see `PerformanceTracker`."""
        return self._tracker.track_query(query)

    def close(self) -> None:
        """Close the indexes that were opened here."""
        self._stack.close()
        self._opened.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin_answer(
        self,
        stack: ExitStack,
        query: str,
        where: tuple[str | None, Sequence[str]],
        history: Sequence[Turn],
        session_id: str | None,
    ) -> AnswerStream:
        """Begin an answer; `session_id` is for the cache alone, a conversation is what is given."""
        index_id, index_ids = where
        opened = {name: self._index(name) for name in dict.fromkeys(index_ids)}
        one = self._index(index_id) if not opened else None
        asked = (
            one
            if isinstance(one, Index)
            else stack.enter_context(MultiIndex(opened or {"index": self._index(index_id)}))
        )
        across = {"search.multi_index_merge": "rrf"} if len(opened) > 1 else {}
        alone = {"query": {"turns": 0}} if session_id and not history else {}
        settings = {"search.on_failure": "llm", **across, **alone, **self._settings, **self._fallen}
        return asked.ask_stream(query, profile=PROFILE, settings=settings, history=history, session=session_id or "")

    def _index(self, index_id: str | None) -> Collection:
        name = next(iter(self._where), "default") if index_id is None else index_id
        where = self._where.get(name, TABLE.format(name))
        if isinstance(where, Collection):
            return where
        if name not in self._opened:
            made = Index(where, embedder=self._embedder, plugins=self._plugins, create=False)
            self._opened[name] = self._stack.enter_context(made)
        return self._opened[name]

    def _reranks(self, index: Collection) -> bool:
        held = merge(index.settings, SearchOptions(profile=PROFILE, settings=self._settings).overrides)
        return held.rerank.model != Settings().rerank.model


def shaped(hit: Hit) -> Shape:
    """Return a hit in the shape of this system; `rerank_score` is there where it was reranked."""
    rerank = hit.trace.rerank
    rerank_with_fallback = {} if rerank is None or rerank.relevance is None else {"rerank_score": rerank.relevance}
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document,
        "chunk_index": int(hit.chunk_id.rpartition("_")[2]),
        "text": hit.joined.text if hit.joined is not None else hit.text,
        "score": hit.score,
        "dense_score": normalized_of(hit, "vector"),
        "bm25_score": normalized_of(hit, "bm25"),
        "metadata": {**plain(hit.metadata), "source": hit.source},
        **rerank_with_fallback,
    }


def _read(config: Mapping[str, object]) -> dict[str, Any]:
    """Take the earlier system's names apart from settings; a name that is neither is refused where settings are."""
    said: dict[str, Any] = {}
    for name, value in config.items():
        if name == "search_type":
            said["search.mode"] = _MODES.get(str(value), value)
        elif name == "retrieval_k":
            said["search.candidates"] = str(value)
        elif name == "cache_enabled":
            said.update({} if value else {"cache.size": 0})
        elif name in {"verify", "verify_answers"}:
            said["answer.unsupported"] = "flag" if value else "mark"
        elif name == "ai_rerank":
            said.update({} if value else {"rerank.model": "none"})
        else:
            said[_SAME.get(name, name)] = value
    return grouped(said)


def _warn(note: str) -> None:
    warnings.warn(note, RuntimeWarning, stacklevel=3)
