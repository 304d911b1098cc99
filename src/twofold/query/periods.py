"""Dates as people write them: a day, a month or a year, each a stretch of ISO dates, which compare as text."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Op, Test

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

    def test(self, field: str, op: Op) -> Test:
        """Compare a field that holds ISO dates with the whole period: `<=` takes its last moment in."""
        match op:
            case Op.LE:
                return Test(field, Op.LT, self.end)
            case Op.GT:
                return Test(field, Op.GE, self.end)
            case Op.EQ:
                return Test(field, Op.PREFIX, self.start)
            case _:
                return Test(field, op, self.start)


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
