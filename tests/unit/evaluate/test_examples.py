"""The worked numbers in the docstrings are true."""

import doctest
from types import ModuleType

import pytest

from twofold.evaluate import compare, metrics, report, runs
from twofold.query import prose


@pytest.mark.parametrize("module", [compare, metrics, report, runs, prose], ids=lambda module: module.__name__)
def test_the_worked_numbers_hold(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
