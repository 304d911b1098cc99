"""The filter language: what each spelling asks, that it can be written back, and what becomes of evil input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Filter, Not, Op, Or, Test, fields_of, matches
from twofold.domain.types import Document, MetadataValue, Scalar
from twofold.query.filters import ALIASES, KEYWORDS, parse_filter
from twofold.query.limits import DEEPEST, LONGEST_FILTER, MOST_TESTS, checked
from twofold.query.render import render

A, B, C = (Test(name, Op.EXISTS) for name in "abc")


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
        ("a in [x]", Test("a", Op.EQ, "x")),
        ("a in [\".sql\", New York, 'x,y']", Or(tuple(Test("a", Op.EQ, one) for one in (".sql", "New York", "x,y")))),
        ("a not in [x, y]", Not(Or((Test("a", Op.EQ, "x"), Test("a", Op.EQ, "y"))))),
        ('a == "5"', Test("a", Op.EQ, "5")),
        ("a is 5", Test("a", Op.EQ, 5)),
        ("a is -5.5e1", Test("a", Op.EQ, -55.0)),
        ("a is true", Test("a", Op.EQ, True)),
        ("a = 5", Or((Test("a", Op.EQ, 5), Test("a", Op.EQ, "5")))),
        ("a = +5", Test("a", Op.EQ, 5)),
        ("a in [-5]", Test("a", Op.EQ, -5)),
        ("a != 5", Not(Or((Test("a", Op.EQ, 5), Test("a", Op.EQ, "5"))))),
        ("a == false", Or((Test("a", Op.EQ, False), Test("a", Op.EQ, "false")))),
        ("a > 5", Test("a", Op.GT, 5)),
        ("a >= 2020", Or((Test("a", Op.GE, 2020), Test("a", Op.GE, "2020")))),
        ("a <= 2020", Or((Test("a", Op.LE, 2020), Test("a", Op.LT, "2021")))),
        ("a >= +2020", Test("a", Op.GE, 2020)),
        ("a < plan b", Test("a", Op.LT, "plan b")),
        ("a >= 2025-01-31", Test("a", Op.GE, "2025-01-31")),
        ("a <= 2025-01-31", Test("a", Op.LT, "2025-02-01")),
        ("a > 2024-02-28", Test("a", Op.GE, "2024-02-29")),
        ("a < 2025-12", Test("a", Op.LT, "2025-12")),
        ("a <= 2025-12", Test("a", Op.LT, "2026-01")),
        ("a == 2025-12-31", Test("a", Op.PREFIX, "2025-12-31")),
        ("a <= 9999-12-31", Test("a", Op.LT, "9999-12-32")),
        ('a <= "2025-01-31"', Test("a", Op.LE, "2025-01-31")),
        ("a starts with docs/", Test("a", Op.PREFIX, "docs/")),
        ("a not contains 5", Not(Test("a", Op.CONTAINS, "5"))),
        ("a~=don't panic", Test("a", Op.CONTAINS, "don't panic")),
        (r'a == "say \"C:\dir\\\""', Test("a", Op.EQ, 'say "C:\\dir\\"')),
        ('"in" == x', Test("in", Op.EQ, "x")),
        ("path ^= docs/", Test("source", Op.PREFIX, "docs/")),
        ('"path" exists', Test("path", Op.EXISTS)),
        ("file_type == .md", Test("type", Op.EQ, ".md")),
        ("Größe:m > 3\n\tand b", And((Test("Größe:m", Op.GT, 3), B))),
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

    assert caught.value.remedy


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
    st.builds(Test, FIELD, st.sampled_from([Op.EQ, Op.LT, Op.LE, Op.GT, Op.GE]), VALUE),
    st.builds(Test, FIELD, st.sampled_from([Op.PREFIX, Op.CONTAINS]), st.text(max_size=8)),
    st.builds(Test, FIELD, st.just(Op.EXISTS)),
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
        render(Test("a", Op.LT, value))
    with pytest.raises(InvalidInputError):
        render(Test("a", Op.CONTAINS, 5))


@given(st.text(alphabet="ab()[]'\"\\=<>!~^,. 0-tiorndexs\x00\ud800", max_size=60))
def test_any_text_is_a_filter_or_a_refusal(text: str) -> None:
    try:
        condition = parse_filter(text)
    except InvalidInputError as error:
        said = error.remedy
    else:
        said = render(condition)
        assert parse_filter(said) == condition

    assert said


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "(" * (LONGEST_FILTER // 2) + ")" * (LONGEST_FILTER // 2),
        "not " * (LONGEST_FILTER // 4),
        "a and " * (LONGEST_FILTER // 6 - 1) + "a",
        "a in [" + "1," * (LONGEST_FILTER // 2 - 8) + "1]",
        'a = "' + "\\" * (LONGEST_FILTER - 6),
        "a = '" + '\\"' * (LONGEST_FILTER // 2 - 6),
        "a = " + "( " * (LONGEST_FILTER // 2 - 4) + ")",
        " " * LONGEST_FILTER,
    ],
    ids=["long", "parentheses", "not", "and", "list", "backslashes", "quotes", "bare", "space"],
)
def test_evil_texts_end_in_a_refusal(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_filter(text)

    assert len(str(caught.value)) < 300


def test_a_filter_has_its_limits_whoever_made_it() -> None:
    deep: Filter = A
    for _ in range(DEEPEST - 1):
        deep = Not(deep)
    assert parse_filter(render(checked(deep))) == deep
    for large in (Not(deep), And((A,) * (MOST_TESTS + 1)), Or((And(),) * 5_000), Test("a", Op.EQ, "x" * 20_000)):
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
