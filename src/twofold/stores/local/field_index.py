"""What filters look at, turned over: for each field and kind of value the values in order, and which slots hold each.

A segment keeps it as four arrays, so that a comparison is two look-ups and one stretch of slots. See `Columns`.
"""

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.filters import Condition, Operator, fields_of, kind_of, passage_fields, values_of
from twofold.domain.types import Metadata, Scalar
from twofold.stores.local.serialization import FieldsRow, read_document_fields, read_filter_fields

Value = tuple[str, str, Scalar]  # a field's name, its value's kind, and the value
Slots = NDArray[np.uint32]
Held = dict[tuple[str, str], dict[Any, list[Slots]]]  # by name and kind, by value: runs of slots that hold it

MAX_EXACT = 2.0**63
FEW_CONTAIN = 16  # one in this many


class Group(NamedTuple):
    """One field's values of one kind: their numbers from `first` to before `beyond`, and where their JSON stands."""

    first: int
    beyond: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The fields of n passages: V different values, ordered by name, kind and value, and H times that one is held.

    Four slots that hold 1, 2, 2 and 5 in `year` make the values 1, 2, 5, the offsets 0, 1, 3, 4 and the slots 0 to 3:
    `year <= 2` holds in the slots from offset 0 to offset 3.
    """

    groups: NDArray[np.uint8]  # JSON: [name, kind, count, bytes of its values] of each group
    values: NDArray[np.uint8]  # JSON: one list a group
    offsets: NDArray[np.int64]  # (V + 1,) where each value's slots begin
    slots: Slots  # (H,) rising within a value


def build_columns(passages: Iterable[FieldsRow]) -> Columns:
    """Turn over what passages hold, given in the order of their slots. A document's fields are its passages' too."""
    held: dict[tuple[str, str], dict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    known: dict[tuple[int | None, str, str], frozenset[Value]] = {}
    slot = 0
    for _, rows in groupby(passages, key=attrgetter("document")):
        first, shared = slot, frozenset[Value]()
        for row in rows:
            if slot == first:
                shared = triples(fields_of(read_document_fields(row)))
            own = known.get((row.page, row.own, row.heading))
            if own is None:
                own = known[row.page, row.own, row.heading] = triples(passage_fields(read_filter_fields(row)))
            for name, kind, value in own - shared if own else ():
                held[name, kind][value].append(slot)
            slot += 1
        for name, kind, value in shared:
            held[name, kind][value] += range(first, slot)
    return _assembled(
        {
            group: {value: [np.array(slots, dtype=np.uint32)] for value, slots in by_value.items()}
            for group, by_value in held.items()
        }
    )


def triples(fields: Metadata) -> frozenset[Value]:
    """Return a name, a kind and a value of each. Whole numbers are integers: 1.0 and 1 are one value."""
    return frozenset((name, kind_of(one), _plain(one)) for name, held in fields.items() for one in values_of(held))


def _plain(value: Scalar) -> Scalar:
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT:
        return int(value)
    return value


def merge_columns(columns: Sequence[Columns], remaps: Sequence[NDArray[np.int64]]) -> Columns:
    """Merge neighbors; `remaps` say for each the new slot of every old one, negative where it is dropped."""
    held: Held = defaultdict(lambda: defaultdict(list))
    for one, remap in zip(columns, remaps, strict=True):
        moved = remap[one.slots]
        living = moved >= 0
        ends = np.concatenate(([0], np.cumsum(living)))[one.offsets].tolist()
        slots = moved[living].astype(np.uint32)
        for name, kind, group in groups_of(one):
            by_value = held[name, kind]
            for number, value in enumerate(read_values(one, group), start=group.first):
                if ends[number] < ends[number + 1]:
                    by_value[value].append(slots[ends[number] : ends[number + 1]])
    return _assembled({group: by_value for group, by_value in held.items() if by_value})


def _assembled(held: Mapping[tuple[str, str], Mapping[Any, list[Slots]]]) -> Columns:
    groups, texts, runs, lengths = [], [], [], [0]
    for name, kind in sorted(held):
        by_value = held[name, kind]
        ordered = sorted(by_value)
        text = json.dumps(ordered, ensure_ascii=False).encode()
        groups.append((name, kind, len(ordered), len(text)))
        texts.append(text)
        for value in ordered:
            runs += by_value[value]
            lengths.append(sum(map(len, by_value[value])))
    return Columns(
        groups=_bytes(json.dumps(groups, ensure_ascii=False).encode()),
        values=_bytes(b"".join(texts)),
        offsets=np.cumsum(lengths, dtype=np.int64),
        slots=np.concatenate(runs) if runs else np.empty(0, dtype=np.uint32),
    )


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def groups_of(columns: Columns) -> Iterator[tuple[str, str, Group]]:
    """List the groups: name, kind, and where they stand."""
    first = begin = 0
    for name, kind, count, size in json.loads(columns.groups.tobytes()):
        yield name, kind, Group(first, first + count, begin, begin + size)
        first += count
        begin += size


def read_values(columns: Columns, group: Group) -> list[Any]:
    """Read a group's values, in order."""
    values: list[Any] = json.loads(columns.values[group.begin : group.end].tobytes())
    return values


def titles_and_fields(columns: Columns) -> tuple[list[str], frozenset[str]]:
    """Return the documents' titles, and the names of all fields."""
    groups = {(name, kind): group for name, kind, group in groups_of(columns)}
    held = groups.get(("title", "text"))
    return [] if held is None else read_values(columns, held), frozenset(name for name, _ in groups)


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Texts written into one, a line feed behind each, so that those that contain something are found in one pass."""

    values: Sequence[str]
    text: str
    starts: list[int]

    @classmethod
    def of(cls, values: Sequence[str]) -> Self:
        """Join texts."""
        return cls(values, "\n".join(values), [0, *accumulate(len(value) + 1 for value in values)])

    def containing(self, asked: str) -> NDArray[np.bool_]:
        """Return for each text whether it contains the value."""
        found = np.zeros(len(self.values), dtype=np.bool_)
        left = len(self.values) // FEW_CONTAIN if asked and "\n" not in asked else 0
        at = self.text.find(asked) if left else 0
        while at >= 0 and left:
            number = bisect_right(self.starts, at) - 1
            found[number] = True
            at = self.text.find(asked, self.starts[number + 1])
            left -= 1
        return found if at < 0 else np.array([asked in value for value in self.values], dtype=np.bool_)


class Lookup:
    """Finds in one segment's columns what passes a test. What was read of them is remembered: they never change."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._groups = {(name, kind): group for name, kind, group in groups_of(columns)}
        self._values: dict[tuple[str, str], list[Any]] = {}
        self._joined: dict[tuple[str, str], Joined] = {}

    def mark(self, test: Condition, passing: NDArray[np.bool_]) -> None:
        """Mark the slots that pass."""
        if test.op is Operator.EXISTS:
            for (name, _), held in self._groups.items():
                if name == test.field:
                    passing[self._slots(held.first, held.beyond)] = True
            return
        wanted = test.field, kind_of(test.value)
        group = self._groups.get(wanted)
        if group is None or test.value != test.value:  # what is no number passes no comparison
            return
        if test.op is not Operator.CONTAINS:
            low, high = stretch_of(self._values_of(wanted, group), test)
            passing[self._slots(group.first + low, group.first + max(low, high))] = True
        elif isinstance(test.value, str):
            self._mark_some(self._joined_of(wanted, group).containing(test.value), group, passing)

    def holders(self, name: str) -> Iterator[tuple[list[Any], NDArray[np.intp], Slots]]:
        """Yield, for each kind of a field's values, the values, and for each time that one is held which and where."""
        for (field, kind), group in self._groups.items():
            if field == name:
                offsets = self._columns.offsets[group.first : group.beyond + 1]
                which = np.repeat(np.arange(group.beyond - group.first), np.diff(offsets))
                yield self._values_of((field, kind), group), which, self._slots(group.first, group.beyond)

    def _joined_of(self, wanted: tuple[str, str], group: Group) -> Joined:
        joined = self._joined.get(wanted)
        if joined is None:
            joined = self._joined[wanted] = Joined.of(self._values_of(wanted, group))
        return joined

    def _values_of(self, wanted: tuple[str, str], group: Group) -> list[Any]:
        values = self._values.get(wanted)
        if values is None:
            values = self._values[wanted] = read_values(self._columns, group)
        return values

    def _mark_some(self, found: NDArray[np.bool_], group: Group, passing: NDArray[np.bool_]) -> None:
        offsets = self._columns.offsets[group.first : group.beyond + 1]
        slots = self._columns.slots[int(offsets[0]) : int(offsets[-1])]
        passing[slots[np.repeat(found, np.diff(offsets))]] = True

    def _slots(self, low: int, high: int) -> Slots:
        offsets = self._columns.offsets
        return self._columns.slots[int(offsets[low]) : int(offsets[high])]


def stretch_of(values: list[Any], test: Condition) -> tuple[int, int]:
    """Return where in rising values those that pass begin and end: of 1, 2, 5 those `<= 2` are 0 to 2."""
    asked: Any = test.value
    if test.op is Operator.PREFIX:
        if not isinstance(asked, str):
            return 0, 0

        def front(value: str) -> str:
            return value[: len(asked)]

        return bisect_left(values, asked, key=front), bisect_right(values, asked, key=front)
    low = (
        0
        if test.op in (Operator.LT, Operator.LE)
        else (bisect_right if test.op is Operator.GT else bisect_left)(values, asked)
    )
    high = (
        len(values)
        if test.op in (Operator.GT, Operator.GE)
        else (bisect_left if test.op is Operator.LT else bisect_right)(values, asked)
    )
    return low, high
