"""Checklist 45: quality ok or high, entity density of at least 0.12, not omitted."""

import pytest

from twofold import Index
from twofold.domain.types import MetadataValue
from twofold.models.hashing import HashingEmbedder
from twofold.query.filter_json import quality_gates

GOOD: dict[str, MetadataValue] = {"chunk_quality": "ok", "entity_density": 0.5, "omit_flag": False}


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, True),
        ({"chunk_quality": "high"}, True),
        ({"chunk_quality": "poor"}, False),
        ({"chunk_quality": "poor", "entity_density": 1.0}, False),
        ({"entity_density": 0.12}, True),
        ({"entity_density": 0.1199}, False),
        ({"omit_flag": True}, False),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "semantic"])
def test_the_gates(changed: dict[str, MetadataValue], mode: str, *, kept: bool) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("Article 370 is an article.", source="one", metadata={**GOOD, **changed})
        hits = index.search("Article 370", filter=quality_gates(), mode=mode).hits

    assert bool(hits) is kept


@pytest.mark.parametrize("missing", sorted(GOOD))
def test_what_was_never_enriched_is_not_visible_and_raises_nothing(missing: str) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        metadata = {name: value for name, value in GOOD.items() if name != missing}
        index.add("Article 370 is an article.", source="one", metadata=metadata)

        assert not index.search("Article 370", filter=quality_gates()).hits
