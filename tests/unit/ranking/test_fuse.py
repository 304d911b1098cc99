"""The worked examples of the checklist, number by number, and what is refused."""

from collections.abc import Sequence

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import EMPTY_RANKING, Ranking
from twofold.ranking.fuse import (
    additive,
    average,
    best_of,
    distribution_based,
    linear,
    log_odds,
    reciprocal_rank,
    weighted_reciprocal_rank,
    weighted_sum,
)
from twofold.ranking.normalise import none


def at_rank(key: int, rank: int) -> Ranking:
    """Make an arm in which `key` stands at this rank, behind others of its own."""
    others = [1000 * key + place for place in range(rank - 1)]
    return Ranking.of([*others, key], [float(rank - place) for place in range(rank)])


def score_of(key: int, ranking: Ranking) -> float:
    return next(hit.score for hit in ranking if hit.key == key)


@pytest.mark.parametrize(("first", "second", "score"), [(1, 1, 0.032786885), (5, 5, 0.030769231), (1, 5, 0.031778058)])
def test_reciprocal_rank_gives_the_published_numbers(first: int, second: int, score: float) -> None:
    fused = reciprocal_rank([at_rank(1, first), at_rank(1, second)])
    assert round(score_of(1, fused), 9) == score


def test_weighted_reciprocal_rank_of_two_firsts_is_one_over_61() -> None:
    assert score_of(1, weighted_reciprocal_rank(at_rank(1, 1), at_rank(1, 1), 0.7)) == pytest.approx(1 / 61, abs=1e-15)


def test_weighted_reciprocal_rank_gives_the_dense_arm_its_weight() -> None:
    fused = weighted_reciprocal_rank(at_rank(1, 2), at_rank(1, 3), 0.7)
    assert score_of(1, fused) == pytest.approx(0.3 / 62 + 0.7 / 63)


def test_weighted_sum_orders_a_b_c_at_their_numbers() -> None:
    semantic, keyword = Ranking.of([1, 2, 3], [0.92, 0.89, 0.75]), Ranking.of([1, 2], [0.85, 0.60])
    fused = weighted_sum([semantic, keyword], [0.6, 0.4])
    assert [(hit.key, round(hit.score, 3)) for hit in fused] == [(1, 0.892), (2, 0.774), (3, 0.450)]


def test_linear_is_max_normalised_bm25_and_plain_cosine() -> None:
    fused = linear(Ranking.of([1, 2], [17.673, 12.456]), Ranking.of([2], [0.8734]), 0.5)
    assert round(score_of(2, fused), 4) == 0.7891


def test_linear_with_weight_0_7_leans_to_the_dense_arm() -> None:
    lexical, dense = Ranking.of([1], [1.0]), Ranking.of([2], [0.9])
    fused = linear(lexical, dense, 0.7, normalise_lexical=none, normalise_dense=none)
    assert [hit.key for hit in fused] == [2, 1]
    assert score_of(1, fused) == pytest.approx(0.3)


def test_additive_and_average_give_the_published_numbers() -> None:
    dense, sparse = Ranking.of([1], [0.8]), Ranking.of([1], [0.5])
    assert score_of(1, additive(sparse, dense, 0.35, {1: 0.15})) == pytest.approx(1.125, abs=1e-12)
    assert score_of(1, average(sparse, dense, 0.7)) == pytest.approx(0.71, abs=1e-12)


def test_a_bonus_reorders_but_finds_nothing() -> None:
    fused = additive(EMPTY_RANKING, Ranking.of([1, 2], [0.8, 0.7]), bonuses={2: 0.15, 3: 9.0})
    assert [hit.key for hit in fused] == [2, 1]


def test_log_odds_of_certainty_stay_finite_and_can_be_outvoted() -> None:
    sure, doubtful = Ranking.of([1, 2], [1.0, 0.6]), Ranking.of([1, 2], [0.0, 0.6])
    assert [hit.key for hit in log_odds([sure, doubtful])] == [2, 1]


def test_ties_fall_to_the_smaller_key() -> None:
    assert [hit.key for hit in reciprocal_rank([Ranking.of([9], [1.0]), Ranking.of([4], [5.0])])] == [4, 9]


@pytest.mark.parametrize("rankings", [[], [EMPTY_RANKING], [EMPTY_RANKING, EMPTY_RANKING]], ids=len)
def test_nothing_fused_is_nothing(rankings: Sequence[Ranking]) -> None:
    for fused in (reciprocal_rank(rankings), distribution_based(rankings), log_odds(rankings), best_of(rankings)):
        assert len(fused) == 0


def test_an_additive_fusion_of_nothing_is_nothing() -> None:
    assert len(additive(EMPTY_RANKING, EMPTY_RANKING, bonuses={1: 1.0})) == 0


def test_a_single_hit_is_not_normalised_to_nothing() -> None:
    assert score_of(2, linear(Ranking.of([2], [0.1]), Ranking.of([1], [0.9]), 0.4)) == pytest.approx(0.6)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 1.0, 1.0], [1.0, -0.1], [1.0, float("nan")], [1.0, float("inf")]])
def test_weights_that_make_no_sense_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="weight"):
        weighted_sum([EMPTY_RANKING, EMPTY_RANKING], weights)


@pytest.mark.parametrize("dense_weight", [-0.01, 1.01, float("nan")])
def test_a_dense_weight_outside_0_to_1_is_refused(dense_weight: float) -> None:
    for fuse in (weighted_reciprocal_rank, average, linear):
        with pytest.raises(InvalidInputError, match="dense weight"):
            fuse(EMPTY_RANKING, EMPTY_RANKING, dense_weight)


def test_a_rank_constant_below_0_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="rank constant"):
        reciprocal_rank([EMPTY_RANKING], k=-1)
