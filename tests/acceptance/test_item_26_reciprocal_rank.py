"""Checklist 26: RRF, `Σ 1 / (60 + rank)`, ranks from 1, to nine decimals."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.fuse import reciprocal_rank

KEY = 1


def at(rank: int) -> Ranking:
    """Make an arm that lists KEY at a rank, and others above it."""
    return Ranking.of([*range(1000, 999 + rank), KEY], [-float(place) for place in range(rank)])


def score(*ranks: int) -> float:
    return next(hit.score for hit in reciprocal_rank([at(rank) for rank in ranks]) if hit.key == KEY)


@pytest.mark.parametrize(("ranks", "value"), [((1, 1), 0.032786885), ((5, 5), 0.030769231), ((1, 5), 0.031778058)])
def test_the_worked_numbers(ranks: tuple[int, int], value: float) -> None:
    assert round(score(*ranks), 9) == value


@pytest.mark.parametrize("rank", [1, 2, 10, 100, 999])
def test_in_both_beats_in_one_and_a_better_rank_beats_a_worse(rank: int) -> None:
    assert score(rank, rank) > score(rank)
    assert score(rank) > score(rank + 1)
    assert score(rank, 7) > score(rank + 1, 7)
