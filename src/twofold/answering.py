"""The answering half of an index, or of several, as a Python program uses it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from twofold.config.settings import Settings
from twofold.domain.filters import MATCH_ALL
from twofold.domain.generators import Generator
from twofold.query.any_filter import FilterLike
from twofold.query.history import Turn, turns_of
from twofold.search.engine import NO_SETTINGS, Effort, SearchOptions
from twofold.stores.sessions import Sessions

if TYPE_CHECKING:
    from twofold.answer.engine import AnswerEngine, Searching
    from twofold.answer.events import Event
    from twofold.answer.pipeline import AnswerStream
    from twofold.answer.types import Answer


class Answering:
    """What an index answers: questions, in words, with citations. Several indexes answer them alike."""

    _passages: "Searching"
    _settings: Settings
    _sessions: Sessions

    def ask(  # noqa: PLR0913  # each may be left out
        self,
        question: str,
        *,
        llm: str | Generator | None = None,
        k: int | None = None,
        mode: str | None = None,
        filter: FilterLike = MATCH_ALL,  # noqa: A002
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
        effort: Effort = "low",
        on_event: "Callable[[Event], None] | None" = None,
    ) -> "Answer":
        """Answer a question from the documents, every sentence with a citation that can be opened.

        `llm` names a language model (`local`, `ollama/qwen3:8b`, `openai/gpt-4o-mini`, `http://host/v1#model`), or is
        one; without any, or with `none`, the answer is made of the documents' own sentences. Where they hold no answer
        it is a refusal, and the nearest passages are in its `sources`. `history` are the turns before a follow-up
        question; `session` names a conversation that is kept and gone on with. The rest is as for `search`;
        `settings` may be those of answers too, such as `{"answer.unsupported": "refuse"}`. `on_event` hears each event.
        `effort` says how many further searches the answer may take for what the first leaves open: `low` none, `medium`
        one where the question has two parts, `high` up to three.

        Raises what `search` raises; the answer does without a model that fails, with a warning.
        """
        options = SearchOptions(k, mode, filter, None, profile, settings, turns_of(history), session, effort=effort)
        return self._asker.ask(question, options, llm, on_event)

    async def aask(  # noqa: PLR0913  # each may be left out
        self,
        question: str,
        *,
        llm: str | Generator | None = None,
        k: int | None = None,
        mode: str | None = None,
        filter: FilterLike = MATCH_ALL,  # noqa: A002
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
        effort: Effort = "low",
    ) -> "Answer":
        """Answer a question in a thread, for programs with an event loop; arguments as for `ask`.

        Where the waiting task is cancelled, the model that writes is stopped.
        """
        import asyncio  # 20 ms that a program without an event loop does not need

        options = SearchOptions(k, mode, filter, None, profile, settings, turns_of(history), session, effort=effort)
        cut = self._asker.cancellation()
        try:
            return await asyncio.to_thread(self._asker.ask, question, options, llm, None, cut)
        except asyncio.CancelledError:
            cut.make()
            raise

    def ask_stream(  # noqa: PLR0913  # each may be left out
        self,
        question: str,
        *,
        llm: str | Generator | None = None,
        k: int | None = None,
        mode: str | None = None,
        filter: FilterLike = MATCH_ALL,  # noqa: A002
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
        effort: Effort = "low",
    ) -> "AnswerStream":
        """Answer a question event by event, as it is written: the passages first, `done` or `error` last.

        Arguments as for `ask`. Closing the stream, from any thread, stops the model.
        """
        options = SearchOptions(k, mode, filter, None, profile, settings, turns_of(history), session, effort=effort)
        return self._asker.ask_stream(question, options, llm)

    def conversation(self, session: str) -> tuple[Turn, ...]:
        """Return what was said in a conversation that is kept, oldest first."""
        return self._sessions.turns(session)

    def delete_session(self, session: str) -> None:
        """Delete a conversation that is kept; one that is not there is gone already."""
        self._sessions.drop(session)

    @cached_property
    def _asker(self) -> "AnswerEngine":
        """What answers, loaded when something is first asked: a search that asks nothing starts 20 ms sooner."""
        from twofold.factory.answer import answer_engine

        return answer_engine(self._passages, self._settings, self._sessions)
