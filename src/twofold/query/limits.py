"""How large a filter may be, whoever made it: what is refused here would cost a store more than a search is worth."""

import math

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Filter, Not, Or, Test

LONGEST_FILTER = 65_536  # characters
MOST_TESTS = 1_000
MOST_PARTS = 4_000
DEEPEST = 64
LONGEST_VALUE = 16_384  # characters
_SMALLER = "Ask with fewer conditions."


def checked(condition: Filter) -> Filter:
    """Give the filter back; raise InvalidInputError where it is too large, too deep, or holds what is no number.

    At most 1,000 tests, 4,000 parts in all, 64 levels, and values of 16,384 characters. A bare number makes two tests.
    """
    waiting: list[tuple[Filter, int]] = [(condition, 1)]
    parts = tests = 0
    while waiting:
        part, depth = waiting.pop()
        parts += 1
        tests += isinstance(part, Test)
        if depth > DEEPEST:
            raise InvalidInputError(f"The filter is nested more than {DEEPEST} levels deep.", _SMALLER)
        if tests > MOST_TESTS or parts > MOST_PARTS:
            raise InvalidInputError(f"The filter has more than {MOST_TESTS:,} conditions.", _SMALLER)
        match part:
            case And(inner) | Or(inner):
                waiting += [(one, depth + 1) for one in inner]
            case Not(one):
                waiting.append((one, depth + 1))
            case Test():
                _check_test(part)
    return condition


def _check_test(test: Test) -> None:
    value = test.value
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError("A filter compares with what is no finite number.", "Give a number.")
    if max(len(test.field), len(value) if isinstance(value, str) else 0) > LONGEST_VALUE:
        raise InvalidInputError(
            f"A filter's field or value has more than {LONGEST_VALUE:,} characters.", "Compare with less."
        )
