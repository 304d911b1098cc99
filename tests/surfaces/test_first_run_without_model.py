"""A first run on a machine that has no model and cannot fetch one: documents are found by their words at once."""

from pathlib import Path

import pytest

from surfaces.conftest import Run

DEFAULT = "bge-small-en-v1.5"


@pytest.fixture(autouse=True)
def without_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The default settings, an empty folder of models, and no network."""
    monkeypatch.delenv("TWOFOLD_EMBEDDER")
    monkeypatch.setenv("TWOFOLD_OFFLINE", "1")
    monkeypatch.setenv("TWOFOLD_MODELS", str(tmp_path / "models"))


def test_a_folder_is_searched_by_words_and_standard_error_says_how_to_add_meaning(run: Run, notes: Path) -> None:
    synced = run("sync", notes, "-i", "notes")
    found = run("search", "reset softly", "-i", "notes", "--json")
    again = run("sync", notes, "-i", "notes")

    assert synced.code == 0
    assert "3 added" in synced.out
    assert "BM25 alone" in synced.err
    assert f"`twofold models pull {DEFAULT}`, then `twofold index reindex notes --embedder {DEFAULT}`" in synced.err
    assert found.data["hits"][0]["source"].endswith("git.md")
    assert (again.code, again.err) == (0, "")
    assert "3 unchanged" in again.out
    assert run("index", "info", "notes", "--json").data["fingerprint"]["embedder"]["name"] == "none"


@pytest.mark.parametrize("command", ["ask", "add"])
def test_the_other_ways_to_fill_an_index_do_the_same(run: Run, notes: Path, command: str) -> None:
    words = ("ask", notes, "How do I undo the last commit?") if command == "ask" else ("add", notes / "git.md")
    done = run(*words)

    assert "BM25 alone" in done.err
    assert done.code == 0


def test_a_model_that_somebody_chose_is_not_left_out(run: Run, notes: Path) -> None:
    chosen = run("sync", notes, "-i", "notes", "--embedder", DEFAULT)

    assert chosen.code == 8
    assert "--embedder none" in chosen.err
    assert run("search", "reset", "-i", "notes").code == 3  # nothing was made


def test_an_index_with_vectors_is_not_continued_without_them(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TWOFOLD_MODELS")
    assert run("sync", notes / "tower.txt", "-i", "notes").code == 0
    monkeypatch.setenv("TWOFOLD_MODELS", str(tmp_path / "gone"))
    later = run("sync", notes, "-i", "notes")

    assert later.code == 8
    assert "BM25 alone" not in later.err


def test_meaning_is_added_once_the_model_is_there(run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("sync", notes, "-i", "notes")
    monkeypatch.delenv("TWOFOLD_MODELS")
    again = run("index", "reindex", "notes", "--embedder", DEFAULT)
    found = run("search", "Where is the metal spire of France's capital?", "-i", "notes", "--mode", "vector", "--json")

    assert again.code == 0
    assert found.data["hits"][0]["source"].endswith("tower.txt")
