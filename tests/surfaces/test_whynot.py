"""`why-not`: the stage, what was seen, and a command that, typed as it stands, shows the document."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("ready")


def pasted(run: Run, shown: str) -> list[str]:
    """Run the command that was printed, and give the names of what it finds."""
    (command,) = [line for line in shown.splitlines() if line.startswith("  twofold ")]
    words = shlex.split(command)[1:]
    place = words.index("search") + 1
    return [Path(hit["source"]).name for hit in run(*words[:place], "--json", *words[place:]).data["hits"]]


@pytest.mark.parametrize(
    ("words", "document", "stage"),
    [
        (["undo the last commit", "-k", "1"], "tower.txt", "top_k"),
        (["undo +commit"], "tower.txt", "operators"),
        (["-f", "type = .md", "-f", "author = Ada", "changes"], "tower.txt", "filter"),
        (["changes type:.md"], "prices.csv", "filter"),
        (["stash", "-m", "bm25"], "prices.csv", "retrieval"),
        (["-i", "other", "changes type:.md", "-k", "9"], "prices.csv", "filter"),
    ],
)
def test_the_command_that_is_printed_shows_the_document(
    run: Run, notes: Path, words: list[str], document: str, stage: str
) -> None:
    if "other" in words:
        run("sync", notes / "git.md", "-i", "other")
    done = run("why-not", "-i", "notes", *words, document)

    assert done.code == 0
    assert done.out.splitlines()[0] == f"Lost at {stage}"
    assert "(tried) by:" in done.out
    assert document in pasted(run, done.out)


def test_what_was_said_before_the_command_is_said_again(run: Run) -> None:
    done = run("--set", "search.default_filter=type == '.md'", "why-not", "-i", "notes", "tower", "tower.txt")

    assert done.out.splitlines()[0] == "Lost at default_filter"
    assert "--set 'search.default_filter=()'" in done.out
    assert "tower.txt" in pasted(run, done.out)


def test_json_says_the_same(run: Run) -> None:
    said = run("why-not", "-i", "notes", "changes type:.md", "prices.csv", "--json").data

    assert (said["stage"], said["rank"], said["fix"]["query"]) == ("filter", None, "changes")
    assert said["rank_after_fix"] >= 1
    assert json.dumps(said["evidence"])


def test_a_document_that_is_there_and_one_that_never_was(run: Run) -> None:
    there = run("why-not", "-i", "notes", "tower", "tower.txt")
    never = run("why-not", "-i", "notes", "tower", "absent.txt")

    assert "found, at rank 1" in there.out
    assert never.code == 0
    assert "twofold sync absent.txt" in never.out


def test_a_question_that_cannot_be_is_refused(run: Run) -> None:
    assert run("why-not", "-i", "notes", "", "tower.txt").code == 2
