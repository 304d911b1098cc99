"""Checklist 47: no passage comes twice."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.diversify import Candidate, Limits, diversified
from twofold.ranking.fuse import best_of, reciprocal_rank, weighted_sum

ONE, OTHER = Ranking.of([1, 2], [0.9, 0.8]), Ranking.of([2, 3], [0.7, 0.6])


def test_a_passage_that_both_arms_found_is_fused_into_one() -> None:
    for fused in (weighted_sum([ONE, OTHER], [0.6, 0.4]), reciprocal_rank([ONE, OTHER]), best_of([ONE, OTHER])):
        assert sorted(fused.keys.tolist()) == [1, 2, 3]


def test_a_passage_that_several_collections_give_is_kept_once_at_its_best_place() -> None:
    candidates = [Candidate(key, "a.txt", None, "") for key in (2, 1, 2, 3, 1)]

    assert diversified(candidates, Limits(), k=10).kept == (2, 1, 3)


def test_a_ranking_cannot_hold_a_passage_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        Ranking.of([1, 1], [0.5, 0.4])
