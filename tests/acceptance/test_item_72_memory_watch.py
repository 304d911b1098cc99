"""Checklist 72: the memory in use and the loaded models are reported; more than 8 GB is a warning, and is collected."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.api_client import fill, visiting
from twofold import Index
from twofold.search.metrics import MEGABYTE, MemoryUse, MemoryWatch
from twofold.system import memory
from twofold.system.memory import resident_bytes


def test_more_than_8_gb_is_a_warning_and_8_gb_are_none() -> None:
    assert MemoryUse(8_192.0).warning == ""
    assert MemoryUse(8_193.0).warning == "8,193 MB of memory are in use, more than the 8,192 MB that were set."
    assert MemoryUse(8_193.0, limit_mb=0.0).warning == ""


def test_the_report_names_resident_memory_and_loaded_models() -> None:
    with Index(":memory:", overrides={"embedder": "hashing"}) as index:
        index.add("The cat sat on the mat.", source="a.txt")
        index.search("cat")
        metrics = index.metrics()

    assert 5.0 < metrics.memory.resident_mb < 8_192.0
    assert (metrics.memory.limit_mb, metrics.memory.warning, metrics.memory.collections) == (8_192.0, "", 0)
    assert metrics.loaded == ("hashing",)


def test_resident_memory_grows_with_what_is_held() -> None:
    before = resident_bytes()
    held = np.ones(64 * MEGABYTE, dtype=np.uint8)

    assert resident_bytes() - before > 48 * MEGABYTE
    assert held[0] == 1


def test_without_proc_the_peak_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now = resident_bytes()
    monkeypatch.setattr(memory, "STATM", tmp_path / "none")

    assert resident_bytes() >= 0.5 * now


class Knot:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(("limit", "collected"), [(1.0, True), (8_192.0, False), (0.0, False)])
def test_a_search_above_the_limit_warns_and_collects(
    limit: float, caplog: pytest.LogCaptureFixture, *, collected: bool
) -> None:
    with Index(":memory:", overrides={"embedder": "hashing", "limits": {"memory_mb": limit}}) as index:
        gone = weakref.ref(Knot())
        index.search("cat")
        index.search("cat again")
        metrics = index.metrics()

    assert (gone() is None) is collected
    assert metrics.memory.collections == int(collected)
    assert bool(metrics.memory.warning) is collected
    said = [record.getMessage() for record in caplog.records if "memory are in use" in record.getMessage()]
    assert len(said) == int(collected)


@pytest.mark.usefixtures("uncollected")
def test_documents_that_are_added_are_watched_too() -> None:
    with Index(":memory:", overrides={"embedder": "hashing", "limits": {"memory_mb": 1.0}}) as index:
        gone = weakref.ref(Knot())
        index.add("The cat sat on the mat.", source="a.txt")

        assert gone() is None
        assert index.metrics().memory.collections == 1


def test_the_server_reports_it(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, said={"limits": {"memory_mb": 1.0}}) as visit:
        visit.client.post("/v1/indexes/notes/search", json={"query": "cat"})
        lines = visit.client.get("/metrics").text.splitlines()

    assert 'twofold_search_collections_total{index="notes"} 1' in lines
    assert any(line.startswith("twofold_resident_megabytes ") for line in lines)


def test_after_a_minute_it_collects_again() -> None:
    now = [0.0]
    watch = MemoryWatch(1.0, lambda: now[0])
    for now[0] in (0.0, 59.0, 60.0, 61.0):
        watch.look()

    assert watch.use().collections == 2
