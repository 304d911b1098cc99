"""Write a filter the way people do, so that reading it gives the same filter again."""

import re

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Filter, Floor, Not, Op, Or, Test
from twofold.domain.types import Scalar
from twofold.query.filters import ALIASES, FLOORS, KEYWORDS
from twofold.query.limits import checked
from twofold.query.readings import is_year

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SIGNS = {Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">=", Op.PREFIX: "starts with", Op.CONTAINS: "contains"}
_FLOORS = {field: name for name, field in FLOORS.items()}
_QUOTE = re.compile(r'["\\]')


def render(condition: Filter) -> str:
    r"""Write a filter as text: `parse_filter(render(f)) == f`.

    An And or Or of a single part is written as that part, which means the same. `Test("year", Op.GE, 2020)` gives
    `year >= +2020`. Raises InvalidInputError for what the language cannot say: a `contains` of a number, an infinite
    number, or more than `limits.checked` lets through.
    """
    return _rendered(checked(condition))


def _rendered(condition: Filter) -> str:
    match condition:
        case And(parts):
            return " and ".join(map(_within, parts)) if parts else "()"
        case Or(parts):
            return " or ".join(map(_within, parts)) if parts else '"" in []'
        case Not(part):
            return f"not {_within(part)}"
        case Test():
            return _test(condition)


def _within(part: Filter) -> str:
    """Put what joins several parts in parentheses."""
    while isinstance(part, And | Or) and len(part.parts) == 1:
        (part,) = part.parts
    joins = isinstance(part, And | Or) and part.parts
    return f"({_rendered(part)})" if joins else _rendered(part)


def _test(test: Test) -> str:
    if isinstance(test, Floor) and test.field in _FLOORS:
        return f"{_FLOORS[test.field]} >= {_value(test.value)}"
    field = _field(test.field)
    if test.op is Op.EXISTS:
        return f"{field} exists"
    if test.op is Op.EQ:
        return f"{field} {'==' if isinstance(test.value, str) else 'is'} {_value(test.value)}"
    if test.op in {Op.PREFIX, Op.CONTAINS} and not isinstance(test.value, str):
        raise InvalidInputError(f"A filter looks for a {type(test.value).__name__} within text.", "Look for text.")
    value = _value(test.value)
    return f"{field} {_SIGNS[test.op]} {f'+{value}' if is_year(value) else value}"


def _field(name: str) -> str:
    plain = _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS and name not in ALIASES
    return name if plain else _quoted(name)


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    return repr(value)


def _quoted(text: str) -> str:
    return '"' + _QUOTE.sub(r"\\\g<0>", text) + '"'
