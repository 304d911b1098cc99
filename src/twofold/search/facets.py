"""Facets: how many of the documents that match have which value of a field, or a value in which range.

What matches passes the filter and is among the candidates, or holds a word of the question that BM25 looks for.
Documents are counted, since that is what a filter made of a value leaves.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Filter, Label, Operator, kind_of
from twofold.domain.ports import Snapshot
from twofold.domain.types import ChunkKeys, Scalar
from twofold.query.filter_syntax import render
from twofold.query.value_parsing import read_bare, read_period
from twofold.search.result import Facet, FacetValue

TOP: Final = 10
MAX_TOP: Final = 1_000
MAX_BOUNDS: Final = 50
PERIODS: Final[Mapping[str, int]] = {"year": 4, "month": 7, "day": 10}
"""How many characters of an ISO date name the period."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class FacetQuery:
    """A field to count by: its `top` values, or periods of its dates, or the ranges between `bounds`."""

    field: str
    top: int = TOP
    period: str = ""
    bounds: tuple[Scalar, ...] = ()


def parse_facet(text: str) -> FacetQuery:
    """Read `author`, `author:5`, `modified:year`, `price:0,10,100`. Raises InvalidInputError for ranges that fall.

    What stands behind the last colon is part of the field's name where it has none of these forms.
    """
    field, _, rest = text.rpartition(":")
    if not field:
        return FacetQuery(text)
    if rest in PERIODS:
        return FacetQuery(field, period=rest)
    if rest.isdecimal() and rest.isascii():
        if not 1 <= int(rest[:9]) <= MAX_TOP:
            raise InvalidInputError(f"A facet cannot have {rest[:9]} values.", f"Ask for 1 to {MAX_TOP:,}.")
        return FacetQuery(field, top=int(rest))
    if "," in rest:
        return FacetQuery(field, bounds=_bounds(text, rest.split(",")))
    return FacetQuery(text)


def _bounds(text: str, parts: Sequence[str]) -> tuple[Scalar, ...]:
    bounds = tuple(read_bare(part.strip()) for part in parts)
    rising = len({kind_of(one) for one in bounds}) == 1 and all(a < b for a, b in pairwise(bounds))  # type: ignore[operator]
    if not rising or len(bounds) > MAX_BOUNDS:
        raise InvalidInputError(
            f"{text[:100]!r} is no list of ranges.", "Write bounds that rise, all numbers or all dates: price:0,10,100."
        )
    return bounds


def facet_of(view: Snapshot, keys: ChunkKeys, asked: FacetQuery, documents: int) -> Facet:
    """Count the documents of some passages by a field; `documents` is how many these are in all."""
    held = view.count_documents(keys, asked.field, _presence)
    missing = documents - next(iter(held.values()), 0)
    if asked.bounds:
        return Facet(asked.field, _in_ranges(view, keys, asked), documents, 0, missing)
    if asked.period:
        counts = view.count_documents(keys, asked.field, partial(_period, PERIODS[asked.period]))
        values = tuple(_period_value(asked.field, str(name), counts[name]) for name in sorted(counts, key=str))
        return Facet(asked.field, values, documents, 0, missing)
    counted = view.count_documents(keys, asked.field, _value)
    best = sorted(counted.items(), key=lambda one: (-one[1], str(one[0])))
    values = tuple(_plain_value(asked.field, name, count) for name, count in best[: asked.top])
    return Facet(asked.field, values, documents, len(best) - len(values), missing)


def _presence(_: Scalar) -> Hashable:
    return "held"


def _value(value: Scalar) -> Hashable:
    return kind_of(value), value


def _period(length: int, value: Scalar) -> Hashable | None:
    return value[:length] if isinstance(value, str) and _DATE.match(value) else None


def _plain_value(field: str, name: Hashable, count: int) -> FacetValue:
    value: Scalar = name[1]  # type: ignore[index]  # as `_value` makes it
    return FacetValue(value, count, render(Condition(field, Operator.EQ, value)))


def _period_value(field: str, name: str, count: int) -> FacetValue:
    period = read_period(name)
    end = name if period is None else period.end
    return FacetValue(name, count, _between(field, name, end))


def _between(field: str, low: Scalar | None, high: Scalar | None) -> str:
    tests: list[Filter] = [] if low is None else [Condition(field, Operator.GE, low)]
    tests += [] if high is None else [Condition(field, Operator.LT, high)]
    return render(And(tuple(tests)))


def _in_ranges(view: Snapshot, keys: ChunkKeys, asked: FacetQuery) -> tuple[FacetValue, ...]:
    """Count in each range, its lower bound included; those without bound at the ends are left out where empty."""
    bounds = asked.bounds
    counts = view.count_documents(keys, asked.field, _number_of(bounds))
    ranges = [(None, bounds[0]), *pairwise(bounds), (bounds[-1], None)]
    return tuple(
        FacetValue(_name(low, high), counts.get(number, 0), _between(asked.field, low, high))
        for number, (low, high) in enumerate(ranges)
        if counts.get(number, 0) or (low is not None and high is not None)
    )


def _number_of(bounds: Sequence[Scalar]) -> Label:
    kind = kind_of(bounds[0])

    def number(value: Scalar) -> Hashable | None:
        return sum(bound <= value for bound in bounds) if kind_of(value) == kind else None  # type: ignore[operator]

    return number


def _name(low: Scalar | None, high: Scalar | None) -> str:
    if low is None:
        return f"< {high}"
    return f">= {low}" if high is None else f"{low} – {high}"
