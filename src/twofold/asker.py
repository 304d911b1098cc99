"""What answers questions about one index, or several, by its settings: searching, a model to write, conversations."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from twofold.answer.context import Budget, template_named
from twofold.answer.events import DoneEvent, Event
from twofold.answer.types import Answer, Reading
from twofold.domain.errors import ModelUnavailableError, StorageFullError, StoreError
from twofold.domain.generators import Generator as Writes
from twofold.domain.retry import retried
from twofold.domain.types import Vectors
from twofold.ingest.chunk.sentences import sentence_ends
from twofold.pipeline.answer_memory import AnswerMemory
from twofold.pipeline.answering import AnswerPlan, Cut, Means, Question
from twofold.pipeline.ask import AnswerStream, answering
from twofold.pipeline.memory import Memories
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.results import SearchResult
from twofold.pipeline.retrying import RetryingGenerator
from twofold.pipeline.search_parts import SearchParts
from twofold.query.follow_up import carried_over
from twofold.query.history import Memory, Turn
from twofold.searcher import AS_SET, Asking, check_question
from twofold.settings import Settings, merge
from twofold.stores.sessions import Sessions

SYNTHESIS = ("extract", "generate")
"""The stages that make an answer of a search."""


class Searching(Protocol):
    """What finds passages to answer from: one index's searcher, or several indexes."""

    @property
    def settings(self) -> Settings:
        """The settings that hold where a question asks nothing else."""

    def find(self, query: str, asking: Asking = ..., /) -> SearchResult:
        """Search for one question that is logged when it is answered."""

    def log(self, found: SearchResult, answer: Answer | None = None, /) -> tuple[str, ...]:
        """Keep a search, with the answer made of it, in the query log; return what is to be shown as degraded."""

    def parts_for(self, asking: Asking) -> tuple[SearchParts, SearchPlan]:
        """Return the parts and the plan that a search uses; of several indexes, those of the first one."""

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add what making an answer of a search took to the figures."""


class Asker:
    """Answers questions about one index, or several. Bears calls from several threads."""

    def __init__(self, searcher: Searching, sessions: Sessions) -> None:
        self._searcher = searcher
        self._sessions = sessions
        self._memories: Memories[Answer] = Memories()

    def ask(
        self,
        question: str,
        asking: Asking = AS_SET,
        llm: str | Writes | None = None,
        on_event: Callable[[Event], None] | None = None,
        cut: Cut | None = None,
    ) -> Answer:
        """Answer one question; `on_event` hears each event as it happens, `cut` stops it. See `Index.ask`."""
        answer = None
        try:
            for event in self._events(question, asking, llm, cut or Cut()):
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

    def ask_stream(self, question: str, asking: Asking = AS_SET, llm: str | Writes | None = None) -> AnswerStream:
        """Answer one question event by event; see `Index.ask_stream`."""
        cut = Cut()
        return AnswerStream(self._events(question, asking, llm, cut), cut)

    def _events(self, question: str, asking: Asking, llm: str | Writes | None, cut: Cut) -> Generator[Event]:
        check_question(question)
        if isinstance(llm, str):
            asking = replace(asking, settings={**asking.settings, "generator": llm})
        session = asking.session
        if session and not asking.history:
            asking = replace(asking, history=self._sessions.turns(session))
        settings = merge(self._searcher.settings, asking.overrides) if asking.overrides else self._searcher.settings
        parts, search_plan = self._searcher.parts_for(asking)
        generator = parts.aids.generator
        if llm is not None and not isinstance(llm, str):
            generator = RetryingGenerator(llm, search_plan.patience.retry)
        means = Means(
            reading_of(parts, search_plan),
            generator,
            self._memory_by(settings, session, parts.aids.notes),
            parts.aids.pruner,
        )
        carries = settings.rewrite.follow_up == "carry" and settings.history.turns
        meant = carried_over(question, asking.history) if carries else ""
        asked = Question(question, asking.history, parts.analyser.query(meant or question), meant)
        looked: list[SearchResult] = []

        def look() -> SearchResult:
            looked.append(self._searcher.find(question, asking))
            return looked[0]

        for event in self._logged(answering(look, asked, answer_plan_of(settings), means, cut), looked):
            if isinstance(event, DoneEvent):
                timings = event.answer.timings_ms
                self._searcher.record_stages({name: timings[name] for name in SYNTHESIS if name in timings})
            if isinstance(event, DoneEvent) and session:
                yield from self._kept(session, question, event.answer)
            else:
                yield event

    def _kept(self, session: str, question: str, answer: Answer) -> Generator[Event]:
        """Keep a turn of a conversation. Where it cannot be kept the answer is given all the same, and then the error.

        Raises StorageFullError or StoreError after the answer.
        """
        try:
            self._sessions.append(session, (Turn("user", question), Turn("assistant", answer.text)))
        except (StorageFullError, StoreError) as error:
            note = f"session: the conversation was not kept. {error.message}"
            yield DoneEvent(replace(answer, degraded=(*answer.degraded, note)))
            raise
        yield DoneEvent(replace(answer, session=session))

    def _memory_by(self, settings: Settings, session: str, notes: tuple[str, ...]) -> AnswerMemory | None:
        """Return the memory of answers that these settings ask for."""
        chosen = settings.cache
        memory = self._memories.of(chosen.size, chosen.seconds, chosen.similarity, chosen.scope)
        return None if memory is None else AnswerMemory(memory, session, notes)

    def _logged(self, events: Generator[Event], looked: list[SearchResult]) -> Generator[Event]:
        """Keep the question in the query log with its answer; where the answer is cut off, with its search alone."""
        try:
            for event in events:
                if isinstance(event, DoneEvent) and looked:
                    answer = event.answer
                    yield DoneEvent(replace(answer, degraded=self._searcher.log(looked.pop(), answer)))
                else:
                    yield event
        finally:
            for found in looked:
                self._searcher.log(found)


def answer_plan_of(settings: Settings) -> AnswerPlan:
    """Give the answer that the settings ask for. Raises InvalidInputError for a template that is none."""
    chosen, history = settings.answer, settings.history
    return AnswerPlan(
        threshold=chosen.threshold,
        sentences=chosen.sentences,
        template=template_named(chosen.template),
        budget=Budget(chosen.tokens, chosen.characters),
        fit=chosen.fit,
        reply_tokens=chosen.reply_tokens,
        verify=chosen.verify,
        prompt=chosen.prompt,
        seconds=settings.patience.generate_seconds,
        on_failure=chosen.on_failure,
        memory=Memory(history.turns, history.characters or None),
        prune=chosen.prune,
        form=chosen.format,
        planned=chosen.plan,
    )


def reading_of(parts: SearchParts, plan: SearchPlan) -> Reading:
    """Say how texts are read: the collection's own analyser and, where meaning counts, its embedder."""

    def terms(text: str) -> dict[str, int]:
        return {term: count for term, count in parts.analyser.counts(text).counts.items() if not term.startswith("=")}

    def embedding(embed: Callable[[Sequence[str]], Vectors]) -> Callable[[Sequence[str]], Vectors]:
        return lambda texts: retried(lambda: embed(texts), plan.patience.retry)

    if plan.mode == "bm25":
        return Reading(sentence_ends, terms)
    embedder = parts.embedder
    return Reading(sentence_ends, terms, embedding(embedder.embed_passages), embedding(embedder.embed_queries))
