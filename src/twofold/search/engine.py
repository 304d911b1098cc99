"""What searches one collection, as a factory prepares each search: answers kept, a log, and figures of how it goes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex, cast

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import (
    InvalidInputError,
    MismatchError,
    StorageFullError,
    StoreError,
    TwofoldError,
    check_kind,
    check_several,
    check_table,
)
from twofold.domain.filters import MATCH_ALL
from twofold.domain.ports import Reranker, Scope, Store
from twofold.domain.warning import StageWarning, WarningCode
from twofold.query.any_filter import FilterLike
from twofold.query.history import Turn, turns_of
from twofold.query.operators import all_of
from twofold.search.components import SearchComponents
from twofold.search.metrics import DocumentCounts, Meter, Metrics
from twofold.search.one_state import in_one_state
from twofold.search.paging import Place, page, place_of, question_digest
from twofold.search.pipeline import search, search_many
from twofold.search.plan import CachePlan, SearchPlan
from twofold.search.result import SearchResult

if TYPE_CHECKING:
    from twofold.search.cached_search import Memories, Memory
    from twofold.search.suggest import Suggestion
    from twofold.search.why_not import WhyNot

Effort = Literal["low", "medium", "high"]
"""How much an answer may cost: no further search, one for a question with two parts, up to three for any."""

NO_SETTINGS: Mapping[str, object] = {}
MAX_PREPARED = 64
SETTINGS_HINT = "Write names and values: settings={'fusion.method': 'rrf'}."


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """What is asked of the results, as it is written; what is left out changes nothing. See docs/results.md.

    `facets` are fields to count documents by: `author`, `author:5`, `modified:year`, `price:0,10,100`. `sort` are
    fields to order the candidates by: `modified:desc`. `collapse` keeps the best passage of each document. `boosts`
    are factors for words in the `title` or the `heading`. `recency` lets scores fall with age: `modified:30d`. `pin`
    and `hide` name documents or passages. `mmr`, in [0, 1], trades relevance against novelty: 1 is relevance alone.
    `score` is an expression that replaces the score. `extract_filters` reads filters out of the question, but for the
    phrases in `keep`; None is as the setting says. `cursor` goes on where a page ended.
    """

    facets: Sequence[str] = ()
    sort: Sequence[str] = ()
    collapse: bool = False
    boosts: Mapping[str, float] = field(default_factory=dict)
    recency: str = ""
    pin: Sequence[str] = ()
    hide: Sequence[str] = ()
    mmr: float | None = None
    score: str = ""
    extract_filters: bool | None = None
    keep: Sequence[str] = ()
    cursor: str = ""


PLAIN = ResultOptions()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What one search asks otherwise than the settings; None leaves a setting as it is.

    `settings` are others by dotted names, such as `{"fusion.method": "rrf"}`. `rerank` names a reranker, or is one.
    `history` are the turns before a follow-up question, `session` says whose it is. `filter` is written in any form
    that `query.any_filter` reads. `offset` is how many of the best passages to pass over: with k 10, `offset` 10 gives
    those of rank 11 to 20. `results` is what is asked of the results; `depth`, of a cursor, is how many candidates each
    retriever gives, 0 for as the settings say. `effort` is for answers: how many further searches one may take.
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
    results: ResultOptions = PLAIN
    depth: int = 0
    effort: Effort = "low"

    @property
    def key(self) -> str | None:
        """What tells options apart that are prepared differently; None where that cannot be said.

        It is their spelling, since 1 and True are equal. A graph is read from a file that may change.
        """
        if not isinstance(self.rerank, str | None) or "graph.file" in self.settings:
            return None
        condition = None if self.filter is MATCH_ALL else self.filter
        settings = dict(self.settings) if self.settings else None
        asked = (self.k, self.mode, self.rerank, self.profile, self.offset, condition, settings)
        return repr(asked if self.results is PLAIN else (*asked, self.results, self.depth))

    @property
    def overrides(self) -> Mapping[str, object]:
        """The settings that this search has otherwise, by their dotted names."""
        rerank = self.rerank if isinstance(self.rerank, str) and self.rerank else None
        own = {"profile": self.profile, "rerank.model": rerank}
        return {**{key: value for key, value in own.items() if value is not None}, **self.settings}


DEFAULT_OPTIONS = SearchOptions()


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """What one search is made with, and how its answers are remembered; None for not at all."""

    components: SearchComponents
    plan: SearchPlan
    cache: CachePlan | None = None


class Prepare(Protocol):
    """Turns the options of one search into what it is made with; the settings stand behind it."""

    def __call__(self, options: SearchOptions, /, *, own_models_only: bool) -> PreparedQuery:
        """Return it. With `own_models_only` no model is used that the index's own settings do not name.

        Raises InvalidInputError for options that cannot be.
        """


class Outcome(Protocol):
    """What the query log keeps of an answer that was made of a search."""

    @property
    def refused(self) -> bool:
        """Whether the answer is the refusal."""

    @property
    def warnings(self) -> tuple[StageWarning, ...]:
        """What could not be done as asked."""

    @property
    def timings_ms(self) -> Mapping[str, float]:
        """Milliseconds by stage, the search's included."""


class QueryRecorder(Protocol):
    """Keeps questions, with what became of them. Its methods raise StoreError and StorageFullError."""

    def record(self, found: SearchResult, answer: Outcome | None = None, /) -> None:
        """Keep a search, or the answer that was made of it."""

    def record_error(self, question: str, error: Exception, /) -> None:
        """Keep a question that ended in an error."""


class SearchEngine:
    """Searches one collection. Safe to use from several threads.

    `steady` says that the same options are always prepared alike: no file that may change stands behind them.
    """

    def __init__(
        self,
        parts: SearchComponents,
        prepare: Prepare,
        loaded: Callable[[], tuple[str, ...]],
        recorder: QueryRecorder | None = None,
        *,
        steady: bool = True,
    ) -> None:
        self._parts = parts
        self._steady = steady
        self._prepare = prepare
        self._loaded = loaded
        self._recorder = recorder
        self._meter = Meter()
        self._caches: Memories | None = None
        self._alike = False
        self._turn = threading.Lock()
        self._own_models_only = False
        self._prepared: OrderedDict[str, PreparedQuery] = OrderedDict()
        self._viewer_store: Store | None = None

    def for_viewer(self, store: Store) -> "SearchEngine":
        """Return an engine that searches what one viewer's store holds. What it keeps of answers is its own.

        A retriever of the user's own is not asked: what it knows is not parted by readers.
        """
        made = copy(self)
        vars(made).update(_parts=replace(self._parts, store=store), _viewer_store=store, _caches=None)
        return made

    def use_own_models_only(self) -> None:
        """Leave out, from now on, what a search asks for that loads a model its own settings do not name."""
        with self._turn:
            self._own_models_only = True
            self._prepared.clear()

    def search(self, query: str, options: SearchOptions = DEFAULT_OPTIONS, *, logged: bool = True) -> SearchResult:
        """Search for one question and keep it in the query log, if there is one; see `Index.search`."""
        check_question(query)
        digest, began = b"", None
        if options.results.cursor:
            options, digest, began = at_cursor(query, options)
        asked = self._prepared_query(options)
        try:
            if asked.cache is not None:
                found = _search_with_cache(asked, self._cache_of(asked.cache), query, options)
            else:
                found = search(asked.components, query, asked.plan, options.history)
        except TwofoldError as error:
            self._record_error(query, error)
            raise
        self._record(found)
        if found.did_you_mean and not found.counts.returned:
            found = self._corrected(asked, found, options)
        if digest:
            found = page(found, began, Place(options.offset, asked.plan.reach, found.generation), digest)
        else:
            found = beyond(found, options.offset)
        return found if self._recorder is None or not logged else found.with_warnings(self.log(found))

    def _corrected(self, asked: PreparedQuery, found: SearchResult, options: SearchOptions) -> SearchResult:
        """Search for the spelling that was meant, where nothing was found for the one that was typed."""
        again = search(asked.components, found.did_you_mean, asked.plan, options.history)
        if not again.counts.returned:
            return found
        says = f"Nothing was found for {found.query}; these are passages for {found.did_you_mean}."
        warning = StageWarning("parse", WarningCode.CORRECTED, says)
        told = (*again.warnings, warning)
        return replace(again, query=found.query, did_you_mean=found.did_you_mean, warnings=told)

    def suggest(self, typed: str, k: int, options: SearchOptions = DEFAULT_OPTIONS) -> "tuple[Suggestion, ...]":
        """Return at most `k` ways for a question to go on; see `Index.suggest`."""
        from twofold.search.suggest import suggestions

        check_question(typed)
        asked = self._prepared_query(options)
        scope = Scope(all_of(asked.plan.filter, asked.plan.default_filter_left))
        analyzer = asked.components.analyzer
        return in_one_state(asked.components.store, lambda view: suggestions(view, analyzer, typed, k, scope))

    def find(self, query: str, options: SearchOptions = DEFAULT_OPTIONS) -> SearchResult:
        """Search for one question; the caller keeps it in the query log with the answer that it makes of it."""
        return self.search(query, options, logged=False)

    def search_many(self, queries: Sequence[str], options: SearchOptions = DEFAULT_OPTIONS) -> Sequence[SearchResult]:
        """Search for many questions, embedded together; nothing of it is kept in memory."""
        check_questions(queries)
        check_no_cursor(options)
        asked = self._prepared_query(options)
        try:
            found = search_many(asked.components, queries, asked.plan, options.history)
        except TwofoldError as error:
            self._record_error(queries[0] if queries else "", error)
            raise
        for one in found:
            self._record(one)
        found = [beyond(one, options.offset) for one in found]
        return found if self._recorder is None else [one.with_warnings(self.log(one)) for one in found]

    def why_not(self, query: str, document: str, options: SearchOptions = DEFAULT_OPTIONS) -> "WhyNot":
        """Return which stage lost a document; see `Index.why_not`."""
        from twofold.search.why_not import why_not

        check_question(query)
        asked = self._prepared_query(options)
        return why_not(asked.components, query, document, asked.plan)

    def log(self, found: SearchResult, answer: Outcome | None = None) -> tuple[StageWarning, ...]:
        """Keep a search, or the answer made of it, in the query log, if there is one.

        Return the warnings of the result or the answer, and one more where it could not be kept.
        """
        warnings = found.warnings if answer is None else answer.warnings
        if self._recorder is not None:
            try:
                self._recorder.record(found, answer)
            except (StoreError, StorageFullError) as error:
                return (*warnings, StageWarning("query_log", WarningCode.NOT_SAVED, error.message))
        return warnings

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add what making an answer of a search took to the figures."""
        self._meter.record_stages(timings_ms)

    def listen(self, listener: Callable[[Mapping[str, float]], None]) -> None:
        """Have a function called with the milliseconds of the stages, right after each search and answer."""
        self._meter.listen(listener)

    def metrics(self) -> Metrics:
        """Return how searching went since this was opened, and which models are in memory."""
        pending = 0
        with suppress(TwofoldError), self._parts.store.view(rows_only=True) as view:
            pending = view.pending
        return replace(self._meter.snapshot(self._loaded(), self._parts.models.memory.use()), pending=pending)

    def parts_for(self, options: SearchOptions) -> tuple[SearchComponents, SearchPlan]:
        """Return the parts and the plan that a search uses."""
        asked = self._prepared_query(options)
        return asked.components, asked.plan

    def _prepared_query(self, options: SearchOptions) -> PreparedQuery:
        """Return what a search is made with; options that were asked for before are not prepared again."""
        self._check_analyzer()
        if options is not DEFAULT_OPTIONS:
            _check_kinds(options)
        key = options.key if self._steady else None
        prepared = None if key is None else self._prepared.get(key)
        if prepared is None:
            prepared = self._prepare(options, own_models_only=self._own_models_only)
            if key is not None:
                with self._turn:
                    self._prepared[key] = prepared
                    while len(self._prepared) > MAX_PREPARED:
                        self._prepared.popitem(last=False)
        return prepared if self._viewer_store is None else self._for_viewer(prepared)

    def _for_viewer(self, prepared: PreparedQuery) -> PreparedQuery:
        """Return the same, with this viewer's store, and without what was not made for viewers."""
        own = prepared.components
        unasked = tuple(
            StageWarning(name, WarningCode.SKIPPED, "a retriever of the user's own is not asked for one viewer.")
            for name, _ in own.models.retrievers
        )
        models = replace(own.models, retrievers=(), warnings=(*own.models.warnings, *unasked))
        return replace(prepared, components=replace(own, store=self._parts.store, models=models))

    def _cache_of(self, plan: CachePlan) -> "Memory":
        """Return the memory of a plan, which a profile of one question may have of its own."""
        from twofold.search.cached_search import Memories

        with self._turn:
            if self._caches is None:
                self._caches = Memories()
            memories = self._caches
        return memories.of(plan)

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
        if self._recorder is not None and not isinstance(error, InvalidInputError):
            with suppress(StoreError, StorageFullError):  # the question's own error is the one to report
                self._recorder.record_error(query, error)

    def _record(self, found: SearchResult) -> None:
        self._parts.models.memory.look()
        counts = found.counts
        self._meter.record(
            found.timings_ms,
            degraded=found.degraded,
            cached=found.cache.hit,
            documents=DocumentCounts(counts.retrieved, counts.after_filter, counts.returned),
        )
        self._meter.record_sureness(found.confidence, found.p_answerable)


def check_questions(queries: Iterable[object]) -> None:
    """Raise InvalidInputError for what is no list of questions."""
    check_several("`queries`", queries, "Give a list of questions.")
    for query in queries:
        check_question(query)


def check_options(options: object) -> None:
    """Raise InvalidInputError for what is no SearchOptions."""
    check_kind("`options`", options, SearchOptions, "Write such as options=SearchOptions(k=5).")
    results = cast("SearchOptions", options).results
    check_kind("`results`", results, ResultOptions, "Write such as results=ResultOptions(sort=['modified:desc']).")


def _check_kinds(options: SearchOptions) -> None:
    """Raise InvalidInputError for options of another kind than they must be, which nothing would say well later."""
    check_options(options)
    if options.k is not None and type(options.k) is not int:
        check_kind("`k`", options.k, SupportsIndex, "Write a whole number: k=10.")
    check_table("`settings`", options.settings, SETTINGS_HINT)
    turns_of(options.history)
    check_kind("`session`", options.session, str, "Name the session by a text.")
    if not isinstance(options.rerank, str | None) and not hasattr(options.rerank, "identity"):
        check_kind("`rerank`", options.rerank, str | None, "Name a model, or pass a Reranker.")


def check_question(query: object) -> None:
    """Raise InvalidInputError for a question that is no text."""
    if not isinstance(query, str):
        raise InvalidInputError(f"A question is text, not {type(query).__name__}.", "Ask in words.")


def at_cursor(query: str, options: SearchOptions) -> tuple[SearchOptions, bytes, Place | None]:
    """Return the options of the page that a cursor leads to, what cursors of this search are bound to, and the place.

    Raises InvalidInputError for a cursor of another search, and for one together with an offset.
    """
    if options.offset:
        raise InvalidInputError("A search has a cursor or an offset, not both.", "Leave one of them out.")
    cursor = options.results.cursor
    check_kind("`cursor`", cursor, str, "Give `start`, or the `next_cursor` of a result.")
    named = options.rerank if isinstance(options.rerank, str | None) else options.rerank.identity.name
    plain = replace(options, k=None, results=replace(options.results, cursor=""), rerank=named, session="", history=())
    digest = question_digest(query, repr(plain), options.history)
    place = place_of(cursor, digest)
    if place is not None:
        options = replace(options, offset=place.offset, depth=place.depth)
    return options, digest, place


def check_no_cursor(options: SearchOptions) -> None:
    """Refuse a cursor where many questions are asked at once. Raises InvalidInputError."""
    check_options(options)
    if options.results.cursor:
        raise InvalidInputError("A cursor is of one question.", "Ask each question by itself, or give an offset.")


def beyond(found: SearchResult, offset: int) -> SearchResult:
    """Return a result without its first passages; those that are left keep their ranks."""
    return replace(found, hits=found.hits[offset:]) if offset else found


def _search_with_cache(asked: PreparedQuery, memory: "Memory", query: str, options: SearchOptions) -> SearchResult:
    from twofold.search.cached_search import search_cached

    return search_cached(asked.components, memory, query, asked.plan, options.history, options.session)


def boosts_from(texts: Sequence[str]) -> dict[str, float]:
    """Read `title^3`. Raises InvalidInputError."""
    found: dict[str, float] = {}
    for text in texts:
        field, sign, factor = text.partition("^")
        try:
            found[field] = float(factor if sign else "")
        except ValueError:
            raise InvalidInputError(f"{text[:100]!r} is no boost.", "Write such as title^3.") from None
    return found
