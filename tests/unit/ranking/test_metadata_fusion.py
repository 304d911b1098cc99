"""alpha · rerank + beta · meta + gamma · type match, with a cap on what metadata adds; off by default."""

import pytest

from twofold.domain.types import Metadata, Ranking
from twofold.ranking.metadata_boost import (
    MetadataStep,
    MetadataWeights,
    QueryKind,
    metadata_features,
    with_metadata,
)

ASKED = QueryKind(frozenset({"what", "is", "gdp"}), frozenset({"definition"}))
RICH: Metadata = {
    "entity_density": 0.3,
    "chunk_quality": "high",
    "semantic_type_primary": "definition",
    "domain_tags": ("gdp", "growth"),
}
RANKED = Ranking.of([1, 2], [0.70, 0.65])


def scored(weights: MetadataWeights) -> Ranking:
    fields: tuple[Metadata, ...] = ({}, RICH)
    steps = [MetadataStep(weights, metadata_features(held, ASKED)) for held in fields]
    return with_metadata(RANKED, steps)


def test_the_four_features_are_read_from_the_fields() -> None:
    made = metadata_features(RICH, ASKED)

    assert (made.density, made.quality, made.overlap, made.type_match) == (0.3, 1.0, 0.5, 1.0)
    assert made.meta == pytest.approx(0.6)


def test_it_is_off_by_default() -> None:
    assert scored(MetadataWeights()) is RANKED


def test_the_parts_add_up() -> None:
    made = scored(MetadataWeights(alpha=1.0, beta=0.1, gamma=0.05))

    assert [(hit.key, round(hit.score, 6)) for hit in made] == [(2, 0.76), (1, 0.70)]


def test_the_bonus_is_capped() -> None:
    made = scored(MetadataWeights(alpha=1.0, beta=1.0, gamma=1.0, cap=0.15))

    assert [(hit.key, round(hit.score, 6)) for hit in made] == [(2, 0.80), (1, 0.70)]
