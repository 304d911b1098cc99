"""`chat`: ask an index again and again; what was said before counts."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from twofold.answer.events import ChunkEvent, DoneEvent, ErrorEvent, SourcesEvent
from twofold.answer.types import Source
from twofold.cli.commands.ask import EffortOption, LlmOption, opened_to_ask, render_rest
from twofold.cli.options import EmbedderOption, IndexesOption
from twofold.cli.render.answer_progress import AnswerProgress
from twofold.cli.render.markup import drawn
from twofold.cli.render.terminal import Screen, lines_of, one_line, screen_on
from twofold.cli.render.wrap import WordWrap
from twofold.domain.errors import InvalidInputError
from twofold.query.history import Turn

if TYPE_CHECKING:
    from twofold.answer.pipeline import AnswerStream
    from twofold.answering import Answering

_LEAVING = frozenset({"/quit", "/exit", "/q", "exit", "quit"})
_COMMAND = re.compile(r"/\w*(?:\s.*)?")  # `/etc/hosts` is no command
_HELP = """Each line is a question; "and X?", "what about X?" and "why?" go on from the one before.
/help   show this
/new    forget what was said and start over
/quit   end, as an empty line does
A question that begins with a slash is asked with a space before it."""


def chat(
    context: typer.Context,
    *,
    llm: LlmOption = None,
    effort: EffortOption = "low",
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="Keep the conversation under this name, and continue it.")
    ] = "",
    index: IndexesOption = None,
    embedder: EmbedderOption = None,
) -> None:
    """Hold a conversation with one or several indexes: each line is a question.

    /help lists commands; an empty line or /quit ends it. Without --session the conversation is forgotten afterwards.
    """
    screen = screen_on()
    with opened_to_ask(context, index or [], embedder) as opened:
        name = session or f"chat {uuid4()}"
        try:
            for turn in opened.conversation(session) if session else ():
                screen.line(screen.paint(f"{turn.role}: {one_line(turn.text)}", "dim"))
            while said := _read_line(screen):
                if _COMMAND.fullmatch(said):
                    _obey(screen, opened, said, name)
                else:
                    _answer(screen, opened.ask_stream(said.strip(), llm=llm, session=name, effort=effort))
        finally:
            if not session:
                opened.delete_session(name)


def _obey(screen: Screen, opened: "Answering", command: str, session: str) -> None:
    """Do what a line that begins with a slash says; it is never asked."""
    word = command.split(maxsplit=1)[0].lower()
    if word == "/help":
        screen.line(_HELP)
    elif word == "/new":
        opened.delete_session(session)
        screen.line("What was said is forgotten.")
    else:
        screen.line(f"There is no command {one_line(word)[:40]}. /help lists them.")


def _read_line(screen: Screen) -> str:
    """Read a line, a space before its slash kept; empty at the end, or where it says to leave."""
    if sys.stdin.isatty():
        screen.stream.write(screen.paint("? ", "cyan"))
        screen.stream.flush()
    line = sys.stdin.readline().rstrip()
    return "" if line.strip().lower() in _LEAVING else line


def _answer(screen: Screen, events: "AnswerStream") -> None:
    text, waiting = WordWrap(screen), AnswerProgress()
    sources: Sequence[Source] = ()
    try:
        for event in events:
            waiting.tell(event)
            if isinstance(event, SourcesEvent):
                sources = event.sources
            elif isinstance(event, ChunkEvent):
                text.write(drawn(screen, event.content, sources))
            elif isinstance(event, DoneEvent):
                text.end()
                render_rest(screen, event.answer)
            elif isinstance(event, ErrorEvent):
                text.end()
                screen.line(screen.paint(f"{event.message} {event.hint}", "red"))
        screen.line()
    finally:
        events.close()


_REMEDY = 'Write {"role": "user", "text": "..."} or {"role": "assistant", "text": "..."}, one a line.'


def read_history(path: Path) -> tuple[Turn, ...]:
    """Read the turns of a conversation, oldest first. Raises InvalidInputError with the line's number."""
    turns = []
    for line in lines_of(path):
        if isinstance(line.held, InvalidInputError):
            raise InvalidInputError(f"{path}, line {line.number}: {line.held.message}", line.held.hint)
        turns.append(_turn(line.held, f"{path}, line {line.number}"))
    return tuple(turns)


def _turn(held: Mapping[str, object], where: str) -> Turn:
    match held:
        case {"role": "user" | "assistant" as role, "text": str(text), **rest} if not rest:
            return Turn(role, text)
        case _:
            raise InvalidInputError(f"{where}: this is no turn of a conversation.", _REMEDY)
