"""What holds for the reliability tests: processes beside them find the tests' modules, and so begin fast."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def importable_tests(own_home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started from a test import the modules beside it."""
    assert own_home is None
    tests = str(Path(__file__).resolve().parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
