"""Metadata fusion: features that nothing can make raise, a cap that holds, and no effect without weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import EMPTY_RANKING, MetadataValue, Ranking
from twofold.ranking.metadata_boost import (
    Features,
    MetadataStep,
    MetadataWeights,
    QueryKind,
    metadata_features,
    with_metadata,
)

UNIT = st.floats(0, 1)
FEATURES = st.builds(Features, UNIT, UNIT, UNIT, UNIT)
WEIGHTS = st.builds(MetadataWeights, st.floats(0, 2), st.floats(0, 2), st.floats(0, 2), UNIT)
SCALARS = st.one_of(st.text(max_size=5), st.integers(), st.floats(), st.booleans())
NAMES = st.sampled_from(["entity_density", "chunk_quality", "semantic_type_primary", "domain_tags", "keywords"])
HELD = st.dictionaries(NAMES, st.one_of(SCALARS, st.lists(SCALARS, max_size=3).map(tuple)))
NOBODY = QueryKind(frozenset())


@given(HELD, st.frozensets(st.text(max_size=3)))
def test_whatever_the_fields_hold_each_feature_lies_in_0_to_1(
    fields: dict[str, MetadataValue], words: frozenset[str]
) -> None:
    made = metadata_features(fields, QueryKind(words, words))

    assert all(0.0 <= value <= 1.0 for value in (made.density, made.quality, made.overlap, made.type_match, made.meta))


@pytest.mark.parametrize("density", [10**400, float("inf"), 7])
def test_a_density_above_1_counts_as_1(density: float) -> None:
    assert metadata_features({"entity_density": density}, NOBODY).density == 1.0


@pytest.mark.parametrize("density", [True, "0.5", float("nan"), -3, (0.5,)])
def test_a_density_that_is_no_number_from_0_counts_as_0(density: MetadataValue) -> None:
    assert metadata_features({"entity_density": density}, NOBODY).density == 0.0


@pytest.mark.parametrize(
    ("quality", "value"), [("poor", 0.0), ("ok", 0.5), ("HIGH", 1.0), (("ok", "high"), 1.0), ("?", 0.0), (3, 0.0)]
)
def test_quality_has_three_steps(quality: MetadataValue, value: float) -> None:
    assert metadata_features({"chunk_quality": quality}, NOBODY).quality == value


def test_a_tag_counts_where_all_its_words_are_asked_for_and_once() -> None:
    fields: dict[str, MetadataValue] = {"domain_tags": ("Article 370", "gdp"), "keywords": ("GDP", "Article 371")}

    assert metadata_features(fields, QueryKind(frozenset({"article", "370", "gdp"}))).overlap == pytest.approx(2 / 3)


def test_tags_in_one_text_are_several() -> None:
    assert metadata_features({"keywords": "GDP, growth; , inflation"}, QueryKind(frozenset({"gdp"}))).overlap == 1 / 3


def test_a_wanted_type_matches_and_no_type_matches_where_none_is_wanted() -> None:
    fields = {"semantic_type_primary": "definition"}

    assert metadata_features(fields, QueryKind(frozenset(), frozenset({"definition"}))).type_match == 1.0
    assert metadata_features(fields, NOBODY).type_match == 0.0


@given(FEATURES, WEIGHTS, st.floats(-5, 5))
def test_a_step_is_the_formula(features: Features, weights: MetadataWeights, score: float) -> None:
    meta = (features.density + features.quality + features.overlap) / 3
    bonus = min(weights.cap, weights.beta * meta + weights.gamma * features.type_match)

    assert MetadataStep(weights, features).apply(score) == pytest.approx(weights.alpha * score + bonus)


@given(FEATURES, WEIGHTS)
def test_metadata_adds_at_most_the_cap_and_never_takes_away(features: Features, weights: MetadataWeights) -> None:
    assert 0.0 <= MetadataStep(weights, features).bonus <= weights.cap


@given(st.lists(st.tuples(st.floats(-5, 5), FEATURES), max_size=12), WEIGHTS)
def test_the_order_is_a_stable_sort_of_the_recomputed_scores(
    lines: list[tuple[float, Features]], weights: MetadataWeights
) -> None:
    ranking = Ranking.of(range(len(lines)), [score for score, _ in lines])
    steps = [MetadataStep(weights, features) for _, features in lines]
    pairs = [(step.apply(hit.score), hit.key) for hit, step in zip(ranking, steps, strict=True)]

    made = with_metadata(ranking, steps)

    assert [(hit.score, hit.key) for hit in made] == sorted(pairs, key=lambda pair: -pair[0])


@given(FEATURES)
def test_without_weights_the_ranking_itself_comes_back(features: Features) -> None:
    ranking = Ranking.of([2, 1], [0.5, 0.4])

    assert with_metadata(ranking, [MetadataStep(MetadataWeights(), features)] * 2) is ranking
    assert with_metadata(EMPTY_RANKING, []) is EMPTY_RANKING


@pytest.mark.parametrize("value", [-0.1, 101.0, float("nan")])
@pytest.mark.parametrize("name", ["alpha", "beta", "gamma", "cap"])
def test_weights_out_of_range_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInputError, match=name):
        MetadataWeights(**{name: value})


def test_a_step_for_each_line_is_asked_for() -> None:
    with pytest.raises(ValueError, match="one step"):
        with_metadata(Ranking.of([1], [1.0]), [])
