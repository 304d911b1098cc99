"""The filter language: what each spelling asks, that it can be written back, and what becomes of evil input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Filter, Not, Operator, Or, fields_of, matches
from twofold.domain.types import Document, MetadataValue, Scalar
from twofold.query.filter_syntax import ALIASES, KEYWORDS, parse_filter, render
from twofold.query.parse import MAX_DEPTH, MAX_FILTER_LENGTH, MAX_TESTS, checked

A, B, C = (Condition(name, Operator.EXISTS) for name in "abc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("a exists", A),
        ("a not exists", Not(A)),
        ("not a", Not(A)),
        ("not not a", Not(Not(A))),
        ("a and b and c", And((A, B, C))),
        ("a or b and c", Or((A, And((B, C))))),
        ("(a or b) AND c", And((Or((A, B)), C))),
        ("not a and b", And((Not(A), B))),
        ("not (a and b)", Not(And((A, B)))),
        ("((a))", A),
        ("()", And()),
        ("a in []", Or()),
        ("a in [x]", Condition("a", Operator.EQ, "x")),
        (
            "a in [\".sql\", New York, 'x,y']",
            Or(tuple(Condition("a", Operator.EQ, one) for one in (".sql", "New York", "x,y"))),
        ),
        ("a not in [x, y]", Not(Or((Condition("a", Operator.EQ, "x"), Condition("a", Operator.EQ, "y"))))),
        ('a == "5"', Condition("a", Operator.EQ, "5")),
        ("a is 5", Condition("a", Operator.EQ, 5)),
        ("a is -5.5e1", Condition("a", Operator.EQ, -55.0)),
        ("a is true", Condition("a", Operator.EQ, True)),
        ("a = 5", Or((Condition("a", Operator.EQ, 5), Condition("a", Operator.EQ, "5")))),
        ("a = +5", Condition("a", Operator.EQ, 5)),
        ("a in [-5]", Condition("a", Operator.EQ, -5)),
        ("a != 5", Not(Or((Condition("a", Operator.EQ, 5), Condition("a", Operator.EQ, "5"))))),
        ("a == false", Or((Condition("a", Operator.EQ, False), Condition("a", Operator.EQ, "false")))),
        ("a > 5", Condition("a", Operator.GT, 5)),
        ("a >= 2020", Or((Condition("a", Operator.GE, 2020), Condition("a", Operator.GE, "2020")))),
        ("a <= 2020", Or((Condition("a", Operator.LE, 2020), Condition("a", Operator.LT, "2021")))),
        ("a >= +2020", Condition("a", Operator.GE, 2020)),
        ("a < plan b", Condition("a", Operator.LT, "plan b")),
        ("a >= 2025-01-31", Condition("a", Operator.GE, "2025-01-31")),
        ("a <= 2025-01-31", Condition("a", Operator.LT, "2025-02-01")),
        ("a > 2024-02-28", Condition("a", Operator.GE, "2024-02-29")),
        ("a < 2025-12", Condition("a", Operator.LT, "2025-12")),
        ("a <= 2025-12", Condition("a", Operator.LT, "2026-01")),
        ("a == 2025-12-31", Condition("a", Operator.PREFIX, "2025-12-31")),
        ("a <= 9999-12-31", Condition("a", Operator.LT, "9999-12-32")),
        ('a <= "2025-01-31"', Condition("a", Operator.LE, "2025-01-31")),
        ("a starts with docs/", Condition("a", Operator.PREFIX, "docs/")),
        ("a not contains 5", Not(Condition("a", Operator.CONTAINS, "5"))),
        ("a~=don't panic", Condition("a", Operator.CONTAINS, "don't panic")),
        (r'a == "say \"C:\dir\\\""', Condition("a", Operator.EQ, 'say "C:\\dir\\"')),
        ('"in" == x', Condition("in", Operator.EQ, "x")),
        ("path ^= docs/", Condition("source", Operator.PREFIX, "docs/")),
        ('"path" exists', Condition("path", Operator.EXISTS)),
        ("file_type == .md", Condition("type", Operator.EQ, ".md")),
        ("Größe:m > 3\n\tand b", And((Condition("Größe:m", Operator.GT, 3), B))),
    ],
)
def test_what_is_written_is_this_tree(text: str, expected: Filter) -> None:
    assert repr(parse_filter(text)) == repr(expected)  # by spelling: 1 and True are equal


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", 1),
        ("a and", 6),
        ("a b", 3),
        ("and a", 1),
        ("(a", 1),
        ("a)", 2),
        ("a =", 4),
        ('a = "b', 5),
        ('a = b "c"', 7),
        ("a in x", 6),
        ("a in [x", 8),
        ("a in [x y, ", 12),
        ("a in [,]", 7),
        ("a starts x", 10),
        ("a ! b", 3),
        ("not", 4),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, place: int) -> None:
    with pytest.raises(InvalidInputError, match=rf"character {place}, ") as caught:
        parse_filter(text)

    assert caught.value.hint


@pytest.mark.parametrize("text", ["a > 2025-02-30", "a = 2025-13", "a = 1e999", "a = " + "9" * 5000])
def test_values_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_filter(text)


FIELD = st.one_of(st.sampled_from([*sorted(KEYWORDS), *ALIASES, "NOT", "a", "a.b", "", "a b"]), st.text(max_size=6))
VALUE = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["true", "2020", "2025-01-01", '"', "\\", '\\"', "' or ", ")", "\ud800"]),
    st.booleans(),
    st.integers(),
    st.integers(990, 3010),
    st.floats(allow_nan=False, allow_infinity=False),
)
LEAF = st.one_of(
    st.builds(
        Condition, FIELD, st.sampled_from([Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE]), VALUE
    ),
    st.builds(Condition, FIELD, st.sampled_from([Operator.PREFIX, Operator.CONTAINS]), st.text(max_size=8)),
    st.builds(Condition, FIELD, st.just(Operator.EXISTS)),
    st.sampled_from([And(), Or()]),
)


def joined(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, min_size=2, max_size=4).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, parts))


@given(st.recursive(LEAF, joined, max_leaves=12))
def test_a_filter_written_down_is_read_as_the_same_filter(condition: Filter) -> None:
    assert repr(parse_filter(render(condition))) == repr(condition)


def test_a_list_of_one_is_written_as_its_part() -> None:
    assert render(And((Or((A,)), Not(And((Or((A, B)),)))))) == "a exists and not (a exists or b exists)"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_the_language_cannot_say_is_refused(value: Scalar) -> None:
    with pytest.raises(InvalidInputError):
        render(Condition("a", Operator.LT, value))
    with pytest.raises(InvalidInputError):
        render(Condition("a", Operator.CONTAINS, 5))


@given(st.text(alphabet="ab()[]'\"\\=<>!~^,. 0-tiorndexs\x00\ud800", max_size=60))
def test_any_text_is_a_filter_or_a_refusal(text: str) -> None:
    try:
        condition = parse_filter(text)
    except InvalidInputError as error:
        said = error.hint
    else:
        said = render(condition)
        assert parse_filter(said) == condition

    assert said


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "(" * (MAX_FILTER_LENGTH // 2) + ")" * (MAX_FILTER_LENGTH // 2),
        "not " * (MAX_FILTER_LENGTH // 4),
        "a and " * (MAX_FILTER_LENGTH // 6 - 1) + "a",
        "a in [" + "1," * (MAX_FILTER_LENGTH // 2 - 8) + "1]",
        'a = "' + "\\" * (MAX_FILTER_LENGTH - 6),
        "a = '" + '\\"' * (MAX_FILTER_LENGTH // 2 - 6),
        "a = " + "( " * (MAX_FILTER_LENGTH // 2 - 4) + ")",
        " " * MAX_FILTER_LENGTH,
    ],
    ids=["long", "parentheses", "not", "and", "list", "backslashes", "quotes", "bare", "space"],
)
def test_evil_texts_end_in_a_refusal(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_filter(text)

    assert len(str(caught.value)) < 300


def test_a_filter_has_its_limits_whoever_made_it() -> None:
    deep: Filter = A
    for _ in range(MAX_DEPTH - 1):
        deep = Not(deep)
    assert parse_filter(render(checked(deep))) == deep
    for large in (
        Not(deep),
        And((A,) * (MAX_TESTS + 1)),
        Or((And(),) * 5_000),
        Condition("a", Operator.EQ, "x" * 20_000),
    ):
        with pytest.raises(InvalidInputError):
            checked(large)


@pytest.mark.parametrize(
    ("source", "metadata", "expected"),
    [
        ("models/Orders.SQL", {}, (".sql",)),
        ("C:\\docs\\plan.md", {}, (".md",)),
        ("post.md", {"type": "essay"}, ("essay", ".md")),
        ("post.md", {"type": ("essay", 1)}, ("essay", 1, ".md")),
        ("Makefile", {}, None),
        ("Makefile", {"type": "make"}, "make"),
        (".profile", {}, None),
        ("v1.2/readme", {}, None),
        ("What is this. Nobody knows", {}, None),
    ],
)
def test_the_type_is_the_suffix(source: str, metadata: dict[str, MetadataValue], expected: MetadataValue) -> None:
    fields = fields_of(Document("id", source, "text", metadata=metadata))

    assert fields.get("type") == expected
    assert matches(parse_filter("source exists and not type == .exe"), fields)
