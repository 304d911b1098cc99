"""Filters as one writes them on a command line: in the language for people, or as JSON; several are joined by and."""

from collections.abc import Sequence

from twofold.domain.filters import Filter
from twofold.query.filter_json import parse_json_filter
from twofold.query.filters import parse_filter
from twofold.query.operators import all_of


def parsed_filter(texts: Sequence[str]) -> Filter:
    """Read filters such as `author=Ada`, `year >= 2020 and not draft`, `type in [.md, .txt]`, `{"date_from": "2025"}`.

    What begins with `{` is JSON. Raises InvalidInputError.
    """
    return all_of(*map(_parsed, texts))


def _parsed(text: str) -> Filter:
    return parse_json_filter(text) if text.lstrip().startswith("{") else parse_filter(text)
