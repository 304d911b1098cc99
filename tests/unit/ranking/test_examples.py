"""The worked numbers in the docstrings are true."""

import doctest
from types import ModuleType

import pytest

from twofold.ranking import (
    blend,
    boost,
    confidence,
    diversify,
    feedback,
    fusion,
    metadata,
    neighbours,
    normalise,
)

MODULES = (blend, boost, confidence, diversify, feedback, fusion, metadata, neighbours, normalise)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_worked_numbers_hold(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
