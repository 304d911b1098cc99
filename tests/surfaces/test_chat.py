"""`chat` as people use it: follow-ups go on from what was said, and a line that begins with a slash is a command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index

Run = Callable[..., Any]
ONE = ("--set", "answer.min_answerability=0", "--set", "answer.sentences=1")
TEXTS = {
    "shared.md": "The default of shared_buffers is 128 megabytes.",
    "wal.md": "The default of wal_buffers is -1, a part of the former. The unit of wal_buffers is a block.",
    "work.md": "The default of work_mem is 4 megabytes. Sessions may set it.",
    "tower.md": "The Eiffel tower stands in Paris. It was finished in 1889.",
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index `pg` of a few settings, and of a tower."""
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    with Index("pg") as index:
        for source, text in TEXTS.items():
            index.add(text, source=source)
    return tmp_path


def answers(out: str) -> list[str]:
    """Give the first line of each answer: the one before its citations."""
    return [line for line in out.splitlines() if line.endswith("[1]")]


@pytest.mark.usefixtures("settings")
def test_a_follow_up_is_about_what_was_asked_before(run: Run) -> None:
    said = "What is the default of shared_buffers?\nand wal_buffers?\nWhat about work_mem?\n"
    done = run(*ONE, "chat", "-i", "pg", given=said)

    assert answers(done.out) == [
        "The default of shared_buffers is 128 megabytes. [1]",
        "The default of wal_buffers is -1, a part of the former. [1]",
        "The default of work_mem is 4 megabytes. [1]",
    ]


@pytest.mark.usefixtures("settings")
def test_a_question_of_its_own_leaves_what_was_said_alone(run: Run) -> None:
    said = "What is the default of shared_buffers?\nIn which city does the Eiffel tower stand?\n"
    done = run(*ONE, "chat", "-i", "pg", given=said)

    assert answers(done.out)[1] == "The Eiffel tower stands in Paris. [1]"


@pytest.mark.usefixtures("settings")
def test_commands_are_never_asked(run: Run) -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(piece("So it is.") + finished())

    with chatting(noting) as address:
        commands = "/help\n/nonsense what?\n/\nWhat is work_mem?\n/new\nand its unit?\n"
        said = f"{commands} /var is a folder?\n/etc/hosts is what?\n/quit\nnot asked\n"
        done = run(*ONE, "chat", "-i", "pg", "--llm", f"{address}#m", given=said)

    assert done.code == 0
    assert "/help   show this" in done.out
    assert "There is no command /nonsense. /help lists them." in done.out
    assert "There is no command /." in done.out
    assert "What was said is forgotten." in done.out
    asked = [one.prompt.partition("<question>\n")[2].partition("\n</question>")[0] for one in heard]
    assert asked == ["What is work_mem?", "and its unit?", "/var is a folder?", "/etc/hosts is what?"]
    assert "<conversation>" not in heard[1].prompt
    assert "<conversation>" in heard[2].prompt


@pytest.mark.usefixtures("settings")
def test_a_process_of_its_own_does_the_same(start: Run) -> None:
    done = start(*ONE, "chat", "-i", "pg", given="What is the default of shared_buffers?\n/help\nand wal_buffers?\n\n")

    assert done.code == 0, done.err
    assert answers(done.out)[1] == "The default of wal_buffers is -1, a part of the former. [1]"
    assert done.out.count("/help   show this") == 1
