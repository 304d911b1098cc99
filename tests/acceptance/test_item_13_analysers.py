"""Checklist 13 and C9: words as they are, without stems, or by their stems; codes and names match exactly in both."""

import pytest

from indexed import indexed, sources
from twofold import Index

TEXTS = {
    "fund": "The fund was closed.",
    "amend": "They amend the law.",
    "fundamental": "A fundamental right.",
    "amendments": "Two amendments passed.",
    "gdp": "GDP grew in the SEZ, says NABARD, under the DPSP.",
    "gdpr": "The GDPR is a law on data.",
    "370": "Article 370 was revoked.",
    "371": "Article 371 stands, on page 370.",
    "section": "See section 12.3 of the act.",
    "sections": "See section 12.4 of the act.",
}


@pytest.fixture(scope="module")
def simple() -> Index:
    return indexed(TEXTS, {"analyser": "simple"})


@pytest.fixture(scope="module")
def english() -> Index:
    return indexed(TEXTS, {"analyser": "english"})


def by_words(index: Index, question: str) -> list[str]:
    return sources(index.search(question, mode="bm25"))


def test_without_stems_a_word_matches_itself_alone(simple: Index) -> None:
    assert by_words(simple, "fundamental") == ["fundamental"]
    assert by_words(simple, "fund") == ["fund"]
    assert by_words(simple, "amendment") == []
    assert by_words(simple, "amend") == ["amend"]


def test_with_stems_it_matches_its_other_forms_and_drops_stop_words(english: Index) -> None:
    assert sorted(by_words(english, "amendment")) == ["amend", "amendments"]
    assert by_words(english, "funds") == ["fund"]
    assert by_words(english, "the funds") == ["fund"]


@pytest.mark.parametrize("analyser", ["simple", "english"])
@pytest.mark.parametrize(
    ("question", "first"),
    [("GDP", "gdp"), ("SEZ", "gdp"), ("NABARD", "gdp"), ("DPSP", "gdp"), ("Article 370", "370"), ("12.3", "section")],
)
def test_abbreviations_articles_and_sections_match_exactly(
    simple: Index, english: Index, analyser: str, question: str, first: str
) -> None:
    found = by_words({"simple": simple, "english": english}[analyser], question)

    assert found[0] == first
    assert "gdpr" not in found


def test_how_words_are_found_is_fixed_when_the_index_is_made(simple: Index) -> None:
    recipe = simple.info().recipe

    assert recipe is not None
    assert recipe.analyser.startswith("simple")
