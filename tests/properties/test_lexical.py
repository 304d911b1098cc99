"""Laws of the analyzer, of phrases and of parsing, on any text at all."""

import os
import random
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from twofold import kernels
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import TermCounts, TermQuery
from twofold.query.parse import Analysis, parse
from twofold.text import phrases
from twofold.text.analyzer import EXACT, Analyzer
from twofold.text.analyzers import analyzer_for
from twofold.text.bm25 import reference_scores
from twofold.text.languages import Language, language_of, stop_words
from twofold.text.ngrams import NGRAM
from twofold.text.phrases import occurrences, occurs, squeeze
from twofold.text.tokenizer import Kind
from twofold.text.unicode_normalization import fold, fold_with_places, normalize, normalize_with_places

ANALYZERS = {
    spec: analyzer_for(spec)
    for spec in ("english", "french", "turkish", "simple", "code", "cjk", "english+2", "code+4")
}
NATIVE = {
    spec: (analyzer_for(spec), Analyzer(spec, language, humps=spec == "code", native=False))
    for spec, language in (
        *((spec, language_of(spec)) for spec in ("english", "german", "french", "italian", "russian")),
        *((spec, Language()) for spec in ("simple", "code", "cjk")),
    )
}
WORDS = [
    "Running",
    "GDP",
    "don\u2019t",
    "l'avion",
    "Stra\u00dfe",
    "\u0130",
    "I",
    "the",
    "370",
    "हिन्दी",
    "ภาษา",
    "東京都",
    "水",
]
CODES = ["ERR-12345", "v1.2.3", "C++", ".NET", "foo_bar", "parseHTTPResponse", "--hard", "Article 370", "U.S.A.", "a/b"]
MARKS = [
    "a\u0301",
    "e\u0323\u0301",
    "\u1112\u1161\u11ab",
    "\ufb01",
    "\uff76\uff9e",
    "\u0345",
    "\u0344",
    "\u00ad",
    "\u200d",
]
SIGNS = [" ", "  ", "\n", "\u3000", ".", ",", "'", "-", "_", '"', "+", "/", "(", "\x00", "\ud800", "\U0001f389"]
PIECES = [*WORDS, *CODES, *MARKS, *SIGNS]
ANY_TEXT = st.text(st.characters(), max_size=80)
TEXT = ANY_TEXT | st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
ASCII = st.text(st.sampled_from("aBcS.,:;'\"-_+#/&@<>(){}[]!?09 \t\n\x00\x1f"), max_size=60)
ANALYZER = st.sampled_from(list(ANALYZERS.values()))
TERM_COUNTS = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 9), max_size=5)


@given(ANALYZER, TEXT)
def test_terms_counted_are_terms_found(analyzer: Analyzer, text: str) -> None:
    counts = analyzer.counts(text)
    tokens = [token.term for token in analyzer.tokens(text)]

    assert counts.counts == Counter(tokens)
    assert counts.length == sum(not term.startswith(EXACT) for term in tokens)


@given(st.sampled_from(list(NATIVE)), TEXT | ASCII)
def test_the_loop_in_c_finds_what_the_one_in_python_finds(spec: str, text: str) -> None:
    fast, slow = NATIVE[spec]
    found, expected = fast.counts(text), slow.counts(text)

    assert list(found.counts.items()) == list(expected.counts.items())
    assert found.length == expected.length
    assert list(fast.tokens(text)) == list(slow.tokens(text))
    assert fast.query(text) == slow.query(text)


def test_the_loop_in_c_is_what_was_tested() -> None:
    assert kernels.Runs is not None


def test_more_words_than_are_remembered_are_counted_right() -> None:
    words = [f"w{number}" for number in range(140_000)]
    fast = analyzer_for("simple")

    for text in (" ".join(words), " ".join(words[::-1])):
        assert fast.counts(text).counts == dict.fromkeys(words, 1)
    assert fast.counts(",".join([*words, *words])).counts == Counter([*words, *words])


@given(ANALYZER, TEXT)
def test_what_is_asked_is_what_is_indexed(analyzer: Analyzer, text: str) -> None:
    held = analyzer.counts(text).counts

    assert set(analyzer.query(text)) <= set(held)
    assert set(analyzer.phrase_terms(text)) <= set(held)
    assert set(analyzer.clause_terms(text)) <= set(held)
    assert all(weight > 0 for weight in analyzer.query(text).values())


@given(ANALYZER, TEXT)
def test_a_place_shows_the_term(analyzer: Analyzer, text: str) -> None:
    for token in analyzer.tokens(text):
        assert 0 <= token.start < token.end <= len(text)
        surface = text[token.start : token.end]
        assert token.kind is Kind.NGRAM or token.term in analyzer.counts(surface).counts


@given(ANALYZER, TEXT)
def test_a_word_ngram_stands_from_its_first_word_to_its_last(analyzer: Analyzer, text: str) -> None:
    tokens = list(analyzer.tokens(text))
    starts = {(token.term, token.start) for token in tokens if token.kind is Kind.WORD}
    ends = {(token.term, token.end) for token in tokens if token.kind is Kind.WORD}
    for token in tokens:
        if token.kind is Kind.NGRAM:
            words = token.term.removeprefix(NGRAM).split(" ")
            assert (words[0], token.start) in starts
            assert (words[-1], token.end) in ends


@given(ANALYZER, TEXT)
def test_terms_can_be_stored_and_shown(analyzer: Analyzer, text: str) -> None:
    for term in analyzer.counts(text).counts:
        assert term.encode()
        assert term.replace(" ", "").isprintable()
        assert not term.removeprefix(EXACT).startswith(" ")
        assert len(term) <= 520


@given(ANALYZER, TEXT)
def test_case_of_plain_text_makes_no_difference_to_its_words(analyzer: Analyzer, text: str) -> None:
    assume(analyzer not in (ANALYZERS["code"], ANALYZERS["code+4"], ANALYZERS["turkish"]))
    assume("\u0345" not in normalize(text))  # an accent that folding makes a letter
    plain = fold(text)
    words = [term for term in analyzer.counts(text).counts if not term.startswith(EXACT)]

    assert set(words) == {term for term in analyzer.counts(plain).counts if not term.startswith(EXACT)}


@given(TEXT)
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    for change in (normalize, fold, squeeze):
        assert change(change(text)) == change(text)


@given(TEXT | ASCII)
def test_squeezing_is_folding_and_one_space_between_words(text: str) -> None:
    assert squeeze(text) == " ".join(" ".join(fold(run) for run in text.split()).split())


@given(TEXT)
def test_places_do_not_change_the_text(text: str) -> None:
    for change, with_places in ((normalize, normalize_with_places), (fold, fold_with_places)):
        found = with_places(text)

        assert found.text == change(text)
        assert len(found.text) == len(found.starts) == len(found.ends)
        assert list(found.starts) == sorted(found.starts)
        assert all(0 <= start < end <= len(text) for start, end in zip(found.starts, found.ends, strict=True))


@given(TEXT, TEXT)
def test_a_phrase_occurs_where_it_is_said_to(phrase: str, text: str) -> None:
    spans = occurrences(phrase, text)

    assert bool(spans) == (occurs(phrase, text) and bool(squeeze(phrase)))
    for start, end in spans:
        assert squeeze(phrase) in squeeze(text[start:end])


@given(TEXT, TEXT, TEXT)
def test_a_text_between_spaces_occurs(before: str, phrase: str, after: str) -> None:
    assert occurs(phrase, f"{before} {phrase} {after}")


@given(ANALYZER, TEXT, TEXT, TEXT)
def test_a_phrase_between_spaces_is_never_lost_to_its_terms(
    analyzer: Analyzer, before: str, phrase: str, after: str
) -> None:
    assert set(analyzer.phrase_terms(phrase)) <= set(analyzer.counts(f"{before} {phrase} {after}").counts)


@given(TEXT)
def test_any_question_is_parsed_or_refused(text: str) -> None:
    analyzer = ANALYZERS["english"]
    try:
        found = parse(text, Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms))
    except InvalidInputError:
        return

    assert found.words.strip()
    assert found.words.encode()
    assert not any(unicodedata.category(character) == "Cc" for character in found.words)
    assert all(clause.terms or squeeze(clause.verbatim) for clause in found.required + found.excluded)
    assert set(found.terms.weights) <= set(analyzer.counts(found.words).counts)


@given(
    st.lists(TERM_COUNTS, min_size=1, max_size=6),
    st.dictionaries(st.sampled_from("abcde"), st.floats(0.25, 4.0), max_size=5),
)
def test_scores_are_never_negative_and_zero_only_without_a_term(
    held: list[dict[str, int]], weights: dict[str, float]
) -> None:
    passages = [TermCounts(counts, sum(counts.values())) for counts in held]

    for passage, score in zip(passages, reference_scores(TermQuery(weights), passages), strict=True):
        assert (score > 0.0) == any(term in passage.counts for term in weights)


@given(st.integers(1, 50), st.integers(1, 50))
def test_one_occurrence_more_never_lowers_a_score(count: int, other: int) -> None:
    passages = [TermCounts({"a": times, "b": 100 - times}, 100) for times in (count, count + 1)] + [
        TermCounts({"b": other}, other)
    ]
    fewer, more, _ = reference_scores(TermQuery({"a": 1.0}), passages)

    assert more > fewer


@settings(max_examples=1)
@given(st.just("Running dogs, GDP and ERR-12345 in Article 370 of 東京都"))
def test_terms_are_the_same_in_every_process(text: str) -> None:
    program = (
        "from twofold.text.analyzers import analyzer_for;"
        f"print(list(analyzer_for('english').counts({text!r}).counts.items()))"
    )
    source = str(Path(__file__).resolve().parents[2] / "src")
    outputs = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source, "PYTHONIOENCODING": "utf-8"}
        outputs.add(
            subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout
        )

    assert len(outputs) == 1


@pytest.mark.parametrize("language", ["english", "german", "french", "russian", "turkish", "greek", "catalan"])
def test_stop_words_are_written_as_text_is_folded(language: str) -> None:
    words = stop_words(language)

    assert len(words) > 80
    assert words == {fold(word) for word in words}


@given(
    st.lists(st.sampled_from(["a", "ab", "1", ".", " ", "é", "水", "ก", "_", "'", "\u0301"]), max_size=30).map("".join)
)
def test_no_place_of_a_phrase_is_passed_over(text: str) -> None:
    squeezed = squeeze(text)
    for wanted in {squeezed[start:end].strip() for start in range(6) for end in range(start + 1, start + 4)} - {""}:
        tried = []
        for at in range(len(squeezed)):
            whole = squeezed.startswith(wanted, at)
            if whole and phrases._is_border(squeezed, at) and phrases._is_border(squeezed, at + len(wanted)):
                tried.append(at)
        apart: list[int] = []
        for at in tried:
            if not apart or at >= apart[-1] + len(wanted):
                apart.append(at)

        assert list(phrases._places(wanted, squeezed)) == apart


SETTLED = [*range(0x80), *range(0x3041, 0x3097), *range(0x30A1, 0x30FB), *range(0x4E00, 0xA000), *range(0xAC00, 0xD7A4)]


def test_characters_that_are_left_as_they_are_neither_change_nor_compose() -> None:
    every = "".join(map(chr, SETTLED))
    shuffled = "".join(random.Random(5).sample(every, len(every)))  # noqa: S311  # no secret

    for text in (every, every[::-1], shuffled):
        assert unicodedata.normalize("NFKC", text) == text == normalize(text)
        assert not any(map(unicodedata.combining, text))
        assert len(fold(text)) == len(text)


def test_a_character_and_its_mark_compose_also_behind_characters_that_are_left_as_they_are() -> None:
    assert normalize("漢か\u3099字") == "漢が字"
    assert normalize_with_places("漢か\u3099字")[1:] == ((0, 1, 3), (1, 3, 4))
