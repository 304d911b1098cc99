"""Checklist 27, C4 and C7: the sum of scores normalised already, and the fusion by rank of the same weights."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.fuse import normalised, weighted_reciprocal_rank, weighted_sum
from twofold.ranking.normalise import normaliser

A, B, C = 1, 2, 3
SEMANTIC = Ranking.of([A, B, C], [0.92, 0.89, 0.75])
KEYWORD = Ranking.of([A, B], [0.85, 0.60])


def sums(normalisation: str) -> list[tuple[int, float]]:
    keyword = normalised(KEYWORD, normaliser(normalisation))
    return [(hit.key, round(hit.score, 3)) for hit in weighted_sum([SEMANTIC, keyword], [0.6, 0.4])]


def test_a_b_and_c_score_as_worked_out_and_the_one_in_a_single_arm_keeps_its_part() -> None:
    assert sums("none") == [(A, 0.892), (B, 0.774), (C, 0.450)]


def test_divided_by_its_best_the_0_85_would_be_1() -> None:
    assert sums("max")[0] == (A, round(0.6 * 0.92 + 0.4 * 1.0, 3))


def test_no_passage_comes_twice() -> None:
    assert [key for key, _ in sums("none")] == [A, B, C]


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.7, 1.0])
def test_weights_by_rank_are_another_form_and_first_in_both_is_1_61(weight: float) -> None:
    fused = {hit.key: hit.score for hit in weighted_reciprocal_rank(KEYWORD, SEMANTIC, weight)}

    assert fused[A] == pytest.approx(1 / 61)
    assert fused[B] == pytest.approx(1 / 62)
    assert fused[C] == pytest.approx(weight / 63)
