"""What a value written in a filter may mean, and the tests that this makes of it.

A value in quotes is text. A bare one is read as what it looks like: a number, a truth value, a date, or text. As fields
often hold numbers as text, a bare number or truth value stands for either, unless it is asked for with `is`.
"""

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter, Not, Op, Or, Test
from twofold.domain.types import Scalar
from twofold.query.periods import read_period

LONGEST_NUMBER = 400  # characters; the largest number of 64 bits has 309 digits
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_YEAR = re.compile(r"[12]\d{3}", re.ASCII)


class Sign(StrEnum):
    """How a field is compared, as it is written. `=` means `==`, `^=` `starts with` and `~=` `contains`."""

    IS = "is"
    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    PREFIX = "starts with"
    CONTAINS = "contains"


OPS = {
    Sign.LESS: Op.LT,
    Sign.AT_MOST: Op.LE,
    Sign.MORE: Op.GT,
    Sign.AT_LEAST: Op.GE,
    Sign.PREFIX: Op.PREFIX,
    Sign.CONTAINS: Op.CONTAINS,
}


@dataclass(frozen=True, slots=True)
class Written:
    """A value as it was written, without its quotes."""

    text: str
    quoted: bool


def test_of(field: str, sign: Sign, value: Written) -> Filter:
    """Make the filter of one comparison.

    `year >= 2020` makes an Or of a number and a text, as `year` may hold either; `modified <= 2025-01-31` makes
    `modified < "2025-02-01"`, so that the whole day passes; `year is 2020` makes one test, of the number alone.
    """
    if sign is Sign.UNEQUAL:
        return Not(test_of(field, Sign.EQUAL, value))
    if value.quoted or sign in {Sign.PREFIX, Sign.CONTAINS}:
        return Test(field, OPS.get(sign, Op.EQ), value.text)
    if sign is Sign.IS:
        return Test(field, Op.EQ, read_bare(value.text))
    tests = equal_to(field, value) if sign is Sign.EQUAL else _ordered(field, OPS[sign], value.text)
    return tests[0] if len(tests) == 1 else Or(tests)


def equal_to(field: str, value: Written) -> tuple[Test, ...]:
    """Give the tests of which one must pass for a field to equal a value."""
    if value.quoted:
        return (Test(field, Op.EQ, value.text),)
    typed = read_bare(value.text)
    if isinstance(typed, str):
        period = read_period(typed)
        return (Test(field, Op.EQ, typed) if period is None else period.test(field, Op.EQ),)
    if _is_signed(value.text):
        return (Test(field, Op.EQ, typed),)
    return (Test(field, Op.EQ, typed), Test(field, Op.EQ, value.text))


def is_year(text: str) -> bool:
    """Say whether a bare number may be a year, 1000 to 2999, and so compares with dates too."""
    return _YEAR.fullmatch(text) is not None


def _ordered(field: str, op: Op, text: str) -> tuple[Test, ...]:
    typed = read_bare(text)
    number = () if isinstance(typed, str) else (Test(field, op, typed),)
    period = read_period(text) if isinstance(typed, str) or is_year(text) else None
    if period is not None:
        return (*number, period.test(field, op))
    return number or (Test(field, op, text),)


def read_bare(text: str) -> Scalar:
    """Read a bare value: a truth value, a number, or text. Raises InvalidInputError for a number too large."""
    if text in {"true", "false"}:
        return text == "true"
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    number = _number(text, whole=found[1] is None and found[2] is None)
    if number is None:
        raise InvalidInputError("A number in the filter is too large.", "Put it in quotes to compare it as text.")
    return number


def _number(text: str, *, whole: bool) -> int | float | None:
    if len(text) > LONGEST_NUMBER:
        return None
    number = int(text) if whole else float(text)
    return number if isinstance(number, int) or math.isfinite(number) else None


def _is_signed(text: str) -> bool:
    return text[0] in "+-"
