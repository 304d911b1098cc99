"""The worked numbers in the docstrings are true."""

import doctest
from types import ModuleType

import pytest

from twofold.evaluation import metrics, report, runs, significance
from twofold.query import parse


@pytest.mark.parametrize("module", [significance, metrics, report, runs, parse], ids=lambda module: module.__name__)
def test_the_worked_numbers_hold(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
