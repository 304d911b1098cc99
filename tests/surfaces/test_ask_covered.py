"""`ask PATH` of something that an index was synced from: that index is asked, and nothing is embedded twice."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
QUESTION = "Where is the Eiffel tower?"


def names() -> list[str]:
    """Name the indexes there are."""
    folder = Path(os.environ["TWOFOLD_HOME"]) / "indexes"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.usefixtures("indexed")
def test_a_synced_folder_is_asked_in_its_index(run: Run, notes: Path, tmp_path: Path) -> None:
    answered = run("ask", notes, QUESTION)
    assert answered.code == 0
    assert "Paris" in answered.out
    assert names() == ["notes"]
    (tmp_path / "link").symlink_to(notes, target_is_directory=True)
    for place in (notes / "tower.txt", tmp_path / "link", f"{notes}/"):
        assert "Paris" in run("ask", place, QUESTION).out
    assert names() == ["notes"]


def test_only_what_lies_below_the_path_is_asked(run: Run, tmp_path: Path) -> None:
    for name, town in (("a", "Paris"), ("b", "Prague")):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "tower.txt").write_text(f"The tower stands in {town}.")
    assert run("sync", tmp_path / "all", "-i", "all").code == 0

    said = run("ask", tmp_path / "all" / "b", "Where does the tower stand?", "--json").data
    assert {Path(source["source"]).parent.name for source in said["sources"]} == {"b"}
    assert names() == ["all"]


@pytest.mark.usefixtures("indexed")
def test_what_changed_is_followed_in_that_index(run: Run, notes: Path) -> None:
    (notes / "bridge.txt").write_text("The longest bridge stands in Danyang.")
    assert "Danyang" in run("ask", notes / "bridge.txt", "Where does the longest bridge stand?").out
    assert names() == ["notes"]
    assert len(run("ls", "-i", "notes", "--json").data) == 4


@pytest.mark.usefixtures("indexed")
def test_of_several_indexes_the_one_synced_last_is_asked_and_named(run: Run, notes: Path) -> None:
    assert run("sync", notes, "-i", "later").code == 0
    asked = run("ask", notes, QUESTION)
    assert "Asking the index later" in asked.err
    (notes / "more.txt").write_text("One more line.")
    assert run("sync", notes, "-i", "notes").code == 0
    asked = run("ask", notes, QUESTION)
    assert "Asking the index notes" in asked.err
    assert "later too" in asked.err
    assert "SearchOptions" not in asked.out
    assert names() == ["later", "notes"]


@pytest.mark.usefixtures("indexed")
def test_what_no_index_holds_gets_an_index_of_its_own(run: Run, notes: Path, tmp_path: Path) -> None:
    (notes / ".gitignore").write_text("build/\n")
    (notes / "build").mkdir()
    (notes / "build" / "tower.txt").write_text("The tower stands in Blackpool.")
    (tmp_path / "notes-2").mkdir()
    (tmp_path / "notes-2" / "tower.txt").write_text("The tower stands in Pisa.")

    assert "Blackpool" in run("ask", notes / "build", "Where does the tower stand?").out
    assert "Pisa" in run("ask", tmp_path / "notes-2", "Where does the tower stand?").out
    assert len(names()) == 3


def test_a_mistyped_index_is_refused_and_not_made(run: Run, notes: Path) -> None:
    for words in (
        ["search", "x"], ["ask", "x"], ["ls"], ["show", "x"], ["rm", "x"], ["index", "info"], ["index", "verify"],
        ["index", "compact"], ["index", "reindex"], ["index", "drop", "--yes"], ["why-not", "x", "y"],
        ["sync", notes / "no-such-file"],
    ):  # fmt: skip
        assert run(*words, "-i", "mistyped").code == 3, words
    assert run("sync", notes, "--dry-run", "-i", "mistyped").code == 0
    assert names() == []
