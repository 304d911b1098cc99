"""Bad input gets one clear line with a remedy and a documented exit code, prints no data, and loses nothing."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold.domain import errors

Run = Callable[..., Any]

REFUSALS = {
    "an unknown index": (["search", "x", "-i", "nope"], 3, "no index 'nope'"),
    "an unknown index to list": (["ls", "-i", "nope"], 3, "no index 'nope'"),
    "an unknown index to drop": (["index", "drop", "nope", "--yes"], 3, "no index 'nope'"),
    "an unknown index to verify": (["index", "verify", "nope"], 3, "no index 'nope'"),
    "a name that is none": (["search", "x", "-i", "a b"], 2, "name of an index"),
    "an empty query": (["search", "", "-i", "notes"], 2, "empty"),
    "a blank query": (["search", " \t ", "-i", "notes"], 2, "empty"),
    "k of none": (["search", "x", "-i", "notes", "-k", "0"], 2, "k must be from 1"),
    "k below none": (["search", "x", "-i", "notes", "-k", "-3"], 2, "k must be from 1"),
    "k beyond all": (["search", "x", "-i", "notes", "-k", "1001"], 2, "k must be from 1"),
    "an unknown mode": (["search", "x", "-i", "notes", "-m", "both"], 2, "no mode"),
    "a filter that cannot be read": (["search", "x", "-i", "notes", "-f", "=="], 2, "filter"),
    "another model than the index has": (["search", "x", "-i", "notes", "--embedder", "hashing:32"], 4, "hashing"),
    "an unknown model": (["search", "x", "-i", "notes", "--embedder", "nope"], 3, "nope"),
    "an unknown model to pull": (["models", "pull", "nope"], 3, "nope"),
    "a path that is not there": (["sync", "nowhere/at/all", "-i", "notes"], 3, "nowhere/at/all"),
    "a file that is not there": (["add", "nowhere.txt", "-i", "notes"], 3, "nowhere.txt"),
    "a folder to add": (["add", ".", "-i", "notes"], 2, "folder"),
    "metadata without a value": (["add", "-", "--meta", "author", "-i", "notes"], 2, "--meta"),
    "a title for a file": (["add", "x.txt", "--title", "X", "-i", "notes"], 2, "--title"),
    "an unknown document": (["show", "nope", "-i", "notes"], 3, "no document 'nope'"),
    "an unknown document to remove": (["rm", "nope", "-i", "notes"], 3, "no document 'nope'"),
    "an unknown setting": (["--set", "search.q=1", "config", "show"], 2, "search.q"),
    "a setting without a value": (["--set", "search.k", "config", "show"], 2, "--set search.k"),
    "a setting out of range": (["--set", "search.bm25=b:2", "search", "x"], 2, "search.bm25.b"),
    "a settings file that is not there": (["--config", "nope.yaml", "config", "show"], 3, "nope.yaml"),
    "an unknown analyzer": (["index", "create", "new", "--analyzer", "klingon"], 2, "klingon"),
    "no collection to measure": (["eval", "nowhere"], 3, "nowhere"),
    "an unknown mode to measure": (["eval", ".", "-m", "both"], 2, "no mode"),
}

LINES = re.compile(r"twofold: [^\n]+\n(  [^\n]+\n)?")


@pytest.mark.parametrize(("words", "code", "says"), REFUSALS.values(), ids=REFUSALS)
@pytest.mark.usefixtures("ready")
def test_it_is_refused(run: Run, words: list[str], code: int, says: str) -> None:
    before = run("ls", "-i", "notes", "--json").data

    done = run(*words, given="some text")

    assert done.code == code
    assert says in done.err
    assert LINES.fullmatch(done.err)
    assert done.out == ""
    assert run("ls", "-i", "notes", "--json").data == before
    assert [one["name"] for one in run("index", "list", "--json").data] == ["notes"]


USAGE = {
    "an unknown command": ["serach", "x"],
    "an unknown option": ["search", "x", "--explian"],
    "a number that is none": ["search", "x", "-k", "ten"],
    "nothing to sync": ["sync"],
}


@pytest.mark.parametrize("words", USAGE.values(), ids=USAGE)
def test_wrong_usage_exits_with_2_and_shows_the_usage(run: Run, words: list[str]) -> None:
    done = run(*words)

    assert done.code == 2
    assert "Usage: twofold" in done.err
    assert done.out == ""


def test_a_mistyped_command_is_told_the_right_one(run: Run) -> None:
    assert "Did you mean 'search'" in run("serach").err


def test_a_path_that_leads_nowhere_is_named_and_the_rest_is_kept(run: Run, notes: Path) -> None:
    (notes / "lost").symlink_to(notes / "gone")

    done = run("sync", notes, "-i", "notes", "--json")

    assert done.code == 0
    assert len(done.data["added"]) == 3
    assert [Path(one["path"]).name for one in done.data["skipped"]] == ["lost"]
    assert done.data["skipped"][0]["reason"]


@pytest.mark.skipif(not Path("/proc/1/mem").exists(), reason="only Linux has a file that not even root may read")
def test_a_file_that_may_not_be_read_is_one_failure(run: Run) -> None:
    done = run("sync", "/proc/1/mem", "-i", "notes")

    assert done.code == 9
    assert "! /proc/1/mem: " in done.out
    assert "could not be read; everything else is kept" in done.err


def test_an_unforeseen_error_is_one_line_and_debug_shows_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(_: object) -> None:
        raise ZeroDivisionError("a\x1bb")

    monkeypatch.setattr("twofold.cli.commands.config.write_json", explode)

    plain = run("config", "show", "--json")
    debug = run("--debug", "config", "show", "--json")

    assert plain.code == 1
    assert plain.err.startswith("twofold: unforeseen ZeroDivisionError: a\\x1bb\n")
    assert "--debug" in plain.err
    assert debug.code == 1
    assert "Traceback" in debug.err


def test_the_documented_exit_codes_are_those_of_the_errors(repository: Path) -> None:
    page = (repository / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    documented = {
        name: int(code)
        for code, names in re.findall(r"^\| (\d+) \| ([^|]*) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.TwofoldError)]

    assert documented == {kind.__name__: kind.exit_code for kind in kinds if kind is not errors.TwofoldError}
