"""The worked numbers in the docstrings are true."""

import doctest
from types import ModuleType

import pytest

from twofold.ranking import (
    boost,
    confidence,
    context_window,
    diversify,
    fusion,
    metadata_boost,
    normalize,
    prf,
    rerank_blend,
)

MODULES = (rerank_blend, boost, confidence, diversify, prf, fusion, metadata_boost, context_window, normalize)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_worked_numbers_hold(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
