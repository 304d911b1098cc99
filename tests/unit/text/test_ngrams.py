from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import TermCounts, TermQuery
from twofold.text.analyzer import EXACT, WEIGHTS, is_about_a_code
from twofold.text.analyzers import analyzer_for
from twofold.text.bm25 import reference_scores
from twofold.text.ngrams import MAX_NGRAM_LENGTH, NGRAM, ngrams, shown
from twofold.text.tokenizer import Kind

SPECS = ["english", "french", "simple", "code", "cjk"]
TEXTS = st.lists(
    st.sampled_from(
        ["soft", "Reset", "the", "GDP", "git-reset:", "ERR-12", "C++", "c", "l'avion", "parseHTTP2", "Art. 370", "東京"]
    ),
    max_size=20,
).map(" ".join)


def pairs(text: str, spec: str = "english+2") -> list[str]:
    return [token.term for token in analyzer_for(spec).tokens(text) if token.kind is Kind.NGRAM]


def slow(words: Sequence[str], most: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for start in range(len(words)):
        for end in range(start + 2, min(len(words), start + most) + 1):
            if "" not in words[start:end]:
                found[NGRAM + " ".join(words[start:end])] += 1
    return found


@pytest.mark.parametrize(
    ("spec", "text", "terms"),
    [
        ("english+2", "Soft resets, twice", ["=+soft reset", "=+reset twice"]),
        ("simple+2", "Soft resets, twice", ["=+soft resets", "=+resets twice"]),
        ("english+3", "git soft reset", ["=+git soft", "=+soft reset", "=+git soft reset"]),
        ("english+2", "reset of the branch", []),
        ("simple+2", "reset of it", ["=+reset of", "=+of it"]),
        ("english+2", "git-reset ERR-12", ["=+git reset", "=+reset err", "=+err 12"]),
        ("code+2", "parseHTTPResponse2 body", ["=+parse http", "=+http response2", "=+response2 body"]),
        ("english+2", "east 東京 west wind", ["=+west wind"]),
        ("french+2", "l'avion bleu", ["=+avion bleu"]),
        ("english+4", "alone", []),
        ("english+4", "", []),
    ],
)
def test_words_side_by_side_are_terms_and_a_stop_word_is_not_bridged(spec: str, text: str, terms: list[str]) -> None:
    assert pairs(text, spec) == terms


@given(st.lists(st.sampled_from(["", "a", "b", "cc"]), max_size=12), st.integers(2, 4))
def test_every_window_of_words_is_found_and_no_other(words: list[str], most: int) -> None:
    found = list(ngrams(words, most))

    assert Counter(term for term, _, _ in found) == slow(words, most)
    assert all(term == NGRAM + " ".join(words[start:end]) for term, start, end in found)


@given(st.sampled_from(SPECS), st.integers(2, 4), TEXTS)
def test_a_passage_keeps_its_terms_and_its_length_and_gains_few(spec: str, most: int, text: str) -> None:
    without, found = analyzer_for(spec).counts(text), analyzer_for(f"{spec}+{most}").counts(text)
    more = {term: count for term, count in found.counts.items() if term.startswith(NGRAM)}

    assert TermCounts({term: found.counts[term] for term in found.counts if term not in more}, found.length) == without
    assert sum(more.values()) <= (most - 1) * found.length


@given(st.sampled_from(SPECS), st.integers(2, 4), TEXTS)
def test_a_question_keeps_its_terms_and_its_words_weigh_most(spec: str, most: int, text: str) -> None:
    without, found = analyzer_for(spec).query(text), analyzer_for(f"{spec}+{most}").query(text)
    more = {term: weight for term, weight in found.items() if term.startswith(NGRAM)}

    assert {term: weight for term, weight in found.items() if term not in more} == without
    assert list(found)[: len(without)] == list(without)
    assert sum(more.values()) <= 0.35 * sum(weight for term, weight in without.items() if not term.startswith(EXACT))
    assert set(more) <= set(analyzer_for(f"{spec}+{most}").counts(text).counts)


@given(st.sampled_from(SPECS), st.integers(2, 4), TEXTS)
def test_clauses_phrases_and_codes_are_as_without(spec: str, most: int, text: str) -> None:
    without, found = analyzer_for(spec), analyzer_for(f"{spec}+{most}")

    assert found.clause_terms(text) == without.clause_terms(text)
    assert found.phrase_terms(text) == without.phrase_terms(text)
    assert is_about_a_code(found.query(text), found.counts) == is_about_a_code(without.query(text), without.counts)


def test_a_pair_asked_for_often_is_no_code() -> None:
    analyzer = analyzer_for("english+2")
    weights = analyzer.query("vitamin b12 " * 6)

    assert weights["=+vitamin b12"] > 1.0
    assert not is_about_a_code(weights, analyzer.counts)


def test_a_longer_one_weighs_half_as_much() -> None:
    assert analyzer_for("english+4").query("git soft reset branch") == {
        "git": 1.0,
        "soft": 1.0,
        "reset": 1.0,
        "branch": 1.0,
        "=+git soft": 0.2,
        "=+soft reset": 0.2,
        "=+git soft reset": 0.1,
        "=+reset branch": 0.2,
        "=+soft reset branch": 0.1,
        "=+git soft reset branch": 0.05,
    }


def test_what_exact_forms_are_kept_out_of_keeps_these_out_too() -> None:
    assert NGRAM.startswith(EXACT)
    assert 0.0 < WEIGHTS[Kind.NGRAM] < WEIGHTS[Kind.WORD]


def test_side_by_side_outranks_apart_and_a_word_more_outranks_both() -> None:
    analyzer = analyzer_for("english+2")
    passages = ["a soft reset of git", "git: reset, then soft", "reset then go soft", "soft reset then go", "none here"]
    all_three, parted, two_apart, two_beside, none = reference_scores(
        TermQuery(analyzer.query("git soft reset")), [analyzer.counts(passage) for passage in passages]
    )

    assert all_three > parted > two_beside > two_apart > none == 0.0


def test_words_too_long_together_are_no_ngram() -> None:
    half = (MAX_NGRAM_LENGTH - len(NGRAM) - 1) // 2

    assert pairs(f"{'x' * half} {'y' * half}", "simple+2") == [f"{NGRAM}{'x' * half} {'y' * half}"]
    assert pairs(f"{'x' * half} {'y' * (half + 2)}", "simple+2") == []


def test_a_place_covers_all_of_its_words() -> None:
    text = "Undo: git-reset\n hard (twice)."
    found = {token.term: text[token.start : token.end] for token in analyzer_for("english+2").tokens(text)}

    assert found["=+git reset"] == "git-reset"
    assert found["=+reset hard"] == "reset\n hard"
    assert found["=+hard twice"] == "hard (twice"


def test_counts_end_where_sixteen_bits_do() -> None:
    assert analyzer_for("simple+2").counts("dog " * 70_000) == TermCounts({"dog": 65_535, "=+dog dog": 65_535}, 70_000)


@pytest.mark.parametrize("spec", ["english+", "english+1", "english+5", "english+02", "english+2+2", "+2", "klingon+2"])
def test_another_number_is_refused_with_those_there_are(spec: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        analyzer_for(spec)

    assert "2, 3 or 4" in str(refused.value)
    assert "english+2" in str(refused.value)


def test_an_analyzer_with_ngrams_describes_itself_as_another() -> None:
    specs = ["english", "english+2", "english+3", "english+4", "porter+2"]

    assert len({analyzer_for(spec).describe() for spec in specs}) == len(specs)
    assert analyzer_for(" English+2 ").describe().startswith("english+2 ")


def test_an_ngram_is_shown_with_its_words_apart() -> None:
    assert shown("=+git soft reset") == "git + soft + reset"
