import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import MAX_QUESTION_LENGTH, Clause
from twofold.query import parse as parsing
from twofold.query.parse import Analysis, ParsedQuery, normalize, parse
from twofold.query.parts import Expansion
from twofold.text.analyzers import analyzer_for
from twofold.text.unicode_normalization import fold


def parsed(text: str, spec: str = "english") -> ParsedQuery:
    analyzer = analyzer_for(spec)
    return parse(text, Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms))


def test_checklist_12_a_question_is_normalized_and_its_original_kept() -> None:
    found = parsed("  What is dbt?  ")

    assert found.original == "  What is dbt?  "
    assert found.normalized == "what is dbt"
    assert found.normalized.split() == ["what", "is", "dbt"]
    assert found.words == "What is dbt?"
    assert list(found.terms.weights) == ["dbt"]


@given(text=st.text(alphabet='abFY12ORfo-+.,:"\u201c\u201d\xab*?() \t\u3000\u6c34', max_size=24))
def test_a_question_of_words_alone_is_taken_apart_as_the_whole_grammar_does(text: str) -> None:
    analyzer = analyzer_for("english")
    own = (fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms)
    analysis = Analysis(*own, expand=lambda pattern: Expansion((f"{pattern}s",)))

    def outcome() -> object:
        try:
            made = parse(text, analysis)
        except InvalidInputError as error:
            return str(error)
        return made, made.notes, made.warnings

    with pytest.MonkeyPatch.context() as patch:
        found = outcome()
        patch.setattr(parsing, "is_words_alone", lambda _: False)
        assert found == outcome()


def test_operators_are_told_from_words() -> None:
    found = parsed('undo +commit -merge "soft reset" -"hard  reset"')

    assert found.words == "undo commit soft reset"
    assert found.terms.weights == {"undo": 1.0, "commit": 1.0, "soft": 1.0, "reset": 1.0}
    assert found.required == (Clause(("commit",)), Clause(("soft", "reset"), "soft reset"))
    assert found.excluded == (Clause(("merg",)), Clause(("hard", "reset"), "hard  reset"))


@pytest.mark.parametrize(
    "text",
    [
        "git-reset well-known",
        "reset --hard",
        "a - b",
        "a -- b",
        "a -> b",
        "C++ notes",
        "5 + 3",
        "don't 'quote' me",
        '5" pipes',
        "x +- y",
    ],
)
def test_signs_that_are_no_operators_are_left_alone(text: str) -> None:
    found = parsed(text)

    assert (found.words, found.required, found.excluded) == (text, (), ())


@pytest.mark.parametrize(
    "quoted",
    [
        '"soft reset"',
        "\u201csoft reset\u201d",
        "\u201esoft reset\u201c",
        "\xabsoft reset\xbb",
        '+"soft reset"',
        '" soft reset "',
    ],
)
def test_quotes_of_every_make_ask_for_a_phrase(quoted: str) -> None:
    assert parsed(quoted).required == (Clause(("soft", "reset"), "soft reset"),)
    assert parsed(quoted).words == "soft reset"


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("-ERR-12345", Clause(("=err-12345",))),
        ("-git-reset,", Clause(("=git-reset",))),
        ("-merging", Clause(("merg",))),
        ("-IT", Clause(("=IT",))),
        ("-the", Clause(("=the",))),
        ("-a/b.", Clause(("=a", "b"), "a/b")),
        ("-\U0001f389", Clause((), "\U0001f389")),
        ('-"->"', Clause((), "->")),
        ("-東京都", Clause(("東京", "京都"), "東京都")),
    ],
)
def test_what_is_excluded_is_no_more_than_was_said(text: str, clause: Clause) -> None:
    assert parsed(f"word {text}").excluded == (clause,)


def test_clauses_are_not_repeated() -> None:
    assert parsed("+merge +merging -reset -resets").required == (Clause(("merg",)),)


@pytest.mark.parametrize(
    "text", ['word -"\u00ad"', 'word -"\ufe0f"', 'word ""', 'word -""', "word -\u200b", "word \u201c\u201d"]
)
def test_an_exclusion_of_nothing_excludes_nothing(text: str) -> None:
    assert parsed(text).excluded == parsed(text).required == ()


@pytest.mark.parametrize("text", ["", "   ", "\t\n", '""', "???", "-", "+", '"', "\x00", "\u00ad"])
def test_a_question_without_words_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parsed(text)

    assert refused.value.hint


@pytest.mark.parametrize("text", ["-merge", '-"soft reset"', "-aa -bb -cc"])
def test_a_question_that_only_excludes_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="only says what not to find"):
        parsed(text)


def test_a_question_beyond_the_limit_is_refused_and_one_at_it_is_not() -> None:
    assert parsed("a" * MAX_QUESTION_LENGTH).words
    with pytest.raises(InvalidInputError, match="4,097"):
        parsed("a" * (MAX_QUESTION_LENGTH + 1))


def test_characters_count_as_they_are_written_out() -> None:
    ligature = "\ufdfa"  # eighteen letters
    assert parsed(ligature * (MAX_QUESTION_LENGTH // 18)).words
    with pytest.raises(InvalidInputError, match="characters"):
        parsed(ligature * (MAX_QUESTION_LENGTH // 18 + 1))


def test_an_emoji_alone_is_a_question_for_the_vectors() -> None:
    assert parsed("\U0001f389").words == "\U0001f389"
    assert parsed("\U0001f389").terms.weights == {}


def test_control_characters_and_halves_of_surrogates_do_no_harm() -> None:
    found = parsed("soft\x00reset \ud800 \x1b[31mred")

    assert found.words == "soft reset \ufffd [31mred"
    assert found.original.encode()


def test_a_phrase_of_stop_words_can_be_asked_for() -> None:
    found = parsed('"the who"')

    assert found.required == (Clause(("=the", "=who"), "the who"),)
    assert set(found.terms.weights) == {"=the", "=who"}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Fix for ERR-12345?", "fix for err-12345"),
        ("(see) `git-reset.html`!", "see git-reset.html"),
        ("C++, C# & .NET", "c++ c# .net"),
        ("reset --hard", "reset --hard"),
        ("\uff26\uff35\uff2c\uff2c  Stra\u00dfe", "full strasse"),
        ("?!", ""),
    ],
)
def test_normalizing_keeps_codes_whole(text: str, plain: str) -> None:
    assert normalize(text, fold) == plain
    assert normalize(plain, fold) == plain
