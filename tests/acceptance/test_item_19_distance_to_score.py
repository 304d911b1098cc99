"""Checklist 19: `max(0, 1 - cosine distance)` for a distance from 0 to 2, in both places that cut a cosine at 0."""

import numpy as np
import pytest

from twofold.domain.ports import Scale
from twofold.ranking.confidence import absolute
from twofold.ranking.normalise import clip

DISTANCES = np.array([0.0, 0.25, 1.0, 2.0])
SCORES = [1.0, 0.75, 0.0, 0.0]


def test_distances_become_scores() -> None:
    assert clip(1.0 - DISTANCES).tolist() == SCORES


@pytest.mark.parametrize(("distance", "score"), list(zip(DISTANCES.tolist(), SCORES, strict=True)))
def test_confidence_counts_a_cosine_in_the_same_way(distance: float, score: float) -> None:
    made = absolute([1.0 - distance], Scale.COSINE)

    assert made is not None
    assert made.tolist() == [score]
