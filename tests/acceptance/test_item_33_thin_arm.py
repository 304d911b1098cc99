"""Checklist 33 and C5: an arm with few hits or none neither breaks a fusion nor loses what it found."""

from collections.abc import Callable

import numpy as np
import pytest

from twofold import Index
from twofold.domain.types import EMPTY_RANKING, Ranking
from twofold.models.hashing import HashingEmbedder
from twofold.ranking.convex import convex
from twofold.ranking.fuse import (
    additive,
    average,
    distribution_based,
    linear,
    log_odds,
    normalised,
    reciprocal_rank,
    weighted_reciprocal_rank,
    weighted_sum,
)
from twofold.ranking.normalise import NORMALISERS, normaliser

DENSE = Ranking.of([3, 1, 2], [0.9, 0.8, 0.1])
FORMS: dict[str, Callable[[Ranking, Ranking], Ranking]] = {
    "rrf": lambda lexical, dense: reciprocal_rank((lexical, dense)),
    "weighted_rrf": weighted_reciprocal_rank,
    "weighted_sum": lambda lexical, dense: weighted_sum((lexical, dense), (0.4, 0.6)),
    "linear": linear,
    "average": average,
    "additive": additive,
    "dbsf": lambda lexical, dense: distribution_based((lexical, dense)),
    "log_odds": lambda lexical, dense: log_odds((lexical, dense)),
}
NAMES = sorted((*NORMALISERS, "theoretical"))
every_normaliser = pytest.mark.parametrize("name", NAMES)


@pytest.mark.parametrize("fuse", FORMS.values(), ids=FORMS.keys())
def test_an_empty_sparse_arm_leaves_the_dense_order(fuse: Callable[[Ranking, Ranking], Ranking]) -> None:
    assert [hit.key for hit in fuse(EMPTY_RANKING, DENSE)] == [3, 1, 2]
    assert len(fuse(EMPTY_RANKING, EMPTY_RANKING)) == 0


@every_normaliser
def test_it_does_so_under_every_normalisation(name: str) -> None:
    arms = [normalised(arm, normaliser(name, low=-1.0)) for arm in (EMPTY_RANKING, DENSE)]

    assert [hit.key for hit in weighted_sum(arms, [0.5, 0.5])] == [3, 1, 2]


def test_the_default_fusion_leaves_the_order_to_the_arm_that_found_something() -> None:
    assert [hit.key for hit in convex(DENSE.keys, np.zeros(3), DENSE.scores, 0.6)] == [3, 1, 2]


@pytest.mark.parametrize("name", ["max", "minmax", "theoretical"])
@pytest.mark.parametrize("scores", [[0.2], [12.5], [0.0], [4.0, 4.0]])
def test_a_single_hit_or_hits_all_alike_become_1_and_not_0(name: str, scores: list[float]) -> None:
    assert normaliser(name)(np.array(scores)).tolist() == [1.0] * len(scores)


@pytest.mark.parametrize("name", ["clip", "max", "minmax", "theoretical", "sigmoid", "dbsf", "none"])
def test_a_single_hit_adds_to_its_passage(name: str) -> None:
    single = normalised(Ranking.of([2], [5.0]), normaliser(name))

    assert next(iter(weighted_sum([single, DENSE], [1.0, 0.1]))).key == 2


def test_a_question_without_a_known_word_is_answered_by_meaning() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for number in range(4):
            index.add(f"commit number {number}", source=str(number))
        hybrid, semantic = index.search("zzzz qqqq"), index.search("zzzz qqqq", mode="semantic")

    assert [hit.source for hit in hybrid.hits] == [hit.source for hit in semantic.hits]
