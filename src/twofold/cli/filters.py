"""Filters as one writes them on a command line: `field=value`, joined by and."""

import re
from collections.abc import Sequence

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import EVERYTHING, And, Filter, Not, Op, Or, Test
from twofold.domain.types import Scalar

_SHAPE = re.compile(r"(?P<field>[^\s=<>!^~]+)\s*(?:(?P<sign>!=|<=|>=|\^=|~=|==|=|<|>)\s*(?P<value>.*))?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")
_OPS = {"=": Op.EQ, "==": Op.EQ, "!=": Op.EQ, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE,
        "^=": Op.PREFIX, "~=": Op.CONTAINS}  # fmt: skip


def parsed_filter(tests: Sequence[str]) -> Filter:
    """Read tests such as `author=Ada`, `year>=2020`, `draft!=true`, `source^=docs/`, `title~=plan`, `author`.

    A field alone asks whether it is there. A value in double quotes is text whatever it looks like; else a number is a
    number as well as text, `true` and `false` are truth values as well as text. Raises InvalidInputError.
    """
    return And(tuple(_parsed(test) for test in tests)) if tests else EVERYTHING


def _parsed(text: str) -> Filter:
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise InvalidInputError(
            f"The filter {text!r} cannot be read.", "Write FIELD=VALUE; also != < <= > >= ^= (begins) ~= (contains)."
        )
    field, sign, value = found["field"], found["sign"], found["value"]
    if sign is None:
        return Test(field, Op.EXISTS)
    op = _OPS[sign]
    readings = _readings(value, op)
    passes: Filter = Test(field, op, readings[0])
    if len(readings) > 1:
        passes = _either(field, op, readings)
    return Not(passes) if sign == "!=" else passes


def _either(field: str, op: Op, readings: tuple[Scalar, ...]) -> Filter:
    # A value that looks like a number may stand as text in a document's metadata, and a filter compares like with like.
    return Or(tuple(Test(field, op, reading) for reading in readings))


def _readings(value: str, op: Op) -> tuple[Scalar, ...]:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return (value[1:-1],)
    if op in {Op.PREFIX, Op.CONTAINS}:
        return (value,)
    if value in {"true", "false"}:
        return (value == "true", value)
    if _NUMBER.fullmatch(value):
        return (float(value) if "." in value else int(value), value)
    return (value,)
