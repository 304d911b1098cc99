"""Checklist item 44: semantic_type_primary_in, source_type_in, and min_entity_density, which overrides 0.12."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.api_client import visiting
from support.indexes import indexed
from twofold import Index
from twofold.cli.app import application
from twofold.cli.options import parsed_filter
from twofold.config.load import Settings
from twofold.config.schema import ChunkSettings
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter
from twofold.domain.types import Metadata
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.filter_json import filter_from_json
from twofold.query.filter_syntax import parse_filter, render
from twofold.search.engine import SearchOptions

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


@pytest.fixture(scope="module")
def index() -> Index:
    made = indexed({}, {"search.context_window": 0})
    for source, metadata in DOCUMENTS.items():
        made.add("GDP is a measure.", source=source, metadata=metadata)
    return made


def found(index: Index, condition: Filter, profile: str) -> set[str]:
    return {hit.source for hit in index.search("GDP", filter=condition, profile=profile, rerank="none").hits}


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
def test_each_filter(index: Index, request_: Mapping[str, object], expected: set[str]) -> None:
    assert found(index, filter_from_json(request_), "balanced") == expected


GATED = [
    ("", {"definition", "example"}),
    ("source_type in [book, web]", {"definition", "example"}),
    ("min_entity_density = 0.05", {"definition", "thin", "example"}),
    ("min_entity_density >= 0.0501", {"definition", "example"}),
    ("min_entity_density >= 0.25", {"definition"}),
    ("min_entity_density=0.01 and source_type == web", {"thin"}),
    ('{"min_entity_density": 0.05}', {"definition", "thin", "example"}),
    ('{"min_entity_density": 0.25, "source_type_in": ["book"]}', {"definition"}),
    ('{"field": "min_entity_density", "op": ">=", "value": 0.05}', {"definition", "thin", "example"}),
    ("entity_density >= 0.01", {"definition", "example"}),  # a condition beside the profile's own, which stands
    ("source_type == nowhere or min_entity_density >= 0.01", {"definition", "example"}),  # not for every passage
]


@pytest.mark.parametrize(("text", "expected"), GATED)
def test_the_density_asked_for_replaces_the_profiles_floor_in_python(
    index: Index, text: str, expected: set[str]
) -> None:
    assert found(index, parsed_filter([text] if text else []), "aanae") == expected


@pytest.mark.parametrize(("text", "expected"), GATED)
def test_and_on_the_command_line_and_over_http(
    text: str, expected: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    with Index("gdp", overrides={"embedder": "hashing"}) as index:
        for source, metadata in DOCUMENTS.items():
            index.add("GDP is a measure.", source=source, metadata=metadata)
    words = [
        "search",
        "GDP",
        "-i",
        "gdp",
        "--profile",
        "aanae",
        "--rerank",
        "none",
        "--json",
        *(["-f", text] if text else []),
    ]
    done = CliRunner().invoke(application(), words, prog_name="twofold")
    with visiting(tmp_path) as visit:
        asked = json.loads(text) if text.startswith("{") else text or None
        body = {"query": "GDP", "profile": "aanae", "rerank": False, "filter": asked}
        given = visit.client.post("/v1/indexes/gdp/search", json=body).json()

    assert {hit["source"] for hit in json.loads(done.stdout)["hits"]} == expected
    assert {hit["source"] for hit in given["hits"]} == expected


def test_what_the_other_gates_drop_stays_dropped(index: Index) -> None:
    index.add("GDP is a poor measure.", source="poor", metadata={**DOCUMENTS["thin"], "chunk_quality": "poor"})

    assert found(index, parse_filter("min_entity_density = 0"), "aanae") == {"definition", "thin", "example"}
    index.delete("poor")


def test_why_not_names_the_gate_only_where_it_acts(index: Index) -> None:
    low = parse_filter("min_entity_density = 0.01")

    assert index.why_not("GDP", "thin", SearchOptions(profile="aanae", rerank="none")).stage == "default_filter"
    assert index.why_not("GDP", "thin", SearchOptions(profile="aanae", rerank="none", filter=low)).stage == ""


@pytest.mark.parametrize("text", ["min_entity_density", "min_entity_density < 0.1", "min_entity_density = much"])
def test_a_floor_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="min_entity_density"):
        parse_filter(text)


def test_a_floor_is_written_as_it_is_read() -> None:
    condition = parse_filter("min_entity_density = 0.05 and year is 2020")

    assert render(condition) == "min_entity_density >= 0.05 and year is 2020"
    assert parse_filter(render(condition)) == condition


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"semantic_type_primary_in": ["definition"]}, {"What"}),
        ({"semantic_type_primary_in": ["table", "procedure"]}, {"Table", "Steps"}),
        ({"min_entity_density": 0.12}, {"What", "Steps", "Table"}),
        ({"semantic_type_primary_in": ["narrative"], "min_entity_density": 0.12}, set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_passages_of_one_document_are_told_apart(
    request_: Mapping[str, object], mode: str, expected: set[str], tmp_path: Path
) -> None:
    (tmp_path / "gdp.md").write_text(PASSAGES, encoding="utf-8")
    settings = Settings(chunk=ChunkSettings(size=64))
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        index.sync(tmp_path)
        hits = index.search("GDP", filter=filter_from_json(request_), mode=mode).hits

    assert {hit.heading[-1] for hit in hits} == expected
