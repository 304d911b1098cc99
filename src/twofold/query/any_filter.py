"""A filter as a program may write it: in the language for people, as JSON, as the mapping that JSON gives, or made."""

from collections.abc import Mapping

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Or
from twofold.query.filter_json import filter_from_json, parse_json_filter
from twofold.query.filter_syntax import parse_filter

FilterLike = Filter | str | Mapping[str, object] | None
"""`"type == .md"`, `'{"type": "md"}'`, `{"date_from": "2025"}`, a `Filter`; None lets everything through."""


def filter_of(given: object) -> Filter:
    """Return the filter that is given in any of its forms. Text that begins with `{` is JSON.

    Raises InvalidInputError for anything else, and for a text or a mapping that is no filter.
    """
    if given is None:
        return MATCH_ALL
    if isinstance(given, Condition | And | Or | Not):
        return given
    if isinstance(given, str):
        return parse_json_filter(given) if given.lstrip().startswith("{") else parse_filter(given)
    if isinstance(given, Mapping):
        return filter_from_json(given)
    raise InvalidInputError(
        f"A filter cannot be of the type {type(given).__name__}.",
        'Write it as text, such as "type == .md", as a mapping, or make it of `Condition`, `And`, `Or` and `Not`.',
    )
