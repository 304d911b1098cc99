"""Filters on the command line: what each spelling lets through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.cli.options import parsed_filter
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, matches
from twofold.domain.types import MetadataValue

DOCUMENT: dict[str, MetadataValue] = {
    "author": "Ada",
    "year": 1843,
    "edition": "2",
    "draft": False,
    "tags": ("engine", "notes"),
    "source": "docs/plan.md",
    "type": ".md",
}


@pytest.mark.parametrize(
    "test",
    [
        "author=Ada",
        "author==Ada",
        'author="Ada"',
        " author = Ada ",
        "author!=Grace",
        "author",
        "year=1843",
        "year>=1843",
        "year<1900",
        "year>1842.5",
        "edition=2",
        "draft=false",
        "draft!=true",
        "tags=notes",
        "source^=docs/",
        "source~=plan",
        "nobody!=x",
        "edition == 2",
        "author = Ada and year >= 1843 and not draft = true",
        'source starts with docs/ and tags in [engine, "x"]',
        "type in [.md, .txt]",
        '{"field": "year", "op": "<", "value": 1900}',
        ' {"file_type": [".md"], "path_contains": "docs/"}',
    ],
)
def test_these_pass(test: str) -> None:
    assert matches(parsed_filter([test]), DOCUMENT)


@pytest.mark.parametrize(
    "test",
    ["author=ada", "author!=Ada", "nobody", "nobody=x", "year<1843", "draft", "tags=draft", "source^=plan", "year~=18"],
)
def test_these_do_not(test: str) -> None:
    passes = matches(parsed_filter([test]), {key: value for key, value in DOCUMENT.items() if key != "draft"})

    assert not passes


def test_several_must_all_pass() -> None:
    assert matches(parsed_filter(["author=Ada", "year=1843"]), DOCUMENT)
    assert not matches(parsed_filter(["author=Ada", "year=1844"]), DOCUMENT)


def test_none_lets_everything_through() -> None:
    assert parsed_filter([]) == MATCH_ALL


def test_a_value_may_hold_signs() -> None:
    assert matches(parsed_filter(["note=a=b>c"]), {"note": "a=b>c"})


@pytest.mark.parametrize("test", ["", "=x", ">5", "a b", "a ! b", "{", "{}", '{"nobody": 1}'])
def test_what_cannot_be_read_is_refused(test: str) -> None:
    with pytest.raises(InvalidInputError):
        parsed_filter([test])


@given(st.text(max_size=40))
def test_any_text_is_a_filter_or_an_error(text: str) -> None:
    try:
        condition = parsed_filter([text])
    except InvalidInputError as error:
        told = error.hint
    else:
        told = str(matches(condition, DOCUMENT))

    assert told
