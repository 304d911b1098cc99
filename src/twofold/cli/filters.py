"""Filters as one writes them on a command line: in the language for people, or as JSON; several are joined by and."""

from collections.abc import Sequence

from twofold.domain.filters import Filter
from twofold.query.any_filter import filter_of
from twofold.query.operators import all_of


def parsed_filter(texts: Sequence[str]) -> Filter:
    """Read filters such as `author=Ada`, `year >= 2020 and not draft`, `type in [.md, .txt]`, `{"date_from": "2025"}`.

    What begins with `{` is JSON. Raises InvalidInputError.
    """
    return all_of(*map(filter_of, texts))
