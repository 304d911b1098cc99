"""Recordings as documents: read by ear where something can hear, cited by their times, reported where nothing can."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.api_client import fill, visiting
from support.speech import spoken, wav
from twofold import Index
from twofold.domain.errors import ReadError

Run = Callable[..., Any]
TOUR = (
    "The museum opens at nine in the morning. Visitors leave their coats at the entrance. The first room shows "
    "paintings of rivers and mountains. In the second room there are old maps of the harbor. The third room holds a "
    "collection of clocks. Guided tours begin at eleven. The garden behind the house is open in summer. Children under "
    "six years pay nothing. The library on the second floor keeps twelve thousand books. Photography is allowed "
    "without flash. The restaurant closes at five in the afternoon. The last bus to the station leaves at seven."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "museum"
    made.mkdir()
    return made


@pytest.mark.model
def test_what_is_said_is_found_and_cited_by_its_time(run: Run, folder: Path) -> None:
    """42 seconds: two passages, of which the second begins after half a minute and goes on to the last word."""
    (folder / "tour.wav").write_bytes(spoken(TOUR))
    (folder / "silence.wav").write_bytes(wav(b"\0\0" * 16_000))
    (folder / "strange.wav").write_bytes(wav(bytes(64_000), bits=12))

    synced = run("sync", folder, "-i", "museum", "--embedder", "hashing")
    early = run("search", "-i", "museum", "-m", "bm25", "-k", "1", "paintings of rivers and mountains")
    late = run("search", "-i", "museum", "-m", "bm25", "-k", "1", "restaurant closes")
    shown = run("show", "tour.wav", "-i", "museum")

    assert synced.code == 9, synced.err
    assert "strange.wav" in synced.out + synced.err
    assert "ffmpeg -i FILE" in synced.out + synced.err
    assert "tour.wav (00:00:00)" in early.out
    assert "tour.wav (00:00:3" in late.out
    assert "restaurant" not in early.out
    assert "station" in shown.out
    assert "English only" in shown.out


@pytest.mark.model
def test_an_uploaded_recording_is_read_as_a_synced_one(tmp_path: Path) -> None:
    fill(tmp_path)
    sound = spoken("Ring the bell at the gate.")
    with visiting(tmp_path) as visit:
        sent = visit.client.post("/v1/indexes/notes/documents", files=[("file", ("bell.wav", sound))])
        with visit.client.stream("GET", f"/v1/jobs/{sent.json()['id']}/events", timeout=120) as events:
            events.read()
        found = visit.client.post(
            "/v1/search", json={"indexes": ["notes"], "query": "bell at the gate", "mode": "bm25"}
        )

    assert found.status_code == 200, found.text
    assert found.json()["hits"][0]["source"] == "bell.wav"


def test_a_recording_that_nothing_can_hear_is_reported_with_what_to_do(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The models' folder of this run is empty, so that the reader has no model."""
    monkeypatch.setenv("TWOFOLD_MODELS", str(folder.parent / "none"))
    (folder / "tour.wav").write_bytes(wav(b"\0\0" * 16_000))
    (folder / "note.txt").write_text("Tours begin at eleven.")

    done = run("sync", folder, "-i", "museum", "--embedder", "hashing")

    assert done.code == 9
    assert "tour.wav" in done.out + done.err
    assert "pip install 'twofold[voice]'" in done.out + done.err
    assert "1 added" in done.out + done.err


def test_without_the_extra_it_is_reported_as_well(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "twofold.models.transcribers.recording.find_spec", lambda name: None if name == "ctranslate2" else found(name)
    )
    (folder / "tour.wav").write_bytes(wav(b"\0\0" * 16_000))

    with (
        Index(tmp_path / "index", overrides={"embedder": "hashing"}) as index,
        pytest.raises(ReadError, match="speech recognition, in English") as caught,
    ):
        index.add_file(folder / "tour.wav")

    assert caught.value.kind == "no-text-layer"
    assert "twofold[voice]" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data"), [("a.mp3", b"ID3\x04" + bytes(99)), ("a.mp3", b"\xff\xfb\x90" + bytes(99)), ("a.m4a", bytes(99))]
)
def test_other_recordings_are_told_how_to_become_one(tmp_path: Path, folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)

    with (
        Index(tmp_path / "index", overrides={"embedder": "hashing"}) as index,
        pytest.raises(ReadError, match="ffmpeg -i FILE") as caught,
    ):
        index.add_file(folder / name)

    assert caught.value.kind == "unsupported"


def test_what_is_said_in_another_half_minute_is_another_passage(tmp_path: Path, folder: Path) -> None:
    """Cues at 0:05 and 0:50: a passage that held both would cite the kiln by the time of the guard."""
    words = "and some more words, so that it is no tiny passage that joins its neighbor, " * 3
    cues = f"1\n00:00:05,000 --> 00:00:09,000\nThe guard sleeps {words}\n\n"
    cues += f"2\n00:00:50,000 --> 00:00:55,000\nThe kiln is lit {words}\n"
    (folder / "talk.srt").write_text(cues)

    with Index(tmp_path / "index", overrides={"embedder": "hashing"}) as index:
        index.add_file(folder / "talk.srt")
        (hit,) = index.search("kiln", mode="bm25").hits

    assert hit.place == "00:00:50"
