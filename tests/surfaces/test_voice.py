"""Questions that are spoken: `twofold ask --voice`, and the route that the page's microphone sends to."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.api_client import fill, visiting
from support.speech import spoken, wav
from twofold import Index

Run = Callable[..., Any]
WORDS = "How tall is the tower?"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "question.wav"
    path.write_bytes(spoken(WORDS))
    return path


@pytest.mark.model
def test_a_spoken_question_is_answered_and_shown(run: Run, recording: Path) -> None:
    with Index("towers", overrides={"embedder": "hashing"}) as index:
        index.add("The tower is 324 metres tall.", source="tower.md")
    done = run("--set", "answer.min_answerability=0", "ask", "-i", "towers", "--voice", recording)

    assert done.code == 0, done.err
    assert f"Heard: {WORDS}" in done.err
    assert "324 metres" in done.out


@pytest.mark.model
def test_the_route_gives_the_words_and_their_times(tmp_path: Path, recording: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        sent = visit.client.post(
            "/v1/transcriptions", content=recording.read_bytes(), headers={"content-type": "audio/wav"}
        )
        silence = visit.client.post("/v1/transcriptions", content=wav(b"\0\0" * 16_000))

    assert (sent.status_code, sent.json()["text"], sent.json()["language"]) == (200, WORDS, "en")
    (segment,) = sent.json()["segments"]
    assert segment["start"] == 0.0
    assert 1.0 < segment["end"] < 3.0
    assert (silence.status_code, silence.json()["segments"]) == (200, [])


def test_what_is_no_recording_is_refused_everywhere(run: Run, tmp_path: Path) -> None:
    noise = tmp_path / "noise.wav"
    noise.write_bytes(b"not a recording")
    done = run("ask", "--voice", noise)
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        sent = visit.client.post("/v1/transcriptions", content=b"not a recording")
        long = visit.client.post("/v1/transcriptions", content=wav(b"\0" * 61 * 8_000, rate=8_000, bits=8))
        huge = visit.client.post("/v1/transcriptions", content=bytes((8 << 20) + 1))

    assert (done.code, "no WAV file" in done.err) == (2, True)
    assert (sent.status_code, long.status_code, huge.status_code) == (400, 400, 413)
    assert "61 s, more than 60" in long.json()["detail"]


def test_without_the_extra_it_says_what_to_install(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silence = tmp_path / "silence.wav"
    silence.write_bytes(wav(b"\0\0" * 16_000))
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "twofold.models.transcribers.whisper.find_spec", lambda name: None if name == "ctranslate2" else found(name)
    )
    done = run("ask", "--voice", silence)

    assert done.code != 0
    assert "twofold[voice]" in done.err


def test_a_question_is_needed_from_somewhere(run: Run) -> None:
    done = run("ask")

    assert (done.code, "There is no question" in done.err) == (2, True)
