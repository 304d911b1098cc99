"""`chat`: ask an index again and again; what was said before counts."""

import sys
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from twofold.answer.events import ChunkEvent, DoneEvent, ErrorEvent
from twofold.cli.ask import LlmOption, draw_rest, opened_to_ask
from twofold.cli.options import EmbedderOption, IndexesOption
from twofold.cli.screen import Screen, one_line, printable, screen_on

if TYPE_CHECKING:
    from twofold.asked import Answering

_LEAVING = frozenset({"/quit", "/exit", "/q", "exit", "quit"})


def chat(
    context: typer.Context,
    *,
    llm: LlmOption = None,
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="Keep the conversation under this name and go on with it.")
    ] = "",
    index: IndexesOption = None,
    embedder: EmbedderOption = None,
) -> None:
    """Talk with an index, or with several: each line is a question, and what was said before counts.

    An empty line or /quit ends it. Without --session the conversation is forgotten afterwards.
    """
    screen = screen_on()
    with opened_to_ask(context, index or [], embedder) as opened:
        name = session or f"chat {uuid4()}"
        try:
            for turn in opened.conversation(session) if session else ():
                screen.line(screen.paint(f"{turn.role}: {one_line(turn.text)}", "dim"))
            while question := _asked(screen):
                _answer(screen, opened, question, name, llm)
        finally:
            if not session:
                opened.forget_conversation(name)


def _asked(screen: Screen) -> str:
    """Read a question; empty where there is none."""
    if sys.stdin.isatty():
        screen.stream.write(screen.paint("? ", "cyan"))
        screen.stream.flush()
    said = sys.stdin.readline().strip()
    return "" if said.lower() in _LEAVING else said


def _answer(screen: Screen, opened: "Answering", question: str, session: str, llm: str | None) -> None:
    events = opened.ask_stream(question, llm=llm, session=session)
    try:
        for event in events:
            if isinstance(event, ChunkEvent):
                screen.stream.write(printable(event.content))
                screen.stream.flush()
            elif isinstance(event, DoneEvent):
                screen.line()
                draw_rest(screen, event.answer)
            elif isinstance(event, ErrorEvent):
                screen.line(screen.paint(f"{event.message} {event.remedy}", "red"))
        screen.line()
    finally:
        events.close()
