"""A conversation that cannot be kept: the answer is printed all the same, and the exit code says what went wrong."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.history import Turn
from twofold.stores.sessions import Sessions, sessions_folder

FULL = 6
ROOM = 65_536


def without_room() -> None:
    """Let no file grow as long as the conversation is: the index can be read, which needs a little room."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))


@pytest.fixture
def index() -> str:
    with Index("notes", embedder=HashingEmbedder()) as index:
        index.add("The Eiffel tower stands in Paris.", source="tower.txt")
        home = Path(os.environ["TWOFOLD_HOME"])
        said = [Turn("user", "x" * 16_000)] * 6
        Sessions(sessions_folder(home, home / "indexes" / "notes")).append("s", said)
        return "notes"


@pytest.mark.parametrize("more", [[], ["--json"], ["--stream"]])
def test_the_answer_is_printed_and_the_exit_code_is_that_of_a_full_disk(index: str, more: list[str]) -> None:
    words = ["-i", index, "--session", "s", *more, "Where is the Eiffel tower?"]
    command = [sys.executable, "-m", "twofold", "ask", *words]
    surroundings = {**os.environ, "TWOFOLD_EMBEDDER": "hashing", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, env=surroundings, capture_output=True, text=True, check=False, preexec_fn=without_room
    )

    assert done.returncode == FULL, done.stderr
    assert "Eiffel tower stands in Paris" in done.stdout
    assert "not kept" in done.stdout
    assert "no room" in done.stderr


def test_the_library_gives_the_answer_and_says_that_it_was_not_kept(index: str) -> None:
    with Index(index, embedder=HashingEmbedder()) as opened:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
        try:
            answer = opened.ask("Where is the Eiffel tower?", session="s")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, before)
        kept = opened.ask("Where is the Eiffel tower?", session="s")

    assert "Paris" in answer.text
    assert not answer.session
    assert "not kept" in str(answer.warnings[-1])
    assert kept.session == "s"
    assert kept.warnings == ()
