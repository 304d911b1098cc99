"""Checklist item 3: what every passage carries, and what of it can be filtered by."""

from collections.abc import Iterator

import pytest

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.filter_syntax import parse_filter

TEXT = """Article 370 gave Jammu and Kashmir a special status in 1949, and Delhi took it away in 2019.
"""


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        made.add(TEXT, source="notes/plan.md", metadata={"repository": "wiki", "last_modified": "2025-01-02"})
        made.add("GDP", source="short.md")
        yield made


def test_a_passage_has_an_id_a_number_a_text_a_place_and_fields(index: Index) -> None:
    (chunk,) = index.chunks("notes/plan.md")

    assert chunk.id == f"{chunk.document}_chunk_0"
    assert chunk.ordinal == 0
    assert index.document("notes/plan.md").text[chunk.start : chunk.end] == chunk.text
    assert set(chunk.metadata) == {
        "chunk_quality", "entity_density", "keywords", "omit_flag", "retrieval_score", "semantic_type_primary",
        "word_count",
    }  # fmt: skip
    assert chunk.metadata["word_count"] == 18


@pytest.mark.parametrize(
    "condition",
    [
        "repository = wiki",
        "type = .md and semantic_type_primary = narrative",
        "source contains plan",
        "last_modified >= 2025-01-01",
        "chunk_quality in [ok, high] and omit_flag = false",
        "entity_density >= 0.12",
        "keywords = 'Article 370'",
        "word_count > 10",
    ],
)
def test_each_of_them_can_be_asked_for(index: Index, condition: str) -> None:
    hits = index.search("special status", filter=parse_filter(condition)).hits

    assert "notes/plan.md" in {hit.source for hit in hits}


def test_what_a_passage_does_not_have_drops_it_and_raises_nothing(index: Index) -> None:
    assert not index.search("special status", filter=parse_filter("page = 3")).hits
    assert not index.search("special status", filter=parse_filter("word_count > 100")).hits
