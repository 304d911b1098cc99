"""Normalization at its edges: nothing, one hit, all alike, and a best score that is not above 0."""

import numpy as np
import pytest

from twofold.domain.errors import InvalidInputError
from twofold.ranking.normalize import (
    NORMALIZERS,
    dbsf,
    logit,
    maximum,
    minmax,
    normalizer,
    sigmoid,
    theoretical,
    zscore,
)

NAMES = sorted((*NORMALIZERS, "theoretical"))


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_arm_stays_empty(name: str) -> None:
    assert normalizer(name)(np.empty(0)).tolist() == []


@pytest.mark.parametrize("name", ["max", "minmax", "theoretical"])
@pytest.mark.parametrize("scores", [[0.2], [0.0], [-3.0], [7.0, 7.0, 7.0], [0.0, 0.0]])
def test_one_hit_or_hits_all_alike_are_not_made_nothing(name: str, scores: list[float]) -> None:
    normalized = normalizer(name, low=min(scores))(np.array(scores))
    assert normalized.tolist() == [1.0] * len(scores)


def test_hits_all_alike_stand_in_the_middle_of_their_distribution() -> None:
    alike = np.array([4.0, 4.0])
    assert zscore(alike).tolist() == [0.0, 0.0]
    assert dbsf(alike).tolist() == [0.5, 0.5]


def test_division_by_a_negative_best_does_not_turn_the_order_round() -> None:
    assert maximum(np.array([-1.0, -2.0])).tolist() == [1.0, 0.0]


def test_a_score_beneath_the_bound_lowers_it() -> None:
    assert theoretical(np.array([1.0, -2.0]), low=0.0).tolist() == minmax(np.array([1.0, -2.0])).tolist()


def test_bm25_over_its_bound_is_bm25_over_its_best() -> None:
    scores = np.array([17.673, 12.456, 1.0])
    assert theoretical(scores, low=0.0).tolist() == maximum(scores).tolist()


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInputError) as caught:
        normalizer("softmax")
    assert all(name in caught.value.hint for name in NAMES)


def test_log_odds_undo_the_sigmoid_and_stay_finite() -> None:
    assert logit(sigmoid(np.array([-3.0, 0.0, 2.5]))) == pytest.approx([-3.0, 0.0, 2.5])
    assert np.isfinite(logit(np.array([0.0, 1.0]))).all()
