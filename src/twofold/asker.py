"""What answers questions about one collection by its settings: searching, a model to write, conversations kept."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from twofold.answer.context import Budget, template_named
from twofold.answer.events import DoneEvent, Event
from twofold.answer.types import Answer, Reading
from twofold.domain.errors import ModelUnavailableError
from twofold.domain.filters import EVERYTHING, Filter
from twofold.domain.generators import Generator as Writes
from twofold.ingest.chunk.sentences import sentence_ends
from twofold.pipeline.answering import AnswerPlan, Cut, Means, Question
from twofold.pipeline.ask import AnswerStream, answering
from twofold.pipeline.parts import Parts
from twofold.query.history import Memory, Turn
from twofold.searcher import AS_SET, NO_SETTINGS, Asking, Searcher
from twofold.settings import Settings, merge
from twofold.stores.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to be answered: what is asked otherwise than set, by whom, and who hears of it.

    `llm` names a language model, `none` for extracts, or is one; None leaves it to the settings. With a session in
    `asking` and no history of the caller's own, the conversation kept under that name goes on.
    """

    asking: Asking = field(default=AS_SET)
    llm: str | Writes | None = None


AS_ASKED = Inquiry()


class Asker:
    """Answers questions about one collection. Bears calls from several threads."""

    def __init__(self, searcher: Searcher, sessions: Sessions) -> None:
        self._searcher = searcher
        self._sessions = sessions

    def ask(
        self, question: str, inquiry: Inquiry = AS_ASKED, on_event: Callable[[Event], None] | None = None
    ) -> Answer:
        """Answer one question; `on_event` hears each event as it happens. See `Index.ask`."""
        answer = None
        for event in self._events(question, inquiry, Cut()):
            if on_event is not None:
                on_event(event)
            if isinstance(event, DoneEvent):
                answer = event.answer
        if answer is None:
            raise ModelUnavailableError("The answer was cut off.", "Ask again.")
        return answer

    def ask_stream(self, question: str, inquiry: Inquiry = AS_ASKED) -> AnswerStream:
        """Answer one question event by event; see `Index.ask_stream`."""
        cut = Cut()
        return AnswerStream(self._events(question, inquiry, cut), cut)

    def turns(self, session: str) -> tuple[Turn, ...]:
        """Give what was said in a conversation, oldest first."""
        return self._sessions.turns(session)

    def forget(self) -> None:
        """Delete all conversations."""
        self._sessions.forget()

    def _events(self, question: str, inquiry: Inquiry, cut: Cut) -> Generator[Event]:
        asking = _with_llm(inquiry)
        session = asking.session
        if session and not asking.history:
            asking = replace(asking, history=self._sessions.turns(session))
        settings = merge(self._searcher.settings, asking.overrides) if asking.overrides else self._searcher.settings
        parts, search_plan = self._searcher.parts_for(asking)
        generator = parts.aids.generator if inquiry.llm is None or isinstance(inquiry.llm, str) else inquiry.llm
        means = Means(reading_of(parts, meaning=search_plan.mode != "bm25"), generator)
        asked = Question(question, asking.history, parts.analyser.query(question))
        look = partial(self._searcher.search, question, asking)
        for event in answering(look, asked, answer_plan_of(settings), means, cut):
            if isinstance(event, DoneEvent) and session:
                answer = event.answer
                self._sessions.append(session, (Turn("user", question), Turn("assistant", answer.text)))
                yield DoneEvent(replace(answer, session=session))
            else:
                yield event


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
    )


def reading_of(parts: Parts, *, meaning: bool) -> Reading:
    """Say how texts are read: the collection's own analyser and, where meaning counts, its embedder."""

    def terms(text: str) -> dict[str, int]:
        return {term: count for term, count in parts.analyser.counts(text).counts.items() if not term.startswith("=")}

    if not meaning:
        return Reading(sentence_ends, terms)
    return Reading(sentence_ends, terms, parts.embedder.embed_passages, parts.embedder.embed_queries)


def _with_llm(inquiry: Inquiry) -> Asking:
    if not isinstance(inquiry.llm, str):
        return inquiry.asking
    return replace(inquiry.asking, settings={**inquiry.asking.settings, "generator": inquiry.llm})


class Answering:
    """What an index answers: questions, in words, with citations."""

    _asker: Asker

    def ask(  # noqa: PLR0913  # each may be left out
        self,
        question: str,
        *,
        llm: str | Writes | None = None,
        k: int | None = None,
        mode: str | None = None,
        filter: Filter = EVERYTHING,  # noqa: A002
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
        on_event: Callable[[Event], None] | None = None,
    ) -> Answer:
        """Answer a question from the documents, every sentence with a citation that can be opened.

        `llm` names a language model (`local`, `ollama/qwen3:8b`, `openai/gpt-4o-mini`, `http://host/v1#model`), or is
        one; without any, or with `none`, the answer is made of the documents' own sentences. Where they hold no answer
        it is a refusal, and the nearest passages are in its `sources`. `history` are the turns before a follow-up
        question; `session` names a conversation that is kept and gone on with. The rest is as for `search`;
        `settings` may be those of answers too, such as `{"answer.verify": "refuse"}`. `on_event` hears each event.

        Raises what `search` raises; a model that fails is gone without, and `degraded` says so.
        """
        asking = Asking(k, mode, filter, None, profile, settings, tuple(history), session)
        return self._asker.ask(question, Inquiry(asking, llm), on_event)

    def ask_stream(  # noqa: PLR0913  # each may be left out
        self,
        question: str,
        *,
        llm: str | Writes | None = None,
        k: int | None = None,
        mode: str | None = None,
        filter: Filter = EVERYTHING,  # noqa: A002
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
    ) -> AnswerStream:
        """Answer a question event by event, as it is written: the passages first, `done` or `error` last.

        Arguments as for `ask`. Closing the stream, from any thread, stops the model.
        """
        asking = Asking(k, mode, filter, None, profile, settings, tuple(history), session)
        return self._asker.ask_stream(question, Inquiry(asking, llm))

    def conversation(self, session: str) -> tuple[Turn, ...]:
        """Give what was said in a conversation that is kept, oldest first."""
        return self._asker.turns(session)
