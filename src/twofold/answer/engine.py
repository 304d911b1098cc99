"""What answers questions about one index, or several: searching, a model to write, conversations."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from twofold.answer.cache import AnswerMemory
from twofold.answer.events import DoneEvent, Event
from twofold.answer.pipeline import AnswerStream, answer_events
from twofold.answer.plan import AnswerComponents, AnswerPlan, Cancellation, Question
from twofold.answer.types import Answer, TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import (
    ModelError,
    ModelUnavailableError,
    StorageFullError,
    StoreError,
    check_kind,
    check_table,
)
from twofold.domain.generators import Generator as Writes
from twofold.domain.ports import Scale
from twofold.domain.retry import retried
from twofold.domain.types import Vectors
from twofold.domain.warning import StageWarning, WarningCode
from twofold.ingest.chunking.sentences import sentence_ends
from twofold.query.follow_up import carried_over
from twofold.query.history import Turn
from twofold.search.cache import ResultCaches
from twofold.search.components import SearchComponents
from twofold.search.engine import DEFAULT_OPTIONS, SETTINGS_HINT, SearchOptions, check_question
from twofold.search.plan import CachePlan, SearchPlan
from twofold.search.result import SearchResult
from twofold.search.retrying_generator import RetryingGenerator
from twofold.stores.sessions import Sessions

SYNTHESIS = ("extract", "generate")
"""The stages that make an answer of a search."""


class Searching(Protocol):
    """What finds passages to answer from: one index's searcher, or several indexes."""

    def find(self, query: str, options: SearchOptions = ..., /) -> SearchResult:
        """Search for one question that is logged when it is answered."""

    def log(self, found: SearchResult, answer: Answer | None = None, /) -> tuple[StageWarning, ...]:
        """Keep a search, with the answer made of it, in the query log; return the warnings to show."""

    def parts_for(self, options: SearchOptions) -> tuple[SearchComponents, SearchPlan]:
        """Return the parts and the plan that a search uses; of several indexes, those of the first one."""

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add what making an answer of a search took to the figures."""


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """How one question is answered, and how its answer is remembered; None for not at all.

    `carries` completes a follow-up by rule before its terms are weighed.
    """

    plan: AnswerPlan
    cache: CachePlan | None = None
    carries: bool = False


Prepare = Callable[[SearchOptions], PreparedAnswer]
"""Turns the options of one question into how it is answered; raises InvalidInputError for options that cannot be."""


class AnswerEngine:
    """Answers questions about one index, or several. Safe to use from several threads."""

    def __init__(self, searcher: Searching, prepare: Prepare, sessions: Sessions) -> None:
        self._searcher = searcher
        self._prepare = prepare
        self._sessions = sessions
        self._caches: ResultCaches[Answer] = ResultCaches()

    @staticmethod
    def cancellation() -> Cancellation:
        """Return what stops one answer, to be given to `ask`."""
        return Cancellation()

    def ask(
        self,
        question: str,
        options: SearchOptions = DEFAULT_OPTIONS,
        llm: str | Writes | None = None,
        on_event: Callable[[Event], None] | None = None,
        cut: Cancellation | None = None,
    ) -> Answer:
        """Answer one question; `on_event` hears each event as it happens, `cut` stops it. See `Index.ask`."""
        answer = None
        if on_event is not None:
            check_kind("`on_event`", on_event, Callable, "Give a function that takes an event.")  # type: ignore[arg-type]
        try:
            for event in self._events(question, options, llm, cut or Cancellation()):
                if on_event is not None:
                    on_event(event)
                if isinstance(event, DoneEvent):
                    answer = event.answer
        except (StorageFullError, StoreError):
            if answer is None:
                raise  # else the conversation could not be kept, and the answer says so
        if answer is None:
            raise ModelUnavailableError("The answer was cut off.", "Ask again.")
        return answer

    def ask_stream(
        self, question: str, options: SearchOptions = DEFAULT_OPTIONS, llm: str | Writes | None = None
    ) -> AnswerStream:
        """Answer one question event by event; see `Index.ask_stream`."""
        cut = Cancellation()
        return AnswerStream(self._events(question, options, llm, cut), cut)

    def _events(
        self, question: str, options: SearchOptions, llm: str | Writes | None, cut: Cancellation
    ) -> Generator[Event]:
        check_question(question)
        _check_kinds(llm, options)
        if isinstance(llm, str):
            options = replace(options, settings={**options.settings, "generator": llm})
        session = options.session
        if session and not options.history:
            options = replace(options, history=self._sessions.turns(session))
        prepared = self._prepare(options)
        parts, search_plan = self._searcher.parts_for(options)
        generator = parts.models.generator
        if llm is not None and not isinstance(llm, str):
            generator = RetryingGenerator(llm, search_plan.timeouts.retry)
        reading = reading_of(parts, search_plan)
        means = AnswerComponents(
            reading,
            generator,
            self._cache_of(prepared.cache, session, (*parts.models.warnings, *reading.warnings)),
            parts.models.pruner,
            lambda query: self._searcher.find(query, replace(options, history=(), session="")),
        )
        meant = carried_over(question, options.history) if prepared.carries else ""
        asked = Question(question, options.history, parts.analyzer.query(meant or question), meant)
        looked: list[SearchResult] = []

        def look() -> SearchResult:
            looked.append(self._searcher.find(question, options))
            return looked[0]

        for event in self._logged(answer_events(look, asked, prepared.plan, means, cut), looked):
            if isinstance(event, DoneEvent):
                timings = event.answer.timings_ms
                self._searcher.record_stages({name: timings[name] for name in SYNTHESIS if name in timings})
            if isinstance(event, DoneEvent) and session:
                yield from self._save_turn(session, question, event.answer)
            else:
                yield event

    def _save_turn(self, session: str, question: str, answer: Answer) -> Generator[Event]:
        """Keep a turn of a conversation. Where it cannot be kept the answer is given all the same, and then the error.

        Raises StorageFullError or StoreError after the answer.
        """
        try:
            self._sessions.append(session, (Turn("user", question), Turn("assistant", answer.text)))
        except (StorageFullError, StoreError) as error:
            why = f"the conversation was not kept. {error.message}"
            warning = StageWarning("session", WarningCode.NOT_SAVED, why)
            yield DoneEvent(answer.with_warnings((*answer.warnings, warning)))
            raise
        yield DoneEvent(replace(answer, session=session))

    def _cache_of(
        self, plan: CachePlan | None, session: str, warnings: tuple[StageWarning, ...]
    ) -> AnswerMemory | None:
        """Return the memory of a plan in this session; None where nothing is remembered."""
        return None if plan is None else AnswerMemory(self._caches.of(plan), session, warnings)

    def _logged(self, events: Generator[Event], looked: list[SearchResult]) -> Generator[Event]:
        """Keep the question in the query log with its answer; where the answer is cut off, with its search alone."""
        try:
            for event in events:
                if isinstance(event, DoneEvent) and looked:
                    answer = event.answer
                    yield DoneEvent(answer.with_warnings(self._searcher.log(looked.pop(), answer)))
                else:
                    yield event
        finally:
            for found in looked:
                self._searcher.log(found)


def _check_kinds(llm: object, options: SearchOptions) -> None:
    """Raise InvalidInputError for a model, a conversation or settings of another kind than they must be."""
    if llm is not None and not hasattr(llm, "identity"):
        check_kind("`llm`", llm, str, "Name a model, such as 'local', or pass a Generator.")
    check_kind("`session`", options.session, str, "Name the conversation by a text.")
    check_kind("`effort`", options.effort, str, "Write low, medium or high.")
    check_table("`settings`", options.settings, SETTINGS_HINT)


def reading_of(parts: SearchComponents, plan: SearchPlan) -> TextTools:
    """Return how texts are read: the collection's own analyzer and, where meaning counts, its embedder.

    Where the search reranks with a cross-encoder, that reads sentences too; else the index's reader, if there is one.
    """

    def terms(text: str) -> dict[str, int]:
        return {term: count for term, count in parts.analyzer.counts(text).counts.items() if not term.startswith("=")}

    def embedding(embed: Callable[[Sequence[str]], Vectors]) -> Callable[[Sequence[str]], Vectors]:
        return lambda texts: retried(lambda: embed(texts), plan.timeouts.retry)

    logits = next((one for one in parts.models.rerankers if one.identity.scale is Scale.LOGIT), None)
    warnings: tuple[StageWarning, ...] = ()
    try:
        reader = logits or parts.models.reader(parts.embedder.identity.name)
    except ModelError as error:
        reader = None
        warnings = (StageWarning("extract", WarningCode.SKIPPED, f"{error.message} {error.hint}"),)
    relevance, name = (None, "") if reader is None else (reader.score, reader.identity.name)
    made = TextTools(sentence_ends, terms, relevance=relevance, reader=name, warnings=warnings)
    if plan.mode == "bm25":
        return made
    embedder = parts.embedder
    embed, embed_question = embedding(embedder.embed_passages), embedding(embedder.embed_queries)
    return replace(made, embed=embed, embed_question=embed_question)
