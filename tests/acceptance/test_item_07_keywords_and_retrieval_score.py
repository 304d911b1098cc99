"""Checklist 7, and options of aanae: keywords in the lexical index, and the retrieval score as a signal of ranking."""

from pathlib import Path

import pytest

from support.exact_scores import COSINE_TOLERANCE, Known
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

WORDS = {"search.mode": "bm25", "prf": {"top_k": 0}}


def made(enricher: str) -> Index:
    return Index(":memory:", embedder=HashingEmbedder(), overrides={"analyzer": "simple", "enricher": enricher})


def test_a_passages_keywords_are_matched_by_words_where_the_index_is_made_so() -> None:
    """One passage: its idf is ln(1 + 0.5 / 1.5) = 0.287682, and it is of average length, so K is k1 = 1.2.

    `gdp` stands once in the text: 1 · 2.2 / (1 + 1.2) = 1. With the keywords GDP and 1999 it stands there twice:
    2 · 2.2 / (2 + 1.2) = 1.375.
    """
    for enricher, frequency, score in (("rules", 1, 0.287682), ("rules+keywords", 2, 0.395563)):
        with made(enricher) as index:
            index.add("The GDP rose in 1999", source="a")
            (hit,) = index.search("gdp", settings=WORDS).hits

        assert hit.metadata["keywords"] == ("GDP", "1999")
        assert [(term.term, term.frequency) for term in hit.trace.terms] == [("gdp", frequency)]
        assert hit.trace.retrievers[0].raw == pytest.approx(score, abs=1e-6)
        assert hit.text == "The GDP rose in 1999"


def test_the_first_five_keywords_of_a_document_count_and_no_sixth() -> None:
    keywords = ("Article 370", "DPSP", "NABARD", "1949", "SEZ", "sixth")
    with made("rules+keywords") as index:
        index.add("The valley had a special status.", source="a", metadata={"keywords": keywords})
        found = {word: len(index.search(word, settings=WORDS).hits) for word in ("370", "nabard", "sez", "sixth")}

    assert found == {"370": 1, "nabard": 1, "sez": 1, "sixth": 0}


def test_the_profile_makes_its_indexes_so_and_an_index_stays_as_it_was_made(tmp_path: Path) -> None:
    with Index(tmp_path / "a", overrides={"profile": "aanae", "embedder": "hashing"}) as index:
        index.add("The valley had a special status.", source="a", metadata={"keywords": ("DPSP",)})
        assert index.settings.enricher == "rules+keywords"
    with Index(tmp_path / "a") as index:
        index.add("The hills had none of it.", source="b", metadata={"keywords": ("DPSP",)})

        assert index.settings.enricher == "rules+keywords"
        assert {hit.source for hit in index.search("dpsp", settings=WORDS).hits} == {"a", "b"}


def test_seven_tenths_of_the_vector_and_three_of_the_retrieval_score() -> None:
    """0.7 · 0.75 + 0.3 · 0.2 = 0.585, and 0.7 · 0.5 + 0.3 · 0.9 = 0.62: what is worth more overtakes what is nearer."""
    settings = {"search.mode": "vector", "metadata_boost": {"alpha": 0.7, "retrieval_score": 0.3}}
    with Index(":memory:", embedder=Known({"near": 0.75, "worth": 0.5}), overrides={"prf": {"top_k": 0}}) as index:
        index.add("near: one", source="near", metadata={"retrieval_score": 0.2})
        index.add("worth: two", source="worth", metadata={"retrieval_score": 0.9})
        plain = index.search("zeta", settings={"search.mode": "vector"})
        result = index.search("zeta", settings=settings)

    assert [hit.source for hit in plain.hits] == ["near", "worth"]
    assert [hit.source for hit in result.hits] == ["worth", "near"]
    assert [hit.score for hit in result.hits] == pytest.approx([0.62, 0.585], abs=COSINE_TOLERANCE)
    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]


def test_the_rules_give_every_passage_a_retrieval_score() -> None:
    """Quality ok is 0.5, the density 4/11 = 0.3636 counts twice, two keywords of five: (0.5 + 0.7272 + 0.4) / 3."""
    with made("rules") as index:
        index.add("Article 370 gave Jammu and Kashmir a special status in 1949.", source="a")
        index.add("Home Login Next Search", source="menu")

        assert index.chunks("a")[0].metadata["retrieval_score"] == 0.5424
        assert index.chunks("menu")[0].metadata["retrieval_score"] == 0.0
