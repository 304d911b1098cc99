"""Enrichment before retrieval, with five keywords a passage, not twenty."""

from collections.abc import Mapping

from twofold.domain.types import Chunk, Document, MetadataValue
from twofold.factory.indexing import ENRICHERS
from twofold.indexing.components import NO_ENRICHING, CustomEnricher, IndexingComponents
from twofold.indexing.prepare import prepare
from twofold.indexing.spread import Prepared
from twofold.ingest.enrich import enrich
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.memory import MemoryStore
from twofold.text.analyzers import analyzer_for

TEXT = (
    "Article 370 and Section 12 of the IPC, read with Article 21, were argued in 1973 before the SC by NABARD and RBI"
    " in ERR-12345. NABARD and SEZ and DPSP followed in 1975, 1976, 1977 and 1978."
)


def fields(text: str) -> Mapping[str, MetadataValue]:
    return enrich(Chunk("doc", 0, text, 0, len(text)))


def test_at_most_five_keywords_and_those_the_focused_ones() -> None:
    assert fields(TEXT)["keywords"] == ("Article 370", "Section 12", "Article 21", "ERR-12345", "NABARD")


def test_the_worked_example() -> None:
    assert fields("Article 370 gave Jammu and Kashmir a special status in 1949.") == {
        "word_count": 11,
        "entity_density": 0.3636,
        "keywords": ("Article 370", "1949"),
        "semantic_type_primary": "narrative",
        "omit_flag": False,
        "chunk_quality": "ok",
        "retrieval_score": 0.5424,  # (0.5 + 2 · 0.3636 + 2 / 5) / 3
    }


def prepared(enriching: CustomEnricher) -> Prepared:
    embedder = HashingEmbedder()

    def whole(document: Document) -> tuple[Chunk, ...]:
        return (Chunk(document.id, 0, document.text, 0, len(document.text)),)

    parts = IndexingComponents(MemoryStore(), embedder, analyzer_for("english"), whole, "whole", enriching=enriching)
    return prepare([Document("a", "a.txt", TEXT)], parts, None, lambda _: None)


def test_an_enricher_is_replaced_by_ones_own_or_by_none() -> None:
    for enriching, expected in (
        (ENRICHERS["rules"], fields(TEXT)),
        (NO_ENRICHING, {}),
        (CustomEnricher("shout", lambda chunk: {"loud": chunk.text.isupper()}), {"loud": False}),
    ):
        assert prepared(enriching).entries[0].chunks[0].chunk.metadata == expected


def test_what_is_indexed_does_not_change_by_it() -> None:
    (with_fields,), (without,) = (prepared(one).entries[0].chunks for one in (ENRICHERS["rules"], NO_ENRICHING))

    assert with_fields.chunk.indexed_text == without.chunk.indexed_text
    assert with_fields.terms == without.terms
    assert with_fields.vector is not None
    assert without.vector is not None
    assert with_fields.vector.tolist() == without.vector.tolist()
