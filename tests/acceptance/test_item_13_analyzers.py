"""Checklist 13 and C9: words as they are, without stems, or by their stems; codes and names match exactly in both.

Word n-grams, where an analyzer's name asks for them, put words that stand side by side first, and change nothing else.
"""

from pathlib import Path

import pytest

from support.indexes import indexed, sources
from twofold import Index
from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.models.embedders.hashing import HashingEmbedder

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
    return indexed(TEXTS, {"analyzer": "simple"})


@pytest.fixture(scope="module")
def english() -> Index:
    return indexed(TEXTS, {"analyzer": "english"})


def by_words(index: Index, question: str) -> list[str]:
    return sources(index.search(question, mode="bm25"))


def test_without_stems_a_word_matches_itself_alone(simple: Index) -> None:
    assert by_words(simple, "fundamental") == ["fundamental"]
    assert by_words(simple, "fund") == ["fund"]
    other = simple.search("amendment", mode="bm25")  # nothing has it, so that another spelling was searched for
    assert [one.code for one in other.warnings] == ["corrected"]
    assert by_words(simple, "amend") == ["amend"]


def test_with_stems_it_matches_its_other_forms_and_drops_stop_words(english: Index) -> None:
    assert sorted(by_words(english, "amendment")) == ["amend", "amendments"]
    assert by_words(english, "funds") == ["fund"]
    assert by_words(english, "the funds") == ["fund"]


@pytest.mark.parametrize("analyzer", ["simple", "english"])
@pytest.mark.parametrize(
    ("question", "first"),
    [("GDP", "gdp"), ("SEZ", "gdp"), ("NABARD", "gdp"), ("DPSP", "gdp"), ("Article 370", "370"), ("12.3", "section")],
)
def test_abbreviations_articles_and_sections_match_exactly(
    simple: Index, english: Index, analyzer: str, question: str, first: str
) -> None:
    found = by_words({"simple": simple, "english": english}[analyzer], question)

    assert found[0] == first
    assert "gdpr" not in found


def test_how_words_are_found_is_fixed_when_the_index_is_made(simple: Index) -> None:
    fingerprint = simple.info().fingerprint

    assert fingerprint is not None
    assert fingerprint.analyzer.startswith("simple")


RESETS = {
    "apart": "A reset makes the landing soft.",
    "beside": "Soft resets keep the landing.",
    "bridged": "Be soft, and the reset makes a landing.",
    "one": "A hard reset, a hard landing.",
    "other": "Nothing of the kind is here.",
}
ASKED = "soft reset"


def ngrams_told(index: Index, question: str, **settings: object) -> set[str]:
    found = index.search(question, k=9, mode="hybrid", settings=settings)
    return {term.term for hit in found.hits for term in hit.trace.terms if term.term.startswith("=+")}


def test_word_ngrams_put_words_side_by_side_first() -> None:
    pairs = indexed(RESETS, {"analyzer": "english+2"})
    found = pairs.search(ASKED, mode="bm25")
    scores = {hit.source: hit.score for hit in found.hits}
    told = {term.term: term for term in found.hits[0].trace.terms}

    assert sources(found)[0] == "beside"
    assert scores["apart"] == pytest.approx(scores["bridged"])
    assert told["=+soft reset"].weight == 0.2
    assert sum(term.score for term in told.values()) == pytest.approx(scores["beside"])
    assert 0.0 < told["=+soft reset"].score < told["soft"].score


def test_word_ngrams_change_neither_other_questions_nor_phrases_nor_required_words() -> None:
    plain, pairs = indexed(RESETS, {"analyzer": "english"}), indexed(RESETS, {"analyzer": "english+2"})
    for question in ("landing", "the landing of the kind"):
        before, after = plain.search(question, mode="bm25"), pairs.search(question, mode="bm25")

        assert [(hit.source, hit.score) for hit in after.hits] == [(hit.source, hit.score) for hit in before.hits]
    for question in ('"soft resets"', "+soft -kind landing", "+reset -hard landing"):
        assert set(by_words(pairs, question)) == set(by_words(plain, question)) != set()


def test_a_question_grows_by_words_and_not_by_word_ngrams() -> None:
    pairs = indexed(RESETS, {"analyzer": "english+2"})

    assert ngrams_told(pairs, ASKED) == {"=+soft reset"}
    assert ngrams_told(pairs, ASKED, prf={"dense_terms": 5, "top_k": 0}) == {"=+soft reset"}
    assert ngrams_told(pairs, "landing") == set()


def test_word_ngrams_are_fixed_when_the_index_is_made(tmp_path: Path) -> None:
    with indexed(RESETS, {"analyzer": "english+3"}, where=tmp_path / "kept") as made:
        fingerprint = made.info().fingerprint
    with Index(tmp_path / "kept", embedder=HashingEmbedder()) as again:
        kept = again.search(ASKED, mode="bm25")

    assert fingerprint is not None
    assert fingerprint.analyzer.startswith("english+3 ")
    assert "=+soft reset" in {term.term for term in kept.hits[0].trace.terms}
    with (
        Index(tmp_path / "kept", overrides={"analyzer": "simple"}, embedder=HashingEmbedder()) as other,
        pytest.raises(MismatchError),
    ):
        other.add("A new text.", source="new")


def test_ngrams_of_a_number_that_there_is_not_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"english\+7"):
        indexed(RESETS, {"analyzer": "english+7"})
