"""How a passage is shown to be judged, and how the answer is read: a key at a terminal, a line elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from twofold.cli.render.snippet import Part, snippet
from twofold.cli.render.terminal import Screen, from_here, one_line
from twofold.domain.dataclass import dataclass
from twofold.evaluation.judgements import Pooled
from twofold.system.keys import END, pressed, single_keys
from twofold.text.analyzer import Analyzer

_LINES = 24
_MAX_WIDTH = 100
_INDENT = "    "
_KEYS = "0 no · 1 touches on it · 2 answers in part · 3 answers · s skip · u undo · q quit · ? help"
_HELP = (
    "0  says nothing about the question        s  skip: it is shown again another time",
    "1  is about the same thing, no answer     u  undo: take the last answer back",
    "2  answers a part of it                   q  quit: everything judged is kept",
    "3  answers it                             ?  this help",
    "A grade is of the document, by the passage of it that was found best. The order is random.",
)


@dataclass(frozen=True, slots=True)
class Place:
    """How far judging has come: this question of how many (0 where nobody knows), and what is left of it."""

    question: int
    questions: int
    left: int


class Answers:
    """Reads answers: one key each from a terminal, one line each from anything else.

    Between `with` and its end a terminal hands on every key as it is pressed, and shows none.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._terminal = sys.stdin.fileno() if sys.stdin.isatty() else None
        self._mode = ExitStack()
        self._pressed: list[str] = []

    def __enter__(self) -> Self:
        if self._terminal is not None:
            self._mode.enter_context(single_keys(self._terminal))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._mode.close()

    def key(self) -> str:
        """Return the next answer, `q` where there are no more."""
        self._screen.stream.flush()
        if self._terminal is None:
            line = sys.stdin.readline()
            return line.strip().lower() if line else "q"
        if not self._pressed:
            self._pressed = pressed(self._terminal)
        key = self._pressed.pop(0)
        self._screen.line(one_line(key))
        return "q" if key == END else key.strip().lower()

    def questions(self) -> Iterator[str]:
        """Ask for questions until there are no more, or an empty one."""
        while True:
            self._screen.stream.write("Question (empty to end): ")
            self._screen.stream.flush()
            self.__exit__(None, None, None)
            text = " ".join(sys.stdin.readline().split())
            self.__enter__()
            if not text:
                return
            yield text


def render_item(screen: Screen, one: Pooled, place: Place, asked: Analyzer) -> None:
    """Draw the question, where the passage stands, and the passage with the asked words marked."""
    width = max(40, min(screen.width, _MAX_WIDTH))
    of = f" of {place.questions}" if place.questions else ""
    screen.line()
    screen.line(screen.paint("─" * width, "dim"))
    screen.line(screen.paint(one_line(one.question), "bold"))
    screen.line(screen.paint(f"question {place.question}{of}, {place.left} left of it", "dim"))
    screen.line()
    path = "".join(f" › {one_line(part)}" for part in one.heading)
    where = f" ({one_line(one.place)})" if one.place else ""
    screen.line(screen.paint(from_here(one.document), "cyan") + path + where)
    terms = frozenset(asked.query(one.question))
    for line in _drawn(one.text, asked, terms, width - len(_INDENT)):
        screen.line(_INDENT + "".join(screen.paint(part.text, "mark") if part.marked else part.text for part in line))
    screen.line()


def _drawn(text: str, asked: Analyzer, terms: frozenset[str], width: int) -> list[tuple[Part, ...]]:
    """Draw a passage by its own lines where they fit; else run on, from where most of the terms stand."""
    own = [line for line in text.splitlines() if line.strip()][: _LINES + 1]
    drawn = [part for line in own for part in snippet(line, asked, terms, width, _LINES)]
    return drawn if len(drawn) <= _LINES else snippet(text, asked, terms, width, _LINES)


def render_keys(screen: Screen) -> None:
    """Return what may be answered, and wait on the same line."""
    screen.stream.write(screen.paint(_KEYS, "dim") + "  ")


def render_help(screen: Screen) -> None:
    """Explain the answers."""
    screen.line()
    for line in _HELP:
        screen.line(line)
