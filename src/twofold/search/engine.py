"""What searches one collection by its settings: plans, models, answers kept, and figures of how it goes."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from twofold.config.load import Settings, merge, with_own_models
from twofold.domain.errors import InvalidInputError, MismatchError, StorageFullError, StoreError, TwofoldError
from twofold.domain.filters import MATCH_ALL
from twofold.domain.ports import Reranker
from twofold.factory import ModelOpeners, noting, plan_of, search_models_for
from twofold.late import late
from twofold.models.lazy import is_loaded
from twofold.models.no_embedder import NO_EMBEDDER
from twofold.query.any_filter import FilterLike, filter_of
from twofold.query.history import Turn
from twofold.search.components import SearchComponents
from twofold.search.metrics import DocumentCounts, Meter, Metrics
from twofold.search.pipeline import search, search_many
from twofold.search.plan import SearchPlan
from twofold.search.result import SearchResult

if TYPE_CHECKING:
    from twofold.answer.types import Answer
    from twofold.search.cache import Memories
    from twofold.search.cached_search import Memory
    from twofold.search.why_not import WhyNot
    from twofold.stores.query_log import QueryLog

NO_SETTINGS: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What one search asks otherwise than the settings; None leaves a setting as it is.

    `settings` are others by dotted names, such as `{"fusion.method": "rrf"}`. `rerank` names a reranker, or is one.
    `history` are the turns before a follow-up question, `session` says whose it is. `filter` is written in any form
    that `query.any_filter` reads. `offset` is how many of the best passages to pass over: with k 10, `offset` 10 gives
    those of rank 11 to 20.
    """

    k: int | None = None
    mode: str | None = None
    filter: FilterLike = MATCH_ALL
    rerank: str | Reranker | None = None
    profile: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    history: tuple[Turn, ...] = ()
    session: str = ""
    offset: int = 0

    @property
    def overrides(self) -> Mapping[str, object]:
        """The settings that this search has otherwise, by their dotted names."""
        rerank = self.rerank if isinstance(self.rerank, str) and self.rerank else None
        own = {"profile": self.profile, "rerank.model": rerank}
        return {**{key: value for key, value in own.items() if value is not None}, **self.settings}


DEFAULT_OPTIONS = SearchOptions()


class SearchEngine:
    """Searches one collection. Bears calls from several threads."""

    def __init__(
        self, parts: SearchComponents, settings: Settings, openers: ModelOpeners, query_log: "QueryLog | None" = None
    ) -> None:
        self._parts = parts
        self._query_log = query_log
        self._settings = settings
        self._openers = openers
        self._meter = Meter()
        self._plan = plan_of(settings)
        self._memories: Memories[SearchResult] | None = None
        self._alike = False
        self._turn = threading.Lock()
        self._own_models_only = False

    def use_own_models_only(self) -> None:
        """Leave out, from now on, what a search asks for that loads a model its own settings do not name."""
        self._own_models_only = True

    @property
    def settings(self) -> Settings:
        """The settings that hold where a search asks nothing else."""
        return self._settings

    def search(self, query: str, options: SearchOptions = DEFAULT_OPTIONS) -> SearchResult:
        """Search for one question and keep it in the query log, if there is one; see `Index.search`."""
        found = self.find(query, options)
        return found if self._query_log is None else replace(found, degraded=self.log(found))

    def find(self, query: str, options: SearchOptions = DEFAULT_OPTIONS) -> SearchResult:
        """Search for one question; the caller keeps it in the query log with the answer that it makes of it."""
        check_question(query)
        parts, plan, settings = self._asked(options)
        try:
            memory = self._memory_by(settings)
            if memory is not None:
                found = _remembered(parts, memory, query, plan, options)
            else:
                found = search(parts, query, plan, options.history)
        except TwofoldError as error:
            self._record_error(query, error)
            raise
        self._record(found)
        return beyond(found, options.offset)

    def search_many(self, queries: Sequence[str], options: SearchOptions = DEFAULT_OPTIONS) -> Sequence[SearchResult]:
        """Search for many questions, embedded together; nothing of it is kept in memory."""
        for query in queries:
            check_question(query)
        parts, plan, _ = self._asked(options)
        try:
            found = search_many(parts, queries, plan, options.history)
        except TwofoldError as error:
            self._record_error(queries[0] if queries else "", error)
            raise
        for one in found:
            self._record(one)
        found = [beyond(one, options.offset) for one in found]
        return found if self._query_log is None else [replace(one, degraded=self.log(one)) for one in found]

    def why_not(self, query: str, document: str, options: SearchOptions = DEFAULT_OPTIONS) -> "WhyNot":
        """Return which stage lost a document; see `Index.why_not`."""
        check_question(query)
        parts, plan, _ = self._asked(options)
        said: WhyNot = late("twofold.search.why_not:why_not")(parts, query, document, plan)
        return said

    def log(self, found: SearchResult, answer: "Answer | None" = None) -> tuple[str, ...]:
        """Keep a search, or the answer made of it, in the query log, if there is one.

        Return what the result or the answer is to show as degraded: what it had, and why it could not be kept.
        """
        degraded = found.degraded if answer is None else answer.degraded
        if self._query_log is not None:
            try:
                self._query_log.append(late("twofold.evaluation.query_log:logged")(found, answer))
            except (StoreError, StorageFullError) as error:
                return (*degraded, f"query log: {error.message}")
        return degraded

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add what making an answer of a search took to the figures."""
        self._meter.record_stages(timings_ms)

    def metrics(self) -> Metrics:
        """Return how searching went since this was opened, and which models are in memory."""
        embedder = self._parts.embedder
        loaded = (embedder.identity.name,) if is_loaded(embedder) else ()
        return self._meter.snapshot((*loaded, *self._openers.loaded()), self._parts.aids.memory.use())

    def parts_for(self, options: SearchOptions) -> tuple[SearchComponents, SearchPlan]:
        """Return the parts and the plan that a search uses."""
        parts, plan, _ = self._asked(options)
        return parts, plan

    def _asked(self, options: SearchOptions) -> tuple[SearchComponents, SearchPlan, Settings]:
        self._check_analyzer()
        overrides = options.overrides
        settings, base = merge(self._settings, overrides) if overrides else self._settings, self._parts
        if overrides and self._own_models_only:
            settings, notes = with_own_models(settings, self._settings)
            base = noting(base, notes)
        plan = plan_of(settings) if overrides else self._plan
        k, mode = plan.k if options.k is None else options.k, options.mode or plan.mode
        if mode == "hybrid" and settings.embedder == NO_EMBEDDER:
            mode = "bm25"  # what was indexed by words alone is searched by words alone
        most = settings.search.max_results
        first = _checked_offset(options.offset)
        plan = replace(plan, k=min(k, most) + first, wanted=k + first, mode=mode, filter=filter_of(options.filter))
        own = None if options.rerank is None or isinstance(options.rerank, str) else options.rerank
        return replace(base, aids=search_models_for(base.aids, settings, self._openers, own)), plan, settings

    def _memory_by(self, settings: Settings) -> "Memory | None":
        """Return the memory that these settings ask for, which a profile of one question may."""
        chosen = settings.cache
        if not chosen.size:
            return None
        with self._turn:
            if self._memories is None:
                self._memories = late("twofold.search.cache:Memories")()
            memories: Memories[SearchResult] = self._memories
        return memories.of(chosen.size, chosen.ttl_seconds, chosen.semantic_threshold, chosen.scope)

    def _check_analyzer(self) -> None:
        """Refuse to look for words that another analyzer made than the passages' own: few of them would be found."""
        if self._alike:
            return
        with self._parts.store.view() as view:
            held = view.fingerprint
        used = self._parts.analyzer.describe()
        if held is not None and held.analyzer != used:
            raise MismatchError(
                f"The index was made with another analyzer than {used.split()[0]!r}.",
                "Leave the analyzer to the index, or run `twofold index reindex`.",
            )
        self._alike = held is not None

    def _record_error(self, query: str, error: TwofoldError) -> None:
        self._meter.record_error(type(error).__name__)
        if self._query_log is not None and not isinstance(error, InvalidInputError):
            with suppress(StoreError, StorageFullError):  # the question's own error is what is told
                self._query_log.append(late("twofold.evaluation.query_log:logged_error")(query, error))

    def _record(self, found: SearchResult) -> None:
        self._parts.aids.memory.look()
        counts = found.counts
        self._meter.record(
            found.timings_ms,
            degraded=bool(found.degraded),
            cached=bool(found.cached),
            documents=DocumentCounts(counts.retrieved, counts.after_filter, counts.returned),
        )
        self._meter.record_sureness(found.confidence, found.p_answerable)


def check_question(query: object) -> None:
    """Raise InvalidInputError for a question that is no text."""
    if not isinstance(query, str):
        raise InvalidInputError(f"A question is text, not {type(query).__name__}.", "Ask in words.")


def beyond(found: SearchResult, offset: int) -> SearchResult:
    """Return a result without its first passages; those that are left keep their ranks."""
    return replace(found, hits=found.hits[offset:]) if offset else found


def _checked_offset(offset: int) -> int:
    if type(offset) is not int or offset < 0:
        raise InvalidInputError(f"The offset cannot be {offset!r}.", "Give how many passages to pass over: 0 or more.")
    return offset


def _remembered(
    parts: SearchComponents, memory: "Memory", query: str, plan: SearchPlan, options: SearchOptions
) -> SearchResult:
    search_cached = late("twofold.search.cached_search:search_cached")
    found: SearchResult = search_cached(parts, memory, query, plan, options.history, options.session)
    return found
