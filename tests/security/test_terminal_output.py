"""What a document can do to a terminal: nothing, in words or in JSON, on a terminal or in a pipe."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.terminals import on_a_terminal

HARMFUL = {
    "control sequence": "\x9b31m",
    "device control": "\x90q",
    "delete": "\x7f",
    "direction turned around": "\u202e",
    "Arabic letter mark": "\u061c",
    "byte order mark": "\ufeff",
    "blank of no width": "\u200b",
    "word joiner": "\u2060",
    "tag": "\U000e0041",
    "line separator": "\u2028",
}
ALL = "".join(HARMFUL.values())
NAME = f"bad{ALL}name.txt"
TEXT = f"The heron{ALL} stands in the reeds. Herons eat fish, and a heron{ALL} waits.\n"
FINE = "زبان می\u200cخواهم"  # noqa: RUF001  # Persian is written with a joiner that separates
PAINT = re.compile("\x1b\\[[0-9;]*m")  # our own colors
WAITING = re.compile(r"\r\x1b\[KReading \d+ passages, first [^\r\n\x1b]*\r\x1b\[K")
"""The line of ours that stands while an answer is made, and goes."""

COMMANDS = (
    ("ls",),
    ("search", "heron"),
    ("search", "heron", "--explain"),
    ("ask", "-i", "birds", "Where does the heron stand?"),
    ("show", NAME),
    ("show", NAME, "--chunks"),
    ("why-not", "heron", NAME),
    ("eval", "--qrels", "judged.jsonl"),
)
WITHOUT_NAMES = frozenset({"why-not", "eval"})
"""What shows neither texts nor names where all is well."""


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in, with an index of one hostile document and questions judged by its hostile name."""
    folder = tmp_path_factory.mktemp("birds")
    (folder / "docs").mkdir()
    (folder / "docs" / NAME).write_text(TEXT + FINE + "\n", encoding="utf-8")
    judged = {"query": f"heron{ALL}", "relevant": [NAME]}
    (folder / "judged.jsonl").write_text(json.dumps(judged) + "\n", encoding="utf-8")
    done = subprocess.run(
        _command("sync", "docs", "-i", "birds"), cwd=folder, env=_surroundings(folder), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "twofold", *words]


def _surroundings(folder: Path) -> dict[str, str]:
    own = {"TWOFOLD_HOME": str(folder / "home"), "TWOFOLD_EMBEDDER": "hashing", "TWOFOLD_OFFLINE": "true"}
    return {**os.environ, **own, "TWOFOLD_INDEX": "birds", "TERM": "xterm-256color", "PYTHONUTF8": "1"}


def _in_a_pipe(folder: Path, *words: str) -> str:
    done = subprocess.run(
        _command(*words), cwd=folder, env=_surroundings(folder), capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).decode("utf-8")


def _harmful(shown: str) -> set[str]:
    """Give the names of the characters in a text that act on a terminal or cannot be seen."""
    plain = PAINT.sub("", WAITING.sub("", shown)).replace("\n", "").replace("\t", "")
    fine = {"\u200c", "\u200d", "\xad"}
    return {
        unicodedata.name(one, f"{ord(one):04x}")
        for one in plain
        if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and one not in fine
    }


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_harmful_reaches_a_terminal_or_a_pipe(birds: Path, words: tuple[str, ...]) -> None:
    piped = _in_a_pipe(birds, *words)
    drawn = on_a_terminal(birds, _surroundings(birds), *words)

    assert "\\u202e" in drawn or words[0] in WITHOUT_NAMES
    assert _harmful(piped) == set()
    assert _harmful(drawn) == set()


@pytest.mark.parametrize("words", [one for one in COMMANDS if "--explain" not in one], ids=" ".join)
def test_json_holds_every_character_as_an_escape(birds: Path, words: tuple[str, ...]) -> None:
    piped = _in_a_pipe(birds, *words, "--json")
    drawn = on_a_terminal(birds, _surroundings(birds), *words, "--json")

    assert _harmful(piped) == set()
    assert _harmful(drawn) == set()
    assert _without_times(piped) == _without_times(drawn)
    assert ALL in "".join(_texts(json.loads(piped))) or words[0] == "eval"


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)


def _without_times(printed: str) -> str:
    return re.sub(r'("(?:milliseconds|[a-z_]+_ms|ms)": |"timings_ms": \{[^}]*\}|[0-9.]+)', "", printed)


def test_writing_that_needs_joiners_stays_as_it_is(birds: Path) -> None:
    assert FINE in _in_a_pipe(birds, "show", NAME)
    assert FINE in _in_a_pipe(birds, "show", NAME, "--json")
