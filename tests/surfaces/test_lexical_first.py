"""Commands while vectors follow: what they say, and that answers come first."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold import Index
from twofold.cli.index_of_path import index_name

Run = Callable[..., Any]
ANY = ("--set", "answer.min_answerability=0")
QUESTION = "where does the Eiffel tower stand?"


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let vectors follow, though the embedder of these tests is fast."""
    monkeypatch.setattr("twofold.factory.indexing.FAST_EMBEDDERS", frozenset())


def test_an_answer_comes_before_the_vectors(run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[int] = []
    embed, ask = Index.embed_pending, Index.ask_stream

    def asked(self: Index, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        waiting.append(self.info().pending)
        return ask(self, *arguments, **named)

    def embedded(self: Index, **named: Any) -> int:  # noqa: ANN401
        left = embed(self, **named)
        waiting.append(left)
        return left

    monkeypatch.setattr(Index, "ask_stream", asked)
    monkeypatch.setattr(Index, "embed_pending", embedded)

    done = run(*ANY, "ask", notes, QUESTION)

    assert done.out.startswith("The Eiffel tower stands in Paris. [1]")
    assert waiting[0] > 0
    assert waiting[-1] == 0
    assert "With the vectors of all passages" in done.out + done.err


def test_an_answer_that_vectors_change_is_told_below_the_first(run: Run, notes: Path) -> None:
    """No word of the question occurs; only pieces of words, which vectors know, are alike."""
    done = run(*ANY, "ask", notes, "Eiffeltowering Parisish", "--json")

    first, second = (json.loads(line) for line in done.out.splitlines())
    assert first["citations"] == []
    assert second["sources"][0]["source"].endswith("tower.txt")


def test_an_answer_gets_better_before_all_vectors_are_there(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the question found is embedded first: its answer stands there while other notes wait, and only once."""
    monkeypatch.setattr("twofold.cli.commands.ask._FIRST_VECTORS", 1)
    embed, left = Index.embed_pending, []

    def embedded(self: Index, **named: Any) -> int:  # noqa: ANN401
        left.append(embed(self, **named))
        return left[-1]

    monkeypatch.setattr(Index, "embed_pending", embedded)

    done = run(*ANY, "--set", "batch=embed:1", "ask", notes, "Eiffeltowering Parisish", "--json")

    assert done.code == 0, done.err
    first, *later = (json.loads(line) for line in done.out.splitlines())
    assert first["citations"] == []
    assert later[-1]["sources"][0]["source"].endswith("tower.txt")
    assert left[-1] == 0
    assert len(left) == len({*left}) > 1, "it is asked again between"


def test_an_index_that_was_stopped_says_what_is_left(run: Run, notes: Path) -> None:
    with Index(index_name(notes)) as index:
        left = index.sync(notes, vectors="later").pending
    name = index_name(notes)

    assert left > 0
    assert f"({left} without vectors until" in run("index", "info", name).out
    assert f"{left} passages without a vector yet" in run("index", "verify", name).out
    doctor = run("doctor").out
    assert f"{left} passages without a vector yet" in doctor
    planned = run("sync", "--dry-run", notes, "-i", name).out
    assert f"{left} passages get their vectors." in planned
    assert json.loads(run("index", "info", name, "--json").out)["pending"] == left
    assert f"0 passages and {left} vectors in " in run("sync", notes, "-i", name).out
    assert json.loads(run("index", "info", name, "--json").out)["pending"] == 0


def test_vectors_come_with_their_documents_where_that_is_asked_for(run: Run, notes: Path) -> None:
    report = run("sync", "--atomic-vectors", notes, "-i", "whole", "--json").data

    assert (report["pending"], report["embedded"]) == (0, report["passages"])
