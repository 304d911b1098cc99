"""The blend of what was before and what a reranker read: its order, its scores, and what no input may do to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Ranking
from twofold.ranking.rerank_blend import Blend, blend

SCORES = st.floats(-1e6, 1e6)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Ranking, np.ndarray]:
    fused = draw(st.lists(SCORES, min_size=1, max_size=30))
    keys = draw(st.lists(st.integers(0, 999), min_size=len(fused), max_size=len(fused), unique=True))
    read = draw(st.lists(st.floats(0, 1), min_size=1, max_size=len(fused)))
    return Ranking.of(keys, fused), np.array(read)


def slowly(fused: Ranking, relevance: np.ndarray, weight: float) -> dict[int, float]:
    """Blend by the formula, one candidate at a time."""
    low, high = min(fused.scores[: len(relevance)]), max(fused.scores[: len(relevance)])
    final = {}
    for place, (key, score) in enumerate(zip(fused.keys.tolist(), fused.scores.tolist(), strict=True)):
        before = (score - low) / (high - low) if high - low > 1e-12 else 1.0 if score >= low else score - low
        if place >= len(relevance):
            final[key] = min(before, 0.0)
            continue
        final[key] = (1.0 - weight) * before + weight * float(relevance[place])
    return final


def order(made: Blend) -> list[int]:
    return [int(key) for key in made.ranking.keys]


@given(cases(), st.floats(0, 1))
def test_it_is_what_the_formula_says(case: tuple[Ranking, np.ndarray], weight: float) -> None:
    made = blend(*case, weight)

    assert {hit.key: hit.score for hit in made.ranking} == pytest.approx(slowly(*case, weight), rel=1e-9, abs=1e-9)


@given(cases(), st.floats(0, 1))
def test_it_comes_best_first_and_loses_nobody(case: tuple[Ranking, np.ndarray], weight: float) -> None:
    made = blend(*case, weight)

    assert (np.diff(made.ranking.scores) <= 0.0).all()
    assert sorted(order(made)) == sorted(case[0].keys.tolist())


@given(cases(), st.floats(0, 1))
def test_what_was_not_read_stays_beneath_in_its_order(case: tuple[Ranking, np.ndarray], weight: float) -> None:
    fused, relevance = case

    assert order(blend(fused, relevance, weight))[len(relevance) :] == fused.keys[len(relevance) :].tolist()


@given(cases())
def test_without_a_weight_the_order_stays(case: tuple[Ranking, np.ndarray]) -> None:
    assert order(blend(*case, 0.0)) == case[0].keys.tolist()


def test_the_whole_weight_replaces_the_order() -> None:
    fused = Ranking.of([1, 2, 3, 4], [0.9, 0.7, 0.5, 0.3])

    assert order(blend(fused, np.array([0.1, 0.9, 0.6]), 1.0)) == [2, 3, 1, 4]


@given(cases(), st.floats(0, 1), st.floats(0, 1))
def test_equal_relevance_moves_nothing(case: tuple[Ranking, np.ndarray], weight: float, relevance: float) -> None:
    fused, read = case

    assert order(blend(fused, np.full(len(read), relevance), weight)) == fused.keys.tolist()


def test_one_candidate_alone_counts_as_the_best_of_the_fused() -> None:
    made = blend(Ranking.of([7], [0.2]), np.array([0.5]), 0.5)

    assert made.ranking.scores.tolist() == [0.75]


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        blend(Ranking.of([1], [1.0]), np.array([1.0]), weight)
