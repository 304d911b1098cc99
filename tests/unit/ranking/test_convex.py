"""Convex fusion of completed scores at its edges."""

import numpy as np
import pytest

from twofold.domain.errors import InvalidInputError
from twofold.ranking.convex import ConvexConstants, convex, convex_constants, convex_score

NOTHING = np.empty(0)


def test_nothing_fused_is_nothing() -> None:
    assert len(convex(np.empty(0, dtype=np.int64), NOTHING, NOTHING, 0.6)) == 0


def test_a_single_candidate_scores_one() -> None:
    assert convex(np.array([5]), np.array([3.2]), np.array([0.4]), 0.6).scores.tolist() == [pytest.approx(1.0)]


def test_a_passage_the_lexical_list_cut_off_keeps_its_true_score() -> None:
    keys, cosines = np.array([1, 2, 3]), np.array([0.80, 0.80, 0.50])
    completed = convex(keys, np.array([4.0, 5.0, 10.0]), cosines, 0.6)
    cut = convex(keys, np.array([0.0, 5.0, 10.0]), cosines, 0.6)
    score = {hit.key: hit.score for hit in completed}
    assert score[2] - score[1] == pytest.approx(0.4 * (5.0 - 4.0) / 10.0)
    assert {hit.key: hit.score for hit in cut}[1] == pytest.approx(score[1] - 0.4 * 4.0 / 10.0)


@pytest.mark.parametrize("background", [0.79, 0.8, 0.95])
def test_a_background_near_or_above_the_best_cosine_is_lowered_to_the_middle(background: float) -> None:
    constants = convex_constants(np.array([1.0, 0.0]), np.array([0.8, 0.4]), background)
    assert constants.background == pytest.approx(0.6)


def test_cosines_beneath_the_background_keep_their_order() -> None:
    fused = convex(np.array([1, 2, 3]), np.zeros(3), np.array([0.1, 0.2, 0.9]), 0.6, background=0.3)
    assert fused.keys.tolist() == [3, 2, 1]
    assert fused.scores[-1] < 0.0


def test_weights_at_the_ends_leave_one_arm_out() -> None:
    keys, lexical, dense = np.array([1, 2]), np.array([9.0, 3.0]), np.array([0.2, 0.7])
    assert convex(keys, lexical, dense, 0.0).keys.tolist() == [1, 2]
    assert convex(keys, lexical, dense, 1.0).keys.tolist() == [2, 1]


@pytest.mark.parametrize("dense_weight", [-0.1, 1.1, float("nan")])
def test_a_weight_outside_0_to_1_is_refused(dense_weight: float) -> None:
    with pytest.raises(InvalidInputError, match="dense weight"):
        convex_score(np.ones(1), np.ones(1), ConvexConstants(0.0, 1.0, 1.0), dense_weight)
