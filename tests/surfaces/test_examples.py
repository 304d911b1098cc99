"""The examples run, as they stand, in a process of their own."""

import subprocess
import sys
from pathlib import Path

import pytest


def run(repository: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout


def test_a_score_is_taken_apart(repository: Path) -> None:
    said = run(repository, "examples/explain_a_score.py")
    assert said.startswith("omega scores")
    assert "last: 1 times" in said


def test_documents_of_ones_own_are_found_by_their_fields(repository: Path) -> None:
    said = run(repository, "examples/documents_of_your_own.py").splitlines()
    assert said == [
        "T-2 Please make the export faster. Done in 2.1.",
        "T-3 Login fails after the password was changed.",
        "2 left",
    ]


def test_a_folder_is_searched(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cat.md").write_text("# Cats\n\nThe cat sat on the mat.")
    (tmp_path / "dog.md").write_text("# Dogs\n\nThe dog sat on the log.")
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    said = run(repository, "examples/search_a_folder.py", str(tmp_path), "who", "sat", "on", "the", "mat")
    assert said.startswith(f"1. {tmp_path.resolve()}/cat.md Cats")


def test_a_search_becomes_a_table(repository: Path) -> None:
    said = run(repository, "examples/dataframe.py").splitlines()
    assert said == [
        "rank,source,metadata.year,text",
        "1,cat.txt,2024,The cat sat on the mat.",
        "2,dog.txt,2025,The dog sat on the log.",
    ]
