"""The worked numbers in the docstrings are true."""

import doctest
from types import ModuleType

import pytest

from twofold.evaluate import compare, metrics, report, running, runs


@pytest.mark.parametrize("module", [compare, metrics, report, running, runs], ids=lambda module: module.__name__)
def test_the_worked_numbers_hold(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
