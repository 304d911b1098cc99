"""Answers where the cross-encoder that reads their sentences is missing or broken: each says so once, with a remedy."""

import os
import shutil
from pathlib import Path

import pytest

from support.api_client import visiting
from surfaces.conftest import Run
from twofold.domain.warning import StageWarning, WarningCode
from twofold.index import Index
from twofold.models.catalog.entries import DEFAULT, MS_MARCO
from twofold.models.catalog.files import folder_of, is_fetched, is_present

pytestmark = pytest.mark.model
QUESTION = "Where does the Eiffel tower stand?"
PULL = f"Run `twofold models pull {MS_MARCO.name}`."
SAID = f"Sentences are chosen by words and vectors alone, since the cross-encoder {MS_MARCO.name} is not here. {PULL}"
CHINESE = "埃菲尔铁塔位于巴黎。它于一八八九年建成。塔高三百三十米。"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_models: Path) -> Path:
    """A folder of models with the default embedder alone."""
    if not (is_present(DEFAULT, real_models) and is_fetched(MS_MARCO, real_models)):
        pytest.skip(f"no {DEFAULT.name} with {MS_MARCO.name} in {real_models}")
    folder = tmp_path / "models"
    folder.mkdir()
    folder_of(DEFAULT, folder).symlink_to(folder_of(DEFAULT, real_models))
    monkeypatch.setenv("TWOFOLD_MODELS", str(folder))
    monkeypatch.delenv("TWOFOLD_EMBEDDER")
    return folder


@pytest.fixture
def indexed_notes(run: Run, notes: Path, models: Path) -> Path:  # noqa: ARG001  # the folder of models comes first
    """An index that has vectors."""
    assert run("sync", notes, "-i", "notes").code == 0
    return notes


def fetch(models: Path, real_models: Path) -> Path:
    """Put the cross-encoder's files there as a wheel brings them: not converted."""
    folder = folder_of(MS_MARCO, models)
    folder.mkdir()
    for file in MS_MARCO.files:
        shutil.copy(folder_of(MS_MARCO, real_models) / file.name, folder)
    return folder


@pytest.mark.usefixtures("indexed_notes")
def test_its_absence_is_said_once_in_the_library_on_the_command_line_over_http_and_to_language_models(
    run: Run, models: Path
) -> None:
    with Index("notes", create=False) as index:
        answer = index.ask(QUESTION, effort="high")
    shown = run("ask", "-i", "notes", QUESTION)
    home, said = Path(os.environ["TWOFOLD_HOME"]), {"models": str(models), "index": "notes"}
    with visiting(home, embedder=None, said=said) as visit:
        told = visit.client.post("/v1/indexes/notes/ask", json={"query": QUESTION, "stream": False}).json()
        call = {"name": "ask", "arguments": {"question": QUESTION}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accepts = {"Accept": "application/json, text/event-stream"}
        heard = visit.client.post("/mcp", json=asked, headers=accepts).text

    assert "Eiffel tower stands in Paris" in answer.text
    assert answer.warnings == (StageWarning("extract", WarningCode.SKIPPED, SAID),)
    assert answer.degraded
    assert shown.out.count(MS_MARCO.name) == 2  # what is missing, and how to fetch it
    assert f"Warning: extract skipped: {SAID}" in shown.out
    assert told["warnings"] == [{"stage": "extract", "code": "skipped", "message": SAID, "collection": ""}]
    assert told["degraded"]
    assert SAID in heard


@pytest.mark.usefixtures("indexed_notes")
def test_a_refusal_says_it_too_since_it_may_be_why(run: Run) -> None:
    done = run("ask", "-i", "notes", "--json", "Who composed the opera about the barber of Seville?")

    assert done.data["refused"]
    assert [one["message"] for one in done.data["warnings"]] == [SAID]


@pytest.mark.usefixtures("indexed_notes")
def test_nothing_is_said_once_it_is_there(run: Run, models: Path, real_models: Path) -> None:
    fetch(models, real_models)
    done = run("ask", "-i", "notes", "--json", QUESTION)

    assert done.data["warnings"] == []
    assert done.data["evidence"]["reader"] == MS_MARCO.name


@pytest.mark.usefixtures("models")
def test_nothing_is_said_where_it_is_not_used_by_design(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tower").mkdir()
    (tmp_path / "tower" / "tower.txt").write_text(CHINESE)
    assert run("sync", tmp_path / "tower", "-i", "tower").code == 0
    chinese = run("ask", "-i", "tower", "--json", "埃菲尔铁塔位于哪里?")
    unwanted = run("--set", "answer.reply=reader:none", "ask", "-i", "tower", "--json", "Where is the tower?")
    plain = run("ask", "-i", "tower", "埃菲尔铁塔位于哪里?")

    assert chinese.data["warnings"] == unwanted.data["warnings"] == []
    assert "chosen by words and vectors" in plain.out or "No answer" in plain.out


@pytest.mark.usefixtures("indexed_notes")
def test_one_that_cannot_be_loaded_is_named_once_with_what_to_do(run: Run, models: Path, real_models: Path) -> None:
    folder = fetch(models, real_models)
    (folder / "model.onnx").write_bytes(bytes(MS_MARCO.weights.size))
    done = run("ask", "-i", "notes", "--json", QUESTION)

    assert "Eiffel tower stands in Paris" in done.data["text"]
    (warning,) = done.data["warnings"]
    assert (warning["stage"], warning["code"]) == ("extract", "unavailable")
    assert warning["message"].startswith("Sentences are chosen by words alone. ")
    assert "twofold models pull" in warning["message"]


def test_a_model_that_awaits_its_conversion_is_sound(run: Run, models: Path, real_models: Path) -> None:
    folder = fetch(models, real_models)
    sound = run("models", "verify", MS_MARCO.name)
    listed = run("models", "verify", MS_MARCO.name, "--json")
    checked = run("doctor").out
    (folder / "model.onnx").write_bytes(bytes(MS_MARCO.weights.size))
    damaged = run("models", "verify", MS_MARCO.name)
    shutil.rmtree(folder)
    missing = run("models", "verify", MS_MARCO.name)

    assert (sound.code, sound.err) == (0, "")
    assert sound.out == f"{MS_MARCO.name}: every byte is right; converted when it is first used\n"
    assert listed.data == {MS_MARCO.name: []}
    assert f"{MS_MARCO.name}: every byte is right" in checked
    assert damaged.code == 7
    assert f"{MS_MARCO.name}: damaged" in damaged.out
    assert missing.code == 7
    assert missing.out == f"{MS_MARCO.name}: not fetched\n"
    assert PULL in damaged.err
    assert PULL in missing.err
    assert f"{MS_MARCO.name}: not fetched" in run("doctor").out
