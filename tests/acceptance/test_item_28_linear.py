"""Checklist 28, 29 and C6: each arm normalised, then `(1 - w) · bm25 + w · dense`; by halves, or 0.7 for the dense."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.fuse import average, linear, normalised
from twofold.ranking.normalise import clip, maximum, minmax

BEST, SHOWN = 1, 2
BM25 = Ranking.of([BEST, SHOWN], [17.673, 12.456])
DENSE = Ranking.of([SHOWN], [0.8734])


def score(key: int, ranking: Ranking) -> float:
    return next(hit.score for hit in ranking if hit.key == key)


def test_bm25_12_456_of_17_673_is_0_7048() -> None:
    assert round(score(SHOWN, normalised(BM25, maximum)), 4) == 0.7048


def test_a_plain_cosine_and_bm25_over_its_best_make_0_7891() -> None:
    fused = linear(BM25, DENSE, 0.5, normalise_lexical=maximum, normalise_dense=clip)

    assert round(score(SHOWN, fused), 4) == 0.7891


def test_it_is_the_default_form_and_min_max_would_not_give_it() -> None:
    assert linear(BM25, DENSE) == linear(BM25, DENSE, 0.5, normalise_lexical=maximum, normalise_dense=clip)
    assert round(score(SHOWN, linear(BM25, DENSE, normalise_lexical=minmax, normalise_dense=minmax)), 4) != 0.7891


def test_a_dense_weight_of_0_7_counts_the_dense_arm_with_0_7() -> None:
    assert score(SHOWN, linear(BM25, DENSE, 0.7)) == pytest.approx(0.3 * 12.456 / 17.673 + 0.7 * 0.8734)
    assert score(SHOWN, average(Ranking.of([SHOWN], [0.5]), DENSE)) == pytest.approx(0.3 * 0.5 + 0.7 * 0.8734)


@pytest.mark.parametrize(("weight", "first"), [(0.0, BEST), (1.0, SHOWN)])
def test_the_whole_weight_leaves_the_order_to_one_arm(weight: float, first: int) -> None:
    assert next(iter(linear(BM25, DENSE, weight))).key == first
