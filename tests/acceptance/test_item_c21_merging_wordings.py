"""Contradiction C21: several wordings' rankings become one by each passage's best score, or by rank."""

import pytest

from twofold.domain.types import Ranking
from twofold.pipeline.rewrite_plan import MERGES

FIRST = Ranking.of([1, 2, 3], [9.0, 5.0, 1.0])
SECOND = Ranking.of([3, 2], [8.0, 7.0])


def test_best_score_keeps_each_passage_at_its_best() -> None:
    assert MERGES["best_score"]([FIRST, SECOND]) == Ranking.of([1, 3, 2], [9.0, 8.0, 7.0])


def test_rrf_fuses_every_wording_by_rank() -> None:
    merged = MERGES["rrf"]([FIRST, SECOND])

    assert merged.keys.tolist() == [3, 2, 1]
    assert merged.scores.tolist() == pytest.approx([1 / 61 + 1 / 63, 2 / 62, 1 / 61])


@pytest.mark.parametrize("merge", MERGES)
def test_one_wording_keeps_its_order(merge: str) -> None:
    assert MERGES[merge]([FIRST]).keys.tolist() == [1, 2, 3]
