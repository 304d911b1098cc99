"""Checklist 44: semantic_type_primary_in, source_type_in, and min_entity_density, which overrides 0.12."""

from collections.abc import Mapping

import pytest

from twofold import Index
from twofold.domain.types import Metadata
from twofold.models.hashing import HashingEmbedder
from twofold.query.filter_json import filter_from_json, gated

GOOD: Metadata = {"chunk_quality": "ok", "omit_flag": False}
DOCUMENTS: Mapping[str, Metadata] = {
    "definition": {**GOOD, "semantic_type_primary": "definition", "source_type": "book", "entity_density": 0.3},
    "thin": {**GOOD, "semantic_type_primary": "definition", "source_type": "web", "entity_density": 0.05},
    "example": {**GOOD, "semantic_type_primary": "example", "source_type": "book", "entity_density": 0.2},
}


def found(request: Mapping[str, object], *, gates: bool) -> set[str]:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for source, metadata in DOCUMENTS.items():
            index.add("GDP is a measure.", source=source, metadata=metadata)
        condition = gated(request) if gates else filter_from_json(request)
        return {hit.source for hit in index.search("GDP", filter=condition).hits}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"semantic_type_primary_in": ["definition"]}, {"definition", "thin"}),
        ({"semantic_type_primary_in": ["definition", "example"]}, {"definition", "thin", "example"}),
        ({"source_type_in": ["book"]}, {"definition", "example"}),
        ({"source_type_in": ["book"], "semantic_type_primary_in": ["definition"]}, {"definition"}),
        ({"min_entity_density": 0.25}, {"definition"}),
    ],
)
def test_each_filter(request_: Mapping[str, object], expected: set[str]) -> None:
    assert found(request_, gates=False) == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, {"definition", "example"}),
        ({"min_entity_density": 0.05}, {"definition", "thin", "example"}),
        ({"min_entity_density": 0.25}, {"definition"}),
        ({"source_type_in": ["book", "web"]}, {"definition", "example"}),
    ],
)
def test_the_density_asked_for_overrides_the_floor(request_: Mapping[str, object], expected: set[str]) -> None:
    assert found(request_, gates=True) == expected
