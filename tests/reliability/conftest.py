"""What holds for the reliability tests: processes beside them find the tests' modules, and disks are fast."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108


@pytest.fixture(autouse=True)
def importable_tests(own_home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started from a test import the modules beside it."""
    assert own_home is None
    tests = str(Path(__file__).resolve().parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def quick_path() -> Iterator[Path]:
    """Give a folder in memory where there is one: what processes do to each other does not depend on a real disk."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="twofold-", dir=place) as folder:
        yield Path(folder)
