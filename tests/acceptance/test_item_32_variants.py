"""Checklist 32: the best score of each passage over the variants of a question, in each arm, before fusion."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.fuse import best_of, reciprocal_rank

DENSE = [Ranking.of([1, 2], [0.9, 0.4]), Ranking.of([2, 3], [0.8, 0.7]), Ranking.of([1], [0.2])]
LEXICAL = [Ranking.of([3], [4.0]), Ranking.of([3, 2], [9.0, 1.0])]


def test_each_passage_keeps_its_best_score_in_each_arm() -> None:
    assert list(best_of(DENSE)) == [(1, 0.9), (2, 0.8), (3, 0.7)]
    assert list(best_of(LEXICAL)) == [(3, 9.0), (2, 1.0)]


def test_ranks_are_taken_from_the_merged_arms() -> None:
    fused = {hit.key: hit.score for hit in reciprocal_rank([best_of(DENSE), best_of(LEXICAL)])}

    assert fused == pytest.approx({3: 1 / 63 + 1 / 61, 2: 1 / 62 + 1 / 62, 1: 1 / 61})


def test_a_passage_that_several_variants_find_does_not_count_several_times() -> None:
    assert list(best_of([DENSE[0]] * 3)) == list(DENSE[0])
