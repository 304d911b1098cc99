"""Checklist 80 and C13: `0.5 + 0.5 · mean` of the top passages' absolute relevances; none without such a scale."""

import numpy as np
import pytest

from support.indexes import GIT, indexed
from twofold.domain.ports import Scale
from twofold.models.score_scale import relevance_of
from twofold.ranking.confidence import confidence


@pytest.mark.parametrize(
    ("relevances", "value"),
    [([1.0] * 5, 1.0), ([0.0] * 5, 0.5), ([0.95, 0.88, 0.65, 0.45, 0.35], 0.828), ([0.9, 0.5], 0.85)],
)
def test_it_is_the_formula_between_a_half_and_one(relevances: list[float], value: float) -> None:
    assert confidence(relevances) == pytest.approx(value)


def test_one_passage_has_a_confidence_and_none_has_none() -> None:
    assert confidence([0.3]) == 0.65
    assert confidence([]) is None


def test_a_question_that_nothing_answers_is_less_sure_than_one_that_is_answered() -> None:
    answered = relevance_of(np.array([9.15, 7.2, 3.1]), Scale.LOGIT)
    unanswered = relevance_of(np.array([-7.2, -9.15, -11.0]), Scale.LOGIT)

    assert (confidence(answered) or 0.0) > 0.98
    assert (confidence(unanswered) or 1.0) < 0.51


def test_scores_that_only_order_have_no_confidence() -> None:
    with indexed(GIT) as index:
        for settings in ({"fusion.method": "rrf"}, {"fusion.method": "convex"}, {"search.mode": "bm25"}):
            assert index.search("undo the last commit", settings=settings).confidence is None
