"""Checklist 2: chunking by layout, by meaning, and by both, each through the command line or a configuration."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from twofold import Index
from twofold.cli.app import application

HOW = ("softly", "loudly", "gently", "often", "rarely", "twice")
WHERE = ("north", "south", "east", "west", "home", "away")
CATS = [f"The cat purred {word} while the kitten napped." for word in HOW]
SHIPS = [f"A ship sailed {word} past every anchored boat." for word in WHERE]
LONG = "# Log\n\n" + " ".join((*CATS, *SHIPS)) + "\n"
TEXT = "# Harbor\n\n" + " ".join((*CATS[:2], *SHIPS[:2])) + f"\n\n{LONG}"
SIZE = 64  # tokens: the first section fits, the second does not

Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command and give what it printed as data."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")

    def invoke(*words: object) -> Any:  # noqa: ANN401
        done = CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    return invoke


def passages(run: Run, folder: Path, strategy: str, written: str = TEXT) -> Sequence[str]:
    """Index a text in a fresh index, cut by a strategy, and give its passages."""
    (folder / "log.md").write_text(written)
    settings = ("--set", f"chunk.strategy={strategy}", "--set", f"chunk.size={SIZE}")
    run(*settings, "sync", folder / "log.md", "-i", strategy, "--json")
    return [one["text"] for one in run(*settings, "show", "-i", strategy, "log.md", "--chunks", "--json")["chunks"]]


def mixed(texts: Sequence[str]) -> list[bool]:
    """Say of each passage whether it speaks of cats and of ships."""
    return ["cat" in text and "ship" in text for text in texts]


def test_hybrid_keeps_sections_that_fit_and_cuts_long_ones_where_the_subject_changes(run: Run, tmp_path: Path) -> None:
    texts = passages(run, tmp_path, "hybrid")

    assert texts[0] == "# Harbor\n\n" + " ".join((*CATS[:2], *SHIPS[:2]))
    assert mixed(texts[1:]) == [False] * len(texts[1:])
    assert any(text.endswith(CATS[-1]) for text in texts)
    assert any(text.startswith(SHIPS[0]) for text in texts)


def test_layout_cuts_a_long_section_by_size_alone(run: Run, tmp_path: Path) -> None:
    texts = passages(run, tmp_path, "structure")

    assert texts[0] == "# Harbor\n\n" + " ".join((*CATS[:2], *SHIPS[:2]))
    assert any(mixed(texts[1:]))


def test_meaning_cuts_where_the_subject_changes(run: Run, tmp_path: Path) -> None:
    assert not any(mixed(passages(run, tmp_path, "semantic", LONG)))


@pytest.mark.parametrize(
    ("name", "strategy"), [("layout", "structure"), ("hybrid", "hybrid"), ("semantic", "semantic")]
)
def test_the_names_of_the_other_system_are_understood(tmp_path: Path, name: str, strategy: str) -> None:
    config = tmp_path / "modes.yaml"
    config.write_text(f"retrieval_mode: hybrid\nchunking_strategy: {name}\n")

    with Index(":memory:", config=config, overrides={"embedder": "hashing"}) as index:
        assert index.settings.chunk.strategy == strategy
        assert index.settings.profile == "modes"
