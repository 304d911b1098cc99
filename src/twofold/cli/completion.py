"""Answers the shell's question how a line may go on, from a table that is written with the docs.

A shell asks at every press of the tab key. Loading the commands to answer takes half a second, the table a few
milliseconds. `docs/reference.py` writes it from the commands. What is rare is left to typer, which loads them: quotes,
values after `=`, words after `--`, PowerShell.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

VARIABLE = "_TWOFOLD_COMPLETE"
TABLE = os.path.join(os.path.dirname(__file__), "completions.json")  # noqa: PTH118, PTH120  # pathlib takes 5 ms to load
RARE = frozenset("'\"\\")


class Candidate(NamedTuple):
    """A word that may stand here, and what it means."""

    word: str
    says: str = ""


class Answer(NamedTuple):
    """What to print for the shell, and the exit code."""

    text: str
    code: int = 0


class Line(NamedTuple):
    """The words after `twofold`, and the beginning of the one to be completed."""

    words: Sequence[str]
    begun: str


def answer(environment: Mapping[str, str]) -> Answer | None:
    """Return the answer to the shell that asks by these variables; None where none asks or typer has to give it."""
    shell = environment.get(VARIABLE, "").removeprefix("complete_")
    line = _line_of(shell, environment)
    if line is None or "=" in line.begun or any(map(RARE.intersection, (*line.words, line.begun))):
        return None
    with open(TABLE, encoding="utf-8") as file:  # noqa: PTH123  # as above
        table: Mapping[str, Any] = json.load(file)
    found = candidates(table, line)
    return None if found is None else _written(shell, found, environment)


def _line_of(shell: str, environment: Mapping[str, str]) -> Line | None:
    if shell == "bash" and environment.get("COMP_CWORD", "").isdecimal():
        words, at = environment.get("COMP_WORDS", "").split(), int(environment["COMP_CWORD"])
        return Line(words[1:at], words[at] if at < len(words) else "")
    if shell in ("zsh", "fish"):
        given = environment.get("_TYPER_COMPLETE_ARGS", "")
        words = given.split()[1:]
        return Line(words[:-1], words[-1]) if words and not given.endswith(" ") else Line(words, "")
    return None


def candidates(table: Mapping[str, Any], line: Line) -> Sequence[Candidate] | None:
    """Return what may stand at the end of a line; None where the table cannot tell.

    The table holds for each command, `""` for what stands before all of them, its options by name, the choices of each
    of its arguments and, for a group, its commands: `{"index": {"options": {…}, "commands": {"list": "List …"}}}`.
    """
    place = Place()
    for word in line.words:
        if not place.passes(table, word):
            return None
    known = table[place.command]
    if line.begun.startswith("-"):
        return _options(known["options"], place.used, line.begun)
    if place.choices is not None:
        return _values(place.choices, line.begun)
    if "commands" in known:
        return [Candidate(name, says) for name, says in known["commands"].items() if name.startswith(line.begun)]
    arguments = known["arguments"]
    return _values(arguments[0], line.begun) if len(arguments) == 1 and (known["many"] or not place.arguments) else None


class Place:
    """Where in a line one is: in which command, after which options and how many arguments."""

    def __init__(self) -> None:
        self.command = ""
        self.used: set[str] = set()
        self.arguments = 0
        self.choices: Sequence[str] | None = None  # of the option before, which awaits its value

    def passes(self, table: Mapping[str, Any], word: str) -> bool:
        """Go past one word; return whether the table knows it."""
        known = table[self.command]
        if self.choices is not None:
            self.choices = None
        elif word.startswith("-"):
            option = known["options"].get(word)
            if option is None:
                return False
            self.used.add(option["names"][0])
            self.choices = option["value"]
        elif "commands" in known:
            self.command, self.used = f"{self.command} {word}".strip(), set()
            return word in known["commands"]
        else:
            self.arguments += 1
        return True


def _options(options: Mapping[str, Any], used: set[str], begun: str) -> Sequence[Candidate]:
    """Return the options that begin so and were not given yet, or may be given again."""
    return [
        Candidate(name, option["says"])
        for name, option in options.items()
        if name.startswith(begun) and (option["many"] or option["names"][0] not in used)
    ]


def _values(choices: Sequence[str], begun: str) -> Sequence[Candidate]:
    """Return the choices that begin so; none for free text and for paths, where the shell lists files by itself."""
    return [Candidate(word) for word in choices if word.startswith(begun)]


def _written(shell: str, found: Sequence[Candidate], environment: Mapping[str, str]) -> Answer:
    """Write candidates as the shell's script reads them, which typer wrote."""
    if shell == "bash":
        return Answer("\n".join(one.word for one in found) + "\n")
    if shell == "zsh":
        lines = "\n".join(_for_zsh(one) for one in found)
        return Answer(f"_arguments '*: :(({lines}))'\n" if found else "_files\n")
    if environment.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return Answer("", 0 if found else 1)
    return Answer("\n".join(f"{one.word}\t{one.says}" if one.says else one.word for one in found) + "\n")


def _for_zsh(one: Candidate) -> str:
    word, says = (
        text.replace('"', '""').replace("'", "''").replace("$", "\\$").replace("`", "\\`").replace(":", "\\\\:")
        for text in one
    )
    return f'"{word}":"{says}"' if says else f'"{word}"'
