"""What stands in a question to say where to look: `type:.sql`, `after:2025-01-01`, `path:/models/staging`.

    source:TEXT path:TEXT    the source holds the text
    title:TEXT               the title holds it, in the usual ways to write capitals
    section:TEXT             the path of headings above the passage holds it, in the same way
    type:.sql,.md            the type is one of these, with or without the dot
    after:DATE before:DATE   last modified on that day or later; before it

These names, in small letters and directly before their value, are operators, and so is the name of any field that the
index has: `author:Ada`. `http://x`, `std::vector`, `Note:` and `after:lunch` are words. How quotes and signs are read
is the parser's business.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Floor, Operator, Or
from twofold.query.value_parsing import Written, equal_to, read_period

DATE_FIELDS = ("modified", "last_modified")
OPERATOR = re.compile(r"(source|path|title|section|type|after|before):(?=[^\s:])")
_TRAILING = ",;?!"


def read_operator(name: str, value: str, *, quoted: bool) -> Filter | None:
    """Make the filter of an operator and its value; None if together they are but a word.

    `type`, `sql` gives an Or of `type == ".sql"` and `type == "sql"`. Raises InvalidInputError for a date that is in no
    calendar, such as 2025-02-30.
    """
    wanted = value if quoted else value.rstrip(_TRAILING)
    return _READERS[name](wanted) if wanted else None


def all_of(*conditions: Filter) -> Filter:
    """Join filters by and, leaving out what lets everything through."""
    parts = tuple(part for part in conditions if part != MATCH_ALL)
    return parts[0] if len(parts) == 1 else And(parts)


def without_replaced(gates: Filter, condition: Filter) -> Filter:
    """Return a profile's filter without the lower bounds that a filter replaces with a `Floor` of its own.

    A floor counts where every passage must pass it: alone, or joined to the rest by and.
    """
    floors = {part.field for part in _joined(condition) if isinstance(part, Floor)}
    if not floors:
        return gates
    return all_of(*(part for part in _joined(gates) if not _bounds(part, floors)))


def _joined(condition: Filter) -> Iterator[Filter]:
    """Yield the conditions that must all hold."""
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _joined(part)
    else:
        yield condition


def _bounds(part: Filter, fields: AbstractSet[str]) -> bool:
    return isinstance(part, Condition) and part.field in fields and part.op in {Operator.GE, Operator.GT}


def modified(op: Operator, date: str) -> Filter | None:
    """Compare when a document was modified, by the names that metadata has for it; None if `date` is not a date."""
    period = read_period(date)
    return None if period is None else Or(tuple(period.test(field, op) for field in DATE_FIELDS))


def _source(value: str) -> Filter:
    return Condition("source", Operator.CONTAINS, value)


def field_condition(name: str, value: str, *, quoted: bool) -> Filter | None:
    """Make the filter of a field of the index: it equals the value, or is a text that holds it; None without a value.

    `year`, `2020` also passes for the text "2020"; `author`, `ada` passes for "Ada Lovelace".
    """
    wanted = value if quoted else value.rstrip(_TRAILING)
    if not wanted:
        return None
    try:
        equal = equal_to(name, Written(wanted, quoted=quoted))
    except InvalidInputError:  # a date of no calendar, a number too large: it is a text like any other
        equal = (Condition(name, Operator.EQ, wanted),)
    return Or((*equal, *_contains_conditions(name, wanted)))


def _contains_conditions(name: str, value: str) -> tuple[Condition, ...]:
    """Return tests for a text that holds the value in one of the usual ways to write capitals."""
    spellings = dict.fromkeys((value, value.lower(), value.upper(), value[0].upper() + value[1:], value.title()))
    return tuple(Condition(name, Operator.CONTAINS, one) for one in spellings)


def _title(value: str) -> Filter:
    tests = _contains_conditions("title", value)
    return tests[0] if len(tests) == 1 else Or(tests)


def _section(value: str) -> Filter:
    tests = _contains_conditions("section", value)
    return tests[0] if len(tests) == 1 else Or(tests)


def _type(value: str) -> Filter | None:
    names = [one for one in value.lower().split(",") if one.strip(".")]
    spellings = dict.fromkeys(spelling for one in names for spelling in (f".{one.removeprefix('.')}", one))
    tests = tuple(Condition("type", Operator.EQ, one) for one in spellings)
    return (tests[0] if len(tests) == 1 else Or(tests)) if tests else None


def _after(value: str) -> Filter | None:
    return modified(Operator.GE, value)


def _before(value: str) -> Filter | None:
    return modified(Operator.LT, value)


_READERS: Mapping[str, Callable[[str], Filter | None]] = {
    "source": _source,
    "path": _source,
    "title": _title,
    "section": _section,
    "type": _type,
    "after": _after,
    "before": _before,
}
