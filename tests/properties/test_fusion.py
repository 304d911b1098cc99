"""Laws of normalization and fusion, held against slow obvious sums."""

import math
import statistics
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.types import EMPTY_RANKING, Ranking, Scores
from twofold.ranking.fusion import (
    FUSIONS,
    LOWEST,
    NORMALIZERS,
    Candidates,
    FusionPlan,
    best_of,
    by_ranks,
    convex_constants,
    fuse,
)
from twofold.ranking.normalize import normalizer

# A grid keeps differences well above rounding, so that "the same order" means exactly that.
keys = st.integers(0, 40)
bm25 = st.integers(0, 4000).map(lambda step: step / 100)
cosine = st.integers(-1000, 1000).map(lambda step: step / 1000)
weight = st.integers(1, 19).map(lambda step: step / 20)


def retrievers(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Ranking]:
    return st.dictionaries(keys, scores, max_size=12).map(
        lambda found: Ranking.of(list(found), list(found.values())),
    )


@st.composite
def completed(draw: st.DrawFn) -> tuple[Scores, Scores]:
    """Both retrievers' scores for the same candidates, whose keys are their places."""
    pairs = draw(st.lists(st.tuples(bm25, cosine), min_size=1, max_size=12))
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def order(ranking: Ranking) -> list[int]:
    return [hit.key for hit in ranking]


# Normalization


@pytest.mark.parametrize("name", ["none", "clip", "max", "minmax", "theoretical", "zscore", "sigmoid", "dbsf"])
@given(scores=st.lists(st.one_of(bm25, cosine, st.floats(0.0, 1e150)), max_size=12))
def test_no_two_scores_are_turned_round_and_none_is_nan(name: str, scores: list[float]) -> None:
    raw = np.array(scores)
    before = raw.copy()
    normalized = normalizer(name, low=-1.0)(raw)
    assert np.array_equal(raw, before)
    assert len(normalized) == len(raw)
    assert np.isfinite(normalized).all()
    assert (np.diff(normalized[np.argsort(raw, kind="stable")]) >= 0.0).all()


@pytest.mark.parametrize("name", ["clip", "max", "minmax", "theoretical", "sigmoid"])
@given(scores=st.lists(st.floats(0.0, 1e150), max_size=12))
def test_bounded_normalizations_stay_within_0_and_1(name: str, scores: list[float]) -> None:
    normalized = normalizer(name)(np.array(scores))
    assert ((normalized >= 0.0) & (normalized <= 1.0)).all()


@pytest.mark.parametrize("name", ["max", "minmax", "zscore", "dbsf"])
@given(scores=st.lists(bm25, max_size=12), scale=st.sampled_from([0.125, 4.0, 1024.0]))
def test_the_unit_of_the_scores_does_not_matter(name: str, scores: list[float], scale: float) -> None:
    raw = np.array(scores)
    assert normalizer(name)(raw * scale) == pytest.approx(normalizer(name)(raw), abs=1e-12)


# Fusion of what was listed, against a slow obvious oracle

LISTED = sorted(set(FUSIONS) - {"adaptive", "convex"})
plans = st.builds(
    FusionPlan,
    method=st.sampled_from(LISTED),
    vector_weight=st.one_of(weight, st.sampled_from([0.0, 1.0])),
    bm25_weight=st.sampled_from([0.0, 0.35, 2.0]),
    rrf_k=st.sampled_from([0.0, 1.0, 60.0]),
    bm25_norm=st.sampled_from(NORMALIZERS),
    vector_norm=st.sampled_from(NORMALIZERS),
)
Listed = dict[int, float]


def candidates(bm25: Ranking, vector: Ranking, raw: float = 0.0) -> Candidates:
    """Return both lists with their union; `raw` is the completed score of whatever a list lacks."""
    both = sorted({*bm25.keys.tolist(), *vector.keys.tolist()})
    words, meaning = ({hit.key: hit.score for hit in one} for one in (bm25, vector))
    return Candidates(
        bm25,
        vector,
        np.array(both, dtype=np.int64),
        np.array([words.get(key, raw) for key in both]),
        np.array([meaning.get(key, raw) for key in both]),
    )


def stretched(scores: list[float], bottom: float) -> list[float]:
    return [(one - bottom) / (max(scores) - bottom) if max(scores) > bottom else 1.0 for one in scores]


def deviations(scores: list[float], spread: float) -> list[float]:
    mean = statistics.fmean(scores)
    return [(one - mean) / spread if max(scores) > min(scores) else 0.0 for one in scores]


SLOWLY: dict[str, Callable[[list[float], float], list[float]]] = {
    "none": lambda scores, _: scores,
    "clip": lambda scores, _: [min(1.0, max(0.0, one)) for one in scores],
    "max": lambda scores, _: (
        [one / max(scores) for one in scores] if max(scores) > 0 else stretched(scores, min(scores))
    ),
    "minmax": lambda scores, _: stretched(scores, min(scores)),
    "theoretical": lambda scores, lowest: stretched(scores, min(lowest, *scores)),
    "zscore": lambda scores, _: deviations(scores, statistics.pstdev(scores)),
    "sigmoid": lambda scores, _: [1 / (1 + math.exp(-one)) for one in scores],
    "dbsf": lambda scores, _: [
        0.5 + one / 6 for one in deviations(scores, statistics.stdev(scores) if len(scores) > 1 else 0.0)
    ],
}


def normalized(listed: Listed, name: str, lowest: float) -> Listed:
    """Normalize as the formulas are written, with nothing but arithmetic."""
    scores = list(listed.values())
    return dict(zip(listed, SLOWLY[name](scores, lowest), strict=True)) if scores else {}


def expected(bm25: Ranking, vector: Ranking, plan: FusionPlan) -> Listed:
    """Fuse by dictionaries: a passage that a list lacks gets nothing from it."""
    listed = [{hit.key: hit.score for hit in one} for one in (bm25, vector)]
    names = [(plan.bm25_norm, LOWEST["bm25"]), (plan.vector_norm, LOWEST["vector"])]
    if plan.method.endswith("rrf"):
        values = [{key: 1 / (plan.rrf_k + rank) for key, rank in one.ranks().items()} for one in (bm25, vector)]
    elif plan.method == "dbsf":
        values = [normalized(one, "dbsf", 0.0) for one in listed]
    else:
        values = [normalized(one, *name) for one, name in zip(listed, names, strict=True)]
    if plan.method == "log_odds":
        kept = [{key: min(1 - 1e-9, max(1e-9, p)) for key, p in one.items()} for one in values]
        values = [{key: math.log(p / (1 - p)) for key, p in one.items()} for one in kept]
    weights = {"rrf": (1.0, 1.0), "dbsf": (1.0, 1.0), "log_odds": (1.0, 1.0), "additive": (plan.bm25_weight, 1.0)}
    words, meaning = weights.get(plan.method, (1 - plan.vector_weight, plan.vector_weight))
    found = {*values[0], *values[1]}
    return {key: words * values[0].get(key, 0.0) + meaning * values[1].get(key, 0.0) for key in found}


@given(bm25=retrievers(bm25), vector=retrievers(cosine), plan=plans, raw=st.sampled_from([0.0, 0.5, -0.5]))
def test_every_method_with_every_normalizer_is_the_sum_one_would_take_by_hand(
    bm25: Ranking, vector: Ranking, plan: FusionPlan, raw: float
) -> None:
    fused = fuse(candidates(bm25, vector, raw), plan)

    assert {hit.key: hit.score for hit in fused.ranking} == pytest.approx(expected(bm25, vector, plan), abs=1e-7)
    assert fused.ranking == Ranking.of(fused.ranking.keys, fused.ranking.scores)
    for share in fused.shares:
        missing = ~np.isin(share.keys, share.ranking.keys)
        assert (share.values[missing] == 0.0).all()


@pytest.mark.parametrize("form", FUSIONS)
@given(retriever=retrievers(bm25))
def test_an_empty_list_leaves_the_order_of_the_other(form: str, retriever: Ranking) -> None:
    plan = FusionPlan(form, vector_weight=0.5, vector_norm="max")
    assert order(fuse(candidates(retriever, EMPTY_RANKING), plan).ranking) == order(retriever)
    cosines = Ranking(retriever.keys, retriever.scores / 40.0)
    assert order(fuse(candidates(EMPTY_RANKING, cosines), plan).ranking) == order(cosines)


@given(st.lists(retrievers(bm25), min_size=1, max_size=4))
def test_by_ranks_is_the_sum_one_would_take_by_hand(legs: list[Ranking]) -> None:
    totals: dict[int, float] = {}
    for ranking in legs:
        for key, rank in ranking.ranks().items():
            totals[key] = totals.get(key, 0.0) + 1.0 / (60 + rank)
    fused = by_ranks([(str(number), leg) for number, leg in enumerate(legs)])
    assert {hit.key: hit.score for hit in fused.ranking} == totals


@given(st.lists(retrievers(bm25), max_size=4))
def test_best_of_keeps_each_keys_best(legs: list[Ranking]) -> None:
    found = [hit for ranking in legs for hit in ranking]
    best = {hit.key: max(other.score for other in found if other.key == hit.key) for hit in found}
    assert {hit.key: hit.score for hit in best_of(legs)} == best


@given(retrievers(bm25), retrievers(bm25))
def test_ranks_are_all_that_fusion_by_rank_sees(one: Ranking, other: Ranking) -> None:
    bent = Ranking(one.keys, np.exp(one.scores / 10.0))
    plan = FusionPlan("rrf")
    assert fuse(candidates(bent, other), plan).ranking == fuse(candidates(one, other), plan).ranking


# Convex fusion of completed scores


def convex(bm25: Scores, vector: Scores, share: float) -> Ranking:
    """Fuse the completed scores of candidates whose keys are their places, all of them listed by both."""
    both = np.arange(len(bm25))
    found = Candidates(Ranking.of(both, bm25), Ranking.of(both, vector), both, bm25, vector)
    return fuse(found, FusionPlan("convex", vector_weight=share)).ranking


@given(completed(), weight)
def test_every_shown_score_recomputes_from_the_constants_exactly(scores: tuple[Scores, Scores], share: float) -> None:
    bm25, vector = scores
    constants = convex_constants(bm25, vector)
    for hit in convex(bm25, vector, share):
        words = (1.0 - share) * (float(bm25[hit.key]) / constants.bm25_max)
        span = constants.vector_max - constants.background
        assert hit.score == words + share * ((float(vector[hit.key]) - constants.background) / span)


@given(completed(), weight)
def test_scores_stay_within_their_bounds(scores: tuple[Scores, Scores], share: float) -> None:
    fused = convex(*scores, share).scores
    assert (fused <= 1.0 + 1e-12).all()
    assert (fused >= -1e-12).all()


@given(completed(), weight)
def test_an_arm_that_says_nothing_leaves_the_order_to_the_other(scores: tuple[Scores, Scores], share: float) -> None:
    bm25, vector = scores
    places, nothing = np.arange(len(bm25)), np.zeros(len(bm25))
    assert order(convex(nothing, vector, share)) == order(Ranking.of(places, vector))
    assert order(convex(bm25, nothing, share)) == order(Ranking.of(places, bm25))


@given(completed(), weight)
def test_what_is_better_in_both_arms_is_never_behind(scores: tuple[Scores, Scores], share: float) -> None:
    bm25, vector = scores
    fused = _by_place(bm25, vector, share)
    no_worse = (bm25[:, None] >= bm25) & (vector[:, None] >= vector)
    assert (fused[:, None] >= fused)[no_worse].all()


@given(completed(), weight, st.integers(0, 11), bm25, cosine)
def test_a_passage_that_scores_more_in_an_arm_never_falls_behind_another(
    scores: tuple[Scores, Scores], share: float, place: int, more_words: float, more_meaning: float
) -> None:
    bm25, vector = scores
    place %= len(bm25)
    raised_words, raised_meaning = bm25.copy(), vector.copy()
    raised_words[place] = max(bm25[place], more_words)
    raised_meaning[place] = max(vector[place], more_meaning)
    before = _leads(bm25, vector, share, place)
    assert (_leads(raised_words, vector, share, place) >= before - 1e-9).all()
    assert (_leads(bm25, raised_meaning, share, place) >= before - 1e-9).all()


def _leads(bm25: Scores, vector: Scores, share: float, place: int) -> Scores:
    fused = _by_place(bm25, vector, share)
    leads: Scores = fused[place] - fused
    return leads


def _by_place(bm25: Scores, vector: Scores, share: float) -> Scores:
    fused = {hit.key: hit.score for hit in convex(bm25, vector, share)}
    return np.array([fused[place] for place in range(len(bm25))])


@given(completed(), weight, st.sampled_from([0.25, 8.0]))
def test_the_unit_of_bm25_does_not_matter(scores: tuple[Scores, Scores], share: float, scale: float) -> None:
    bm25, vector = scores
    assert convex(bm25 * scale, vector, share) == convex(bm25, vector, share)


@given(
    scores=st.lists(st.tuples(bm25, cosine), min_size=1, max_size=60),
    usual=st.integers(0, 20).map(lambda step: step / 20),
    spread=st.sampled_from([1, 7, 1000]),
)
def test_adaptive_fusion_by_the_kernel_and_by_numpy_agree_to_the_last_bit(
    scores: list[tuple[float, float]], usual: float, spread: int
) -> None:
    keys_found = np.arange(len(scores), dtype=np.int64)
    bm25_scores = np.array([one for one, _ in scores]).round(2) // (1 / spread)  # with few values many are alike
    vector_scores = np.array([other for _, other in scores])
    listed = Ranking.of(keys_found, bm25_scores)
    found = Candidates(listed, Ranking.of(keys_found, vector_scores), keys_found, bm25_scores, vector_scores)
    in_numpy = replace(found, pending=np.zeros(len(scores), dtype=np.bool_))  # the kernel has no candidates to wait for

    by_kernel, by_numpy = (fuse(one, FusionPlan(vector_weight=usual)) for one in (found, in_numpy))

    assert by_kernel.constants == by_numpy.constants
    assert by_kernel.ranking == by_numpy.ranking
    for one, other in zip(by_kernel.shares, by_numpy.shares, strict=True):
        assert (one.values.tolist(), one.weight) == (other.values.tolist(), other.weight)
