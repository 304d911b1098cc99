"""The table that answers the shell's completion says what typer would say, which loads every command to know it."""

import os
from collections.abc import Mapping

import pytest
import typer
from typer.testing import CliRunner

from twofold.cli.app import application
from twofold.cli.completion import Answer, answer

LINES = (
    "twofold ",
    "twofold s",
    "twofold -",
    "twofold nothing-begins-so",
    "twofold --con",
    "twofold --config /tm",
    "twofold --yes se",
    "twofold --set search.k=3 --set a=b --s",
    "twofold --profile precise --p",
    "twofold index ",
    "twofold index re",
    "twofold index drop --",
    "twofold search ",
    "twofold search words more",
    "twofold search -",
    "twofold search --mode ",
    "twofold search --mode bm25 --m",
    "twofold search words --filter a --f",
    "twofold sync ./do",
    "twofold models pull ",
)
SHELLS = ("bash", "zsh", "fish")


def asked(shell: str, line: str, action: str = "get-args") -> Mapping[str, str]:
    words = line.split(" ")
    return {
        "_TWOFOLD_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": action,
    }


def of_typer(variables: Mapping[str, str]) -> Answer:
    done = CliRunner().invoke(application(), [], prog_name="twofold", env={**os.environ, **variables})
    return Answer(done.output, done.exit_code)


def words_of(text: str) -> list[str]:
    """Return the words of all lines in order: typer breaks long help at 80 columns, and shuffles `-h` and `--help`."""
    return sorted(text.split())


@pytest.mark.parametrize("shell", SHELLS)
def test_the_table_answers_as_typer_does(shell: str) -> None:
    typer.main.get_command(application())
    differing = []
    for line in LINES:
        found, expected = answer(asked(shell, line)), of_typer(asked(shell, line))
        if found is None or (words_of(found.text), found.code) != (words_of(expected.text), expected.code):
            differing.append((line, found, expected))

    assert differing == []


@pytest.mark.parametrize(("line", "code"), [("twofold se", 0), ("twofold sync ./do", 1)])
def test_fish_hears_whether_there_is_anything(line: str, code: int) -> None:
    variables = asked("fish", line, "is-args")

    assert answer(variables) == Answer("", code)
    assert of_typer(variables).code == code


@pytest.mark.parametrize(
    "line", ["twofold nothing ", "twofold search --nothing ", "twofold search 'open", "twofold --config=a"]
)
def test_what_is_rare_is_left_to_typer(line: str) -> None:
    assert answer(asked("bash", line)) is None


def test_another_shell_is_left_to_typer() -> None:
    assert answer(asked("powershell", "twofold ")) is None
