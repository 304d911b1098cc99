"""Filters as JSON: a typed tree for programs, and the flat requests that the checklist's systems send.

    {"and": [{"field": "year", "op": ">=", "value": 2020}, {"not": {"field": "draft", "op": "exists"}}]}
    {"source_type": ["azure_devops"], "file_type": [".sql"], "date_from": "2025-01-01"}

Nothing is guessed: an unknown name, a missing one, or a value of the wrong kind is refused.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Filter, Floor, Not, Operator, Or
from twofold.domain.types import Scalar
from twofold.query.filter_syntax import FLOORS
from twofold.query.operators import modified
from twofold.query.parse import MAX_DEPTH, MAX_FILTER_LENGTH, checked

_SHAPES = 'Write {"and": […]}, {"or": […]}, {"not": …} or {"field": …, "op": …, "value": …}.'
_OPS = {op.value: op for op in Operator}
_WITHIN = (Operator.PREFIX, Operator.CONTAINS)


def parse_json_filter(text: str) -> Filter:
    """Read a filter from JSON text of at most 65,536 characters. Raises InvalidInputError."""
    if len(text) > MAX_FILTER_LENGTH:
        raise InvalidInputError(
            f"The filter has {len(text):,} characters; {MAX_FILTER_LENGTH:,} is the most.", "Ask with less."
        )
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("The filter is no JSON that can be read.", _SHAPES) from error
    return filter_from_json(value)


def filter_from_json(value: object) -> Filter:
    """Make a filter of a JSON value: a tree, or a flat request.

    `{"date_to": "2025-11-26"}` lets through what was modified on that day or before. Raises InvalidInputError.
    """
    if isinstance(value, Mapping) and value and all(name in _REQUESTS for name in value):
        return checked(_request(value))
    return checked(_tree(value, 1))


def _once(pairs: Sequence[tuple[str, object]]) -> Mapping[str, object]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise InvalidInputError("The filter names the same thing twice in one object.", _SHAPES)
    return held


def _no_number(name: str) -> float:
    raise InvalidInputError(f"The filter compares with {name}, which is not a finite number.", "Give a number.")


def _tree(value: object, depth: int) -> Filter:
    if depth > MAX_DEPTH:
        raise InvalidInputError(
            f"The filter is nested more than {MAX_DEPTH} levels deep.", "Ask with fewer conditions."
        )
    if isinstance(value, Mapping):
        names = frozenset(value)
        if names == {"not"}:
            return Not(_tree(value["not"], depth + 1))
        if names in ({"and"}, {"or"}):
            (name,) = names
            parts = tuple(_tree(part, depth + 1) for part in _sequence(name, value[name]))
            return And(parts) if name == "and" else Or(parts)
        if {"field", "op"} <= names <= {"field", "op", "value"}:
            return _test(value)
        unknown = sorted(str(name)[:40] for name in names if name not in _REQUESTS)
        if unknown:
            raise InvalidInputError(f"A filter has no {unknown[0]!r} in this place.", _SHAPES)
    raise InvalidInputError("A part of the filter is not a condition.", _SHAPES)


def _test(value: Mapping[str, object]) -> Filter:
    field, sign = _text("field", value["field"]), _text("op", value["op"])
    if field in FLOORS:
        return _floor(field, sign, value.get("value"))
    if sign == "exists":
        if "value" in value:
            raise InvalidInputError("A filter's `exists` takes no value.", "Leave it out.")
        return Condition(field, Operator.EXISTS)
    if "value" not in value:
        raise InvalidInputError(f"A filter's {sign[:20]!r} wants a value.", _SHAPES)
    asked = value["value"]
    if sign == "in":
        return _one_of((field,), sign, asked)
    if sign == "!=":
        return Not(Condition(field, Operator.EQ, _scalar(sign, asked)))
    op = _OPS.get(sign)
    if op is None:
        raise InvalidInputError(f"A filter has no op {sign[:20]!r}.", f"Use {', '.join([*_OPS, '!=', 'in'])}.")
    return Condition(field, op, _text(sign, asked) if op in _WITHIN else _scalar(sign, asked))


def _request(request: Mapping[str, object]) -> Filter:
    parts = tuple(_REQUESTS[name](name, value) for name, value in request.items())
    return parts[0] if len(parts) == 1 else And(parts)


def _one_of(fields: Sequence[str], name: str, value: object) -> Filter:
    wanted = [_scalar(name, one) for one in _sequence(name, value)]
    return _either([Condition(field, Operator.EQ, one) for one in wanted for field in fields])


def _file_type(name: str, value: object) -> Filter:
    wanted = [_text(name, one).lower() for one in _sequence(name, value)]
    return _one_of(("type", "file_type"), name, wanted)


def _dated(op: Operator, name: str, value: object) -> Filter:
    found = modified(op, _text(name, value))
    if found is None:
        raise InvalidInputError(f"The filter's {name!r} is no date.", "Write it as YEAR-MONTH-DAY.")
    return found


def _contains(fields: Sequence[str], name: str, value: object) -> Filter:
    wanted = _text(name, value)
    return _either([Condition(field, Operator.CONTAINS, wanted) for field in fields])


def _floor(name: str, sign: str, value: object) -> Filter:
    if sign not in {"==", ">="}:
        raise InvalidInputError(f"The filter's {name} wants `>=`.", f'Write {{"{name}": 0.05}}.')
    return Floor(FLOORS[name], Operator.GE, _number(name, value))


def _equal(field: str, name: str, value: object) -> Filter:
    return Condition(field, Operator.EQ, _text(name, value))


def _either(tests: Sequence[Condition]) -> Filter:
    return tests[0] if len(tests) == 1 else Or(tuple(tests))


def _sequence(name: str, value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise InvalidInputError(f"The filter's {name[:40]!r} wants a list.", 'Write it in brackets, such as [".sql"].')


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise InvalidInputError(f"The filter's {name[:40]!r} wants text.", "Put it in quotes.")


def _number(name: str, value: object) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise InvalidInputError(f"The filter's {name[:40]!r} wants a number.", "Write it without quotes.")


def _scalar(name: str, value: object) -> Scalar:
    if isinstance(value, str | int | float):
        return value
    raise InvalidInputError(f"The filter's {name[:40]!r} wants text, a number, true or false.", _SHAPES)


# The first system keeps where a document comes from in `source`, the others in `source_type`.
_REQUESTS: Mapping[str, Callable[[str, object], Filter]] = {
    "source_type": partial(_one_of, ("source_type", "source")),
    "file_type": _file_type,
    "date_from": partial(_dated, Operator.GE),
    "date_to": partial(_dated, Operator.LE),
    "repository": partial(_equal, "repository"),
    "path_contains": partial(_contains, ("source", "path")),
    "source_type_in": partial(_one_of, ("source_type",)),
    "semantic_type_primary_in": partial(_one_of, ("semantic_type_primary",)),
    "min_entity_density": lambda name, value: _floor(name, ">=", value),
}
