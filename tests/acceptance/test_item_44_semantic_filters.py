"""Checklist item 44: semantic_type_primary_in, source_type_in, and min_entity_density, which overrides 0.12."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from twofold import Index
from twofold.domain.types import Metadata
from twofold.models.hashing import HashingEmbedder
from twofold.query.filter_json import filter_from_json, gated
from twofold.setting_groups import ChunkSettings
from twofold.settings import Settings

PASSAGES = """# What

GDP is the value of all goods and services of a country, as NASA and the UN in Paris say since 1949, and as the IMF in
Washington and the OECD in Paris said in 1961, with Bern and Rome and Oslo and Wien behind them.

# Steps

1. GDP is read from the books of 1949 by the clerks of Bern and of Wien.
2. GDP is divided by the people of Bern and then by 12 months of the year.
3. GDP is written down by the clerks of Bern, and sent to the OECD in Paris.

# Table

| country | GDP | year | unit |
| --- | --- | --- | --- |
| CH | 800 | 2020 | CHF |
| LI | 7 | 2020 | CHF |
| AT | 430 | 2020 | EUR |

# Story

GDP went up and then it went down and then it went up again, and nobody there ever said why it went so, and then it went
down for the last time, and they all said that they had always known that it would go down in the end.
"""
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


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"semantic_type_primary_in": ["definition"]}, {"What"}),
        ({"semantic_type_primary_in": ["table", "procedure"]}, {"Table", "Steps"}),
        ({"min_entity_density": 0.12}, {"What", "Steps", "Table"}),
        ({"semantic_type_primary_in": ["narrative"], "min_entity_density": 0.12}, set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "semantic"])
def test_passages_of_one_document_are_told_apart(
    request_: Mapping[str, object], mode: str, expected: set[str], tmp_path: Path
) -> None:
    (tmp_path / "gdp.md").write_text(PASSAGES, encoding="utf-8")
    settings = Settings(chunk=ChunkSettings(size=64))
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        index.sync(tmp_path)
        hits = index.search("GDP", filter=filter_from_json(request_), mode=mode).hits

    assert {hit.heading[-1] for hit in hits} == expected
