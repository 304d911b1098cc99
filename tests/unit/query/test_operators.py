"""Operators in a question: which words say where to look, and that all others stay words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Operator, Or, matches
from twofold.domain.types import MetadataValue
from twofold.query.operators import all_of
from twofold.query.parse import Analysis, ParsedQuery, parse
from twofold.text.analyzers import analyzer_for
from twofold.text.unicode_normalization import fold

ENGLISH = analyzer_for("english")
SQL = Condition("type", Operator.EQ, ".sql")
FIELDS: dict[str, MetadataValue] = {
    "source": "repo/models/staging/orders.sql",
    "title": "Annual Report of Orders",
    "type": (".sql",),
    "modified": "2025-01-31T23:59:00+00:00",
}


def parsed(text: str) -> ParsedQuery:
    return parse(text, Analysis(fold, ENGLISH.query, ENGLISH.phrase_terms, ENGLISH.clause_terms))


@pytest.mark.parametrize("said", ["type:.sql", "+type:.SQL", "type:.sql,", '"type:.md" type:.sql', 'type:".sql"'])
def test_a_type_is_asked_for(said: str) -> None:
    assert parsed(f"joins {said}").filter == SQL


def test_a_type_without_its_dot_may_be_a_suffix_or_a_word_of_the_metadata() -> None:
    expected = Or((SQL, Condition("type", Operator.EQ, "sql"), Condition("type", Operator.EQ, ".md")))
    assert parsed("joins type:sql,.md").filter == expected


def test_a_question_with_operators_keeps_its_words_its_clauses_and_its_original() -> None:
    text = 'Orders type:.sql -path:old "left join" after:2025-01-01 +key -draft'
    found = parsed(text)

    assert found.original == text
    assert found.words == "Orders left join key"
    assert found.normalized == "orders left join key draft"
    assert found.filter == And(
        (
            SQL,
            Not(Condition("source", Operator.CONTAINS, "old")),
            Or(
                (
                    Condition("modified", Operator.GE, "2025-01-01"),
                    Condition("last_modified", Operator.GE, "2025-01-01"),
                )
            ),
        )
    )
    assert (len(found.required), len(found.excluded)) == (2, 1)
    assert set(found.terms.weights) == {"order", "left", "join", "key"}


@pytest.mark.parametrize(
    "said",
    [
        "source:orders",
        "path:/models/staging",
        'path:"models/staging"',
        "title:annual",
        'title:"annual report"',
        "title:orders",
        "-title:monthly",
        "type:md,sql",
        "after:2025-01-31",
        "after:2025-01",
        "after:2025",
        "before:2025-02-01",
        "before:2026",
        "-after:2025-02",
        "-before:2025-01-31",
    ],
)
def test_these_let_the_document_through(said: str) -> None:
    found = parsed(f"word {said}")

    assert found.filter != MATCH_ALL
    assert found.words == "word"
    assert matches(found.filter, FIELDS)
    assert not matches(parsed(f"word {said[1:] if said[0] == '-' else '-' + said}").filter, FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        "http://x",
        "std::vector",
        "type::value",
        "Note: this",
        "see title: the tower",
        "after:lunch",
        "before:",
        "Type:.sql",
        "subtype:.sql",
        "x-type:.sql",
        "--type:.sql",
        "type:, or",
        "type:...",
        '"type:.sql" words',
        "at 10:30",
        "localhost:8080/path:x",
    ],
)
def test_what_only_looks_like_an_operator_is_a_word(text: str) -> None:
    assert parsed(text).filter == MATCH_ALL
    assert parsed(text).words == text.replace('"', "")


@pytest.mark.parametrize("text", ["type:.sql", "-type:.sql after:2025", "x after:2025-02-30", "before:2025-13 x"])
def test_these_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parsed(text)


def test_nothing_is_raised_and_nothing_found_where_metadata_is_missing() -> None:
    assert not matches(parsed("x after:2025-01-01").filter, {})
    assert matches(parsed("x -after:2025-01-01").filter, {})


def test_a_question_of_operators_alone_says_what_is_missing() -> None:
    with pytest.raises(InvalidInputError, match="only says where to look"):
        parsed("type:.sql path:docs")


@pytest.mark.parametrize("operator", ["type: ", "title:a ", "after:2025-01-01 ", 'path:"', "-source:x ", "type:,,,"])
def test_long_questions_of_operators_end(operator: str) -> None:
    assert parsed("word " + (operator * 4_000)[:4_000]).original


@pytest.mark.parametrize(("front", "between"), [("path:", " path:"), ("type:", ",")])
def test_too_many_different_operators_are_refused(front: str, between: str) -> None:
    with pytest.raises(InvalidInputError):
        parsed(f"word {front}" + between.join(str(number) for number in range(1_001)))


@given(st.text(alphabet='type:after20-1 "+\ud800', max_size=40))
def test_any_text_is_a_question_or_a_refusal(text: str) -> None:
    try:
        found = parsed(text)
    except InvalidInputError as error:
        said = error.hint
    else:
        said = found.words.strip()

    assert said


def test_filters_are_joined_without_what_lets_everything_through() -> None:
    one, other = Condition("a", Operator.EXISTS), Condition("b", Operator.EXISTS)
    cases: list[tuple[tuple[Filter, ...], Filter]] = [
        ((), MATCH_ALL),
        ((MATCH_ALL, MATCH_ALL), MATCH_ALL),
        ((MATCH_ALL, one), one),
        ((one, other), And((one, other))),
    ]
    for given_filters, expected in cases:
        assert all_of(*given_filters) == expected
