"""What people see, kept as files: read the difference before you rewrite them with `make golden`."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SCREENS = {
    "ls": ["ls", "-i", "notes"],
    "show-chunks": ["show", "git.md", "--chunks", "-i", "notes"],
    "search": ["search", "undo the last commit", "-i", "notes"],
    "search-explain": ["search", "undo the last commit", "-i", "notes", "-k", "2", "--explain"],
    "search-bm25": ["search", "tower", "in", "Paris", "-i", "notes", "-m", "bm25"],
    "config-show": ["--set", "search.k=5", "config", "show", "--all"],
    "config-profile": ["--set", "search.k=5", "config", "show", "--profile", "additive-gated", "--all"],
    "config-profiles": ["config", "profiles"],
}
CHANGING = [
    (re.compile(r"in [\d.]+ ms"), "in 1.0 ms"),
    (re.compile(r"(?<=\d)  +\d+\.\d(?=$|  [a-z\d])", re.MULTILINE), "   0.0"),
    (re.compile(r"out +ms$", re.MULTILINE), "out   ms"),
    (re.compile(r"^[0-9a-f]{16}(?=  )|[0-9a-f]{16}(?=_chunk_)", re.MULTILINE), "0123456789abcdef"),
]


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.usefixtures("ready")
def test_the_screen_is_the_one_that_was_approved(
    name: str, run: Run, made_once: Path, request: pytest.FixtureRequest, repository: Path
) -> None:
    golden = repository / "tests" / "golden" / f"{name}.txt"
    shown = plain(run(*SCREENS[name]).out, made_once.parent)

    if request.config.getoption("--rewrite-golden"):
        golden.write_text(shown, encoding="utf-8")

    assert shown == golden.read_text(encoding="utf-8")


def plain(text: str, folder: Path) -> str:
    """Take out what differs from run to run and from machine to machine."""
    for place, name in ((str(folder), "FOLDER"), (os.environ["TWOFOLD_HOME"], "HOME")):
        text = text.replace(place, name)
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return re.sub(r" +(default$|environment |override$|profile )", r"  \1", text, flags=re.MULTILINE)
