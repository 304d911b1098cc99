"""The command line as tests meet it: in this process for speed, or as a process of its own where that matters."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support.indexes import GIT
from twofold.cli.app import application
from twofold.config.load import load_settings
from twofold.index import Index


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:  # noqa: ANN401  # whatever JSON holds
        """What `--json` printed."""
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def small_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Embed without a model, away from any settings file."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("COLUMNS", "100")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""

    def invoke(*words: object, given: str | None = None) -> Outcome:
        result = CliRunner().invoke(application(), [str(word) for word in words], input=given, prog_name="twofold")
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture
def start() -> Run:
    """Run a command as a process of its own."""

    def invoke(*words: object, given: str | None = None, **surroundings: str) -> Outcome:
        command = [sys.executable, "-m", "twofold", *(str(word) for word in words)]
        done = subprocess.run(
            command, input=given, env={**os.environ, **surroundings}, capture_output=True, text=True, check=False
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return invoke


def write_notes(folder: Path) -> Path:
    """Write a small folder of documents, in three formats."""
    folder.mkdir()
    (folder / "git.md").write_text(
        "---\nauthor: Ada\n---\n# Undoing things\n\nTo undo the last commit but keep your changes, reset softly.\n\n"
        "## Stashing\n\nA stash puts changes aside and brings them back later.\n"
    )
    (folder / "tower.txt").write_text("The Eiffel tower stands in Paris. Error ERR-12345 is unknown there.\n")
    (folder / "prices.csv").write_text("fruit,price\napple,3\npear,4\n")
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A small folder of documents that a test may change."""
    return write_notes(tmp_path / "notes")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of such a folder, made once: reading starts worker processes, which takes its time."""
    folder = tmp_path_factory.mktemp("once")
    settings = load_settings(overrides={"embedder": "hashing", "offline": True, "home": str(folder)})
    with Index(folder / "index", settings=settings) as index:
        index.sync(write_notes(folder / "notes"))
    return folder / "index"


@pytest.fixture
def ready(made_once: Path) -> None:
    """The index `notes`, a copy of one that was made before, under this test's own home."""
    shutil.copytree(made_once, Path(os.environ["TWOFOLD_HOME"]) / "indexes" / "notes")


@pytest.fixture
def indexed(run: Run, notes: Path) -> Path:
    """A folder that a test may change, indexed as `notes`."""
    assert run("sync", notes, "--index", "notes").code == 0
    return notes


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder of five notes about git."""
    folder = tmp_path / "git"
    folder.mkdir()
    for name, text in GIT.items():
        (folder / name).write_text(text)
    return folder
