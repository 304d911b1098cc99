"""Laws of normalisation and fusion, held against slow obvious sums."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.types import EMPTY_RANKING, Ranking, Scores
from twofold.ranking.convex import convex, convex_constants, convex_score
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
from twofold.ranking.normalise import minmax, normaliser

# A grid keeps differences well above rounding, so that "the same order" means exactly that.
keys = st.integers(0, 40)
bm25 = st.integers(0, 4000).map(lambda step: step / 100)
cosine = st.integers(-1000, 1000).map(lambda step: step / 1000)
probability = st.integers(1, 999).map(lambda step: step / 1000)
weight = st.integers(1, 19).map(lambda step: step / 20)


def arms(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Ranking]:
    return st.dictionaries(keys, scores, max_size=12).map(
        lambda found: Ranking.of(list(found), list(found.values())),
    )


@st.composite
def completed(draw: st.DrawFn) -> tuple[Scores, Scores]:
    """Both arms' scores for the same candidates, whose keys are their places."""
    pairs = draw(st.lists(st.tuples(bm25, cosine), min_size=1, max_size=12))
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def order(ranking: Ranking) -> list[int]:
    return [hit.key for hit in ranking]


# Normalisation


@pytest.mark.parametrize("name", ["none", "clip", "max", "minmax", "theoretical", "zscore", "sigmoid", "dbsf"])
@given(scores=st.lists(st.one_of(bm25, cosine, st.floats(0.0, 1e150)), max_size=12))
def test_no_two_scores_are_turned_round_and_none_is_nan(name: str, scores: list[float]) -> None:
    raw = np.array(scores)
    before = raw.copy()
    normalised = normaliser(name, low=-1.0)(raw)
    assert np.array_equal(raw, before)
    assert len(normalised) == len(raw)
    assert np.isfinite(normalised).all()
    assert (np.diff(normalised[np.argsort(raw, kind="stable")]) >= 0.0).all()


@pytest.mark.parametrize("name", ["clip", "max", "minmax", "theoretical", "sigmoid"])
@given(scores=st.lists(st.floats(0.0, 1e150), max_size=12))
def test_bounded_normalisations_stay_within_0_and_1(name: str, scores: list[float]) -> None:
    normalised = normaliser(name)(np.array(scores))
    assert ((normalised >= 0.0) & (normalised <= 1.0)).all()


@pytest.mark.parametrize("name", ["max", "minmax", "zscore", "dbsf"])
@given(scores=st.lists(bm25, max_size=12), scale=st.sampled_from([0.125, 4.0, 1024.0]))
def test_the_unit_of_the_scores_does_not_matter(name: str, scores: list[float], scale: float) -> None:
    raw = np.array(scores)
    assert normaliser(name)(raw * scale) == pytest.approx(normaliser(name)(raw), abs=1e-12)


# Fusion of what the arms listed

Fuse = Callable[[Ranking, Ranking], Ranking]
FORMS: dict[str, Fuse] = {
    "weighted sum": lambda lexical, dense: weighted_sum((lexical, dense), (0.4, 0.6)),
    "reciprocal rank": lambda lexical, dense: reciprocal_rank((lexical, dense)),
    "weighted reciprocal rank": weighted_reciprocal_rank,
    "linear": linear,
    "linear minmax": lambda lexical, dense: linear(lexical, dense, normalise_lexical=minmax, normalise_dense=minmax),
    "average": average,
    "additive": additive,
    "distribution based": lambda lexical, dense: distribution_based((lexical, dense)),
    "log odds": lambda lexical, dense: log_odds((lexical, dense)),
    "best of": lambda lexical, dense: best_of((lexical, dense)),
}
every_form = pytest.mark.parametrize("fuse", FORMS.values(), ids=FORMS.keys())


@every_form
@given(lexical=arms(probability), dense=arms(probability))
def test_fusion_is_a_ranking_of_exactly_what_was_found(fuse: Fuse, lexical: Ranking, dense: Ranking) -> None:
    fused = fuse(lexical, dense)
    assert set(order(fused)) == set(order(lexical)) | set(order(dense))
    assert fused == Ranking.of(fused.keys, fused.scores)
    assert np.isfinite(fused.scores).all()


@every_form
@given(arm=arms(probability))
def test_an_empty_arm_leaves_the_order_of_the_other(fuse: Fuse, arm: Ranking) -> None:
    assert order(fuse(arm, EMPTY_RANKING)) == order(arm)
    assert order(fuse(EMPTY_RANKING, arm)) == order(arm)


@given(st.lists(st.tuples(arms(bm25), weight), max_size=4))
def test_a_weighted_sum_is_the_sum_one_would_take_by_hand(legs: list[tuple[Ranking, float]]) -> None:
    totals: dict[int, float] = {}
    for ranking, share in legs:
        for hit in ranking:
            totals[hit.key] = totals.get(hit.key, 0.0) + share * hit.score
    fused = weighted_sum([ranking for ranking, _ in legs], [share for _, share in legs])
    assert {hit.key: hit.score for hit in fused} == totals


@given(st.lists(arms(bm25), max_size=4))
def test_reciprocal_rank_is_the_sum_one_would_take_by_hand(legs: list[Ranking]) -> None:
    totals: dict[int, float] = {}
    for ranking in legs:
        for key, rank in ranking.ranks().items():
            totals[key] = totals.get(key, 0.0) + 1.0 / (60 + rank)
    assert {hit.key: hit.score for hit in reciprocal_rank(legs)} == totals


@given(st.lists(arms(bm25), max_size=4))
def test_best_of_keeps_each_keys_best(legs: list[Ranking]) -> None:
    found = [hit for ranking in legs for hit in ranking]
    best = {hit.key: max(other.score for other in found if other.key == hit.key) for hit in found}
    assert {hit.key: hit.score for hit in best_of(legs)} == best


@given(arms(bm25), arms(cosine), weight)
def test_the_order_of_two_arms_does_not_matter(one: Ranking, other: Ranking, share: float) -> None:
    assert reciprocal_rank((one, other)) == reciprocal_rank((other, one))
    assert weighted_sum((one, other), (share, 1.0)) == weighted_sum((other, one), (1.0, share))


@given(st.integers(1, 200), st.integers(1, 200))
def test_in_both_beats_in_one_at_the_same_rank_and_a_higher_rank_beats_a_lower(rank: int, gap: int) -> None:
    in_both = {hit.key: hit.score for hit in reciprocal_rank((at_rank(1, rank), at_rank(1, rank)))}[1]
    in_one = {hit.key: hit.score for hit in reciprocal_rank((at_rank(1, rank), at_rank(2, rank)))}[1]
    lower = {hit.key: hit.score for hit in reciprocal_rank((at_rank(1, rank), at_rank(1, rank + gap)))}[1]
    assert in_both > lower > in_one


def at_rank(key: int, rank: int) -> Ranking:
    return Ranking.of([*range(1000, 999 + rank), key], -np.arange(float(rank)))


@given(arms(bm25), arms(bm25))
def test_reciprocal_rank_sees_ranks_alone(one: Ranking, other: Ranking) -> None:
    bent = Ranking(one.keys, np.exp(one.scores / 10.0))
    assert reciprocal_rank((bent, other)) == reciprocal_rank((one, other))


@given(arms(bm25), arms(cosine), weight, st.sampled_from([0.25, 8.0]))
def test_normalised_fusion_does_not_depend_on_the_unit_of_bm25(
    lexical: Ranking, dense: Ranking, share: float, scale: float
) -> None:
    scaled = Ranking(lexical.keys, lexical.scores * scale)
    assert linear(scaled, dense, share) == linear(lexical, dense, share)


# Convex fusion of completed scores


@given(completed(), weight, st.one_of(st.none(), cosine))
def test_every_shown_score_recomputes_from_the_constants_exactly(
    scores: tuple[Scores, Scores], share: float, background: float | None
) -> None:
    lexical, dense = scores
    constants = convex_constants(lexical, dense, background)
    for hit in convex(np.arange(len(lexical)), lexical, dense, share, background):
        words = (1.0 - share) * (float(lexical[hit.key]) / constants.lexical_max)
        span = constants.dense_max - constants.background
        assert hit.score == words + share * ((float(dense[hit.key]) - constants.background) / span)


@given(completed(), weight, st.one_of(st.none(), cosine))
def test_scores_stay_within_their_bounds(scores: tuple[Scores, Scores], share: float, background: float | None) -> None:
    fused = convex(np.arange(len(scores[0])), *scores, share, background).scores
    assert (fused <= 1.0 + 1e-12).all()
    assert (fused >= (-1e-12 if background is None else -1.0 - 1e-12)).all()


@given(completed(), weight, st.one_of(st.none(), cosine))
def test_an_arm_that_says_nothing_leaves_the_order_to_the_other(
    scores: tuple[Scores, Scores], share: float, background: float | None
) -> None:
    lexical, dense = scores
    places = np.arange(len(lexical))
    nothing = np.zeros(len(lexical))
    assert order(convex(places, nothing, dense, share, background)) == order(Ranking.of(places, dense))
    assert order(convex(places, lexical, nothing, share, background)) == order(Ranking.of(places, lexical))


@given(completed(), weight, st.one_of(st.none(), cosine), st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_does_not_matter(
    scores: tuple[Scores, Scores], share: float, background: float | None, random: Random
) -> None:
    lexical, dense = scores
    places = np.arange(len(lexical))
    mixed = places.tolist()
    random.shuffle(mixed)
    assert convex(places, lexical, dense, share, background) == convex(
        places[mixed], lexical[mixed], dense[mixed], share, background
    )


@given(completed(), weight, st.one_of(st.none(), cosine))
def test_what_is_better_in_both_arms_is_never_behind(
    scores: tuple[Scores, Scores], share: float, background: float | None
) -> None:
    lexical, dense = scores
    fused = convex_score(lexical, dense, convex_constants(lexical, dense, background), share)
    no_worse = (lexical[:, None] >= lexical) & (dense[:, None] >= dense)
    assert (fused[:, None] >= fused)[no_worse].all()


@given(completed(), weight, st.integers(0, 11), bm25, cosine)
def test_a_passage_that_scores_more_in_an_arm_never_falls_behind_another(
    scores: tuple[Scores, Scores], share: float, place: int, more_words: float, more_meaning: float
) -> None:
    lexical, dense = scores
    place %= len(lexical)
    raised_words, raised_meaning = lexical.copy(), dense.copy()
    raised_words[place] = max(lexical[place], more_words)
    raised_meaning[place] = max(dense[place], more_meaning)
    before = _leads(lexical, dense, share, place)
    assert (_leads(raised_words, dense, share, place) >= before - 1e-9).all()
    assert (_leads(lexical, raised_meaning, share, place) >= before - 1e-9).all()


def _leads(lexical: Scores, dense: Scores, share: float, place: int) -> Scores:
    fused = convex_score(lexical, dense, convex_constants(lexical, dense), share)
    leads: Scores = fused[place] - fused
    return leads


@given(completed(), weight, st.sampled_from([0.25, 8.0]))
def test_the_unit_of_bm25_does_not_matter(scores: tuple[Scores, Scores], share: float, scale: float) -> None:
    lexical, dense = scores
    places = np.arange(len(lexical))
    assert convex(places, lexical * scale, dense, share) == convex(places, lexical, dense, share)
