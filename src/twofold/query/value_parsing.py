"""What a value written in a filter may mean, and the tests that this makes of it.

A value in quotes is text. A bare one is read as what it looks like: a number, a truth value, a date, or text. As fields
often hold numbers as text, a bare number or truth value stands for either, unless it is asked for with `is`.
"""

import math
import re
from datetime import date, timedelta
from enum import StrEnum

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Condition, Filter, Not, Operator, Or
from twofold.domain.types import Scalar

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)
_DAY = len("2025-01-31")
_MONTH = len("2025-01")


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` on, and before `end`: texts that every ISO date or time lies between or outside.

    2025-01-31 starts with itself and ends before 2025-02-01; so `2025-01-31T23:59` lies in it.
    """

    start: str
    end: str

    def test(self, field: str, op: Operator) -> Condition:
        """Compare a field that holds ISO dates with the whole period: `<=` takes its last moment in."""
        match op:
            case Operator.LE:
                return Condition(field, Operator.LT, self.end)
            case Operator.GT:
                return Condition(field, Operator.GE, self.end)
            case Operator.EQ:
                return Condition(field, Operator.PREFIX, self.start)
            case _:
                return Condition(field, op, self.start)


def read_period(text: str) -> Period | None:
    """Read `2025-01-31`, `2025-01` or `2025`; None for what does not look so.

    Raises InvalidInputError for what looks so and is in no calendar, such as 2025-02-30.
    """
    if _DATE.fullmatch(text) is None:
        return None
    try:
        first = date.fromisoformat(text + "0001-01-01"[len(text) :])
    except ValueError:
        raise InvalidInputError(
            f"{text} is no date of the calendar.", "Write YEAR-MONTH-DAY; in quotes it is text like any other."
        ) from None
    return Period(text, _after(first, len(text)))


def _after(first: date, precision: int) -> str:
    if precision == _DAY:
        # No day follows the last one; as text this still stands after every moment of it.
        return "9999-12-32" if first == date.max else (first + timedelta(days=1)).isoformat()
    if precision == _MONTH:
        year, month = divmod(first.year * 12 + first.month, 12)
        return f"{year:04}-{month + 1:02}"
    return f"{first.year + 1:04}"


MAX_NUMBER_LENGTH = 400  # characters; the largest number of 64 bits has 309 digits
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
    Sign.LESS: Operator.LT,
    Sign.AT_MOST: Operator.LE,
    Sign.MORE: Operator.GT,
    Sign.AT_LEAST: Operator.GE,
    Sign.PREFIX: Operator.PREFIX,
    Sign.CONTAINS: Operator.CONTAINS,
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
        return Condition(field, OPS.get(sign, Operator.EQ), value.text)
    if sign is Sign.IS:
        return Condition(field, Operator.EQ, read_bare(value.text))
    tests = equal_to(field, value) if sign is Sign.EQUAL else _ordered(field, OPS[sign], value.text)
    return tests[0] if len(tests) == 1 else Or(tests)


def equal_to(field: str, value: Written) -> tuple[Condition, ...]:
    """Return the tests of which one must pass for a field to equal a value."""
    if value.quoted:
        return (Condition(field, Operator.EQ, value.text),)
    typed = read_bare(value.text)
    if isinstance(typed, str):
        period = read_period(typed)
        return (Condition(field, Operator.EQ, typed) if period is None else period.test(field, Operator.EQ),)
    if _is_signed(value.text):
        return (Condition(field, Operator.EQ, typed),)
    return (Condition(field, Operator.EQ, typed), Condition(field, Operator.EQ, value.text))


def is_year(text: str) -> bool:
    """Return whether a bare number may be a year, 1000 to 2999, and so compares with dates too."""
    return _YEAR.fullmatch(text) is not None


def _ordered(field: str, op: Operator, text: str) -> tuple[Condition, ...]:
    typed = read_bare(text)
    number = () if isinstance(typed, str) else (Condition(field, op, typed),)
    period = read_period(text) if isinstance(typed, str) or is_year(text) else None
    if period is not None:
        return (*number, period.test(field, op))
    return number or (Condition(field, op, text),)


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
    if len(text) > MAX_NUMBER_LENGTH:
        return None
    number = int(text) if whole else float(text)
    return number if isinstance(number, int) or math.isfinite(number) else None


def _is_signed(text: str) -> bool:
    return text[0] in "+-"
