"""Checklist 30: `dense + 0.35 · sparse + bonus`, and the average `0.7 · dense + 0.3 · sparse`."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.fuse import additive, average

DENSE, SPARSE = Ranking.of([7], [0.8]), Ranking.of([7], [0.5])


def score(ranking: Ranking) -> float:
    return next(iter(ranking)).score


def test_dense_0_8_sparse_0_5_bonus_0_15_make_1_125() -> None:
    assert score(additive(SPARSE, DENSE, bonuses={7: 0.15})) == pytest.approx(1.125)


def test_their_average_is_0_71() -> None:
    assert score(average(SPARSE, DENSE)) == pytest.approx(0.71)


def test_a_bonus_finds_nothing_that_no_arm_found() -> None:
    assert [hit.key for hit in additive(SPARSE, DENSE, bonuses={8: 0.15})] == [7]
