"""Checklist 72: the memory in use and the loaded models are reported; more than 8 GB is a warning, and is collected."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from twofold.pipeline import memory_watch
from twofold.pipeline.memory_watch import MEGABYTE, MemoryUse, memory_use, relieve, resident_bytes
from twofold.pipeline.metrics import Meter


def test_more_than_8_gb_is_a_warning_and_8_gb_are_none() -> None:
    assert MemoryUse(8_192.0).warning == ""
    assert MemoryUse(8_193.0).warning == "8,193 MB of memory are in use, more than the 8,192 MB that were set."
    assert MemoryUse(8_193.0, limit_mb=0.0).warning == ""


def test_the_report_names_resident_memory_and_loaded_models() -> None:
    metrics = Meter().snapshot(loaded=("bge-small-en-v1.5",))

    assert 5.0 < metrics.memory.resident_mb < 8_192.0
    assert metrics.memory.warning == ""
    assert metrics.loaded == ("bge-small-en-v1.5",)
    assert Meter().snapshot(limit_mb=1.0).memory.warning


def test_resident_memory_grows_with_what_is_held() -> None:
    before = resident_bytes()
    held = np.ones(64 * MEGABYTE, dtype=np.uint8)

    assert resident_bytes() - before > 48 * MEGABYTE
    assert held[0] == 1


def test_without_proc_the_peak_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now = resident_bytes()
    monkeypatch.setattr(memory_watch, "STATM", tmp_path / "none")

    assert resident_bytes() >= 0.5 * now


class Knot:
    def __init__(self) -> None:
        self.itself = self


def test_garbage_is_collected_where_there_is_a_warning_and_not_otherwise() -> None:
    gc.disable()
    try:
        gone = weakref.ref(Knot())
        assert not relieve(MemoryUse(100.0))
        assert gone() is not None
        assert relieve(memory_use(limit_mb=1.0))
        assert gone() is None
    finally:
        gc.enable()
