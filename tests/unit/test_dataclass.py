"""A dataclass of ours behaves as one of the standard library, in all that either of them says."""

import copy
import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from typing import Any

import pytest

from twofold.domain.dataclass import UNCOMPILED, dataclass, replace
from twofold.domain.filters import Condition, Operator

OURS: Any = dataclass
THEIRS: Any = dataclasses.dataclass
OPTIONS: tuple[Mapping[str, bool], ...] = (
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True},
    {"slots": True},
    {},
)


def point_by(decorator: Callable[..., Any], options: Mapping[str, bool]) -> Any:  # noqa: ANN401  # a class
    @decorator(**options)
    class Point:
        """A point."""

        x: int
        y: float = 2.0
        names: list[str] = field(default_factory=list, hash=False)
        note: str = field(default="", compare=False, repr=False)

    return Point


def outcome(task: Callable[[Any], object], subject: object) -> object:
    try:
        return task(subject)
    except (TypeError, AttributeError) as error:
        return type(error), str(error).replace("Point.", "")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_says_what_the_standard_one_says(options: Mapping[str, bool]) -> None:
    both = [point_by(decorator, options) for decorator in (OURS, THEIRS)]
    said = [
        (
            repr(kind(1, names=["a"])),
            kind(1) == kind(1.0, note="other"),
            kind(1) == kind(2),
            kind(1) == (1, 2.0, []),
            kind(1) != object(),
            options.get("eq", True) and outcome(hash, kind(1, note="a")),
            outcome(lambda one: setattr(one, "x", 2), kind(1)),
            isinstance(outcome(lambda one: setattr(one, "z", 2), kind(1)), tuple),
            outcome(lambda one: delattr(one, "x"), kind(1)),
            dataclasses.asdict(copy.deepcopy(kind(1, 3.0, ["b"], "c"))),
            dataclasses.replace(kind(1), x=5).x,
            [one.name for one in dataclasses.fields(kind)],
            kind.__match_args__,
            outcome(lambda made: made(1, 2, [], "", 5), kind),
            outcome(lambda made: made(), kind),
            outcome(lambda made: made(1, x=2), kind),
            outcome(lambda made: made(1, z=2), kind),
            [str(one) for one in inspect.signature(kind).parameters.values()],
            kind.__dataclass_params__.frozen,
        )
        for kind in both
    ]

    assert said[0] == said[1]


@pytest.mark.parametrize("slots", [True, False])
def test_the_first_objects_and_the_later_ones_are_alike(*, slots: bool) -> None:
    """Its `__init__` is compiled when there are some: defaults, factories and what follows are the same before."""

    def kind_by(decorator: Callable[..., Any]) -> Any:  # noqa: ANN401  # a class
        @decorator(frozen=True, slots=slots)
        class Checked:
            """Some numbers."""

            first: int
            rest: list[int] = field(default_factory=list)
            total: int = field(default=0, init=False)

            def __post_init__(self) -> None:
                if self.first < 0:
                    raise ValueError(self.first)
                object.__setattr__(self, "total", self.first + sum(self.rest))

        return Checked

    for decorator in (OURS, THEIRS):
        kind = kind_by(decorator)
        made = [kind(first, rest=[1, 2]) for first in range(3 * UNCOMPILED)]
        plain = [kind(0) for _ in range(3 * UNCOMPILED)]
        assert [one.total for one in made] == [first + 3 for first in range(3 * UNCOMPILED)]
        assert len({id(one.rest) for one in plain}) == len(plain), "each has a list of its own"
        for refused in (kind, kind_by(decorator)):
            with pytest.raises(ValueError, match="-1"):
                refused(-1)


def test_one_that_inherits_and_one_whose_argument_must_be_named_are_as_they_are_written() -> None:
    @dataclass(frozen=True, slots=True)
    class Named:
        value: int
        note: str = field(default="", kw_only=True)

    @dataclass(frozen=True, slots=True)
    class More(Named):
        other: int = 3

    assert More(1, 2, note="a") == More(other=2, value=1, note="a")
    assert repr(More(1)).endswith("More(value=1, note='', other=3)")
    with pytest.raises(TypeError):
        Named(1, "a")  # type: ignore[call-arg]
    with pytest.raises(FrozenInstanceError):
        More(1).value = 2  # type: ignore[misc]


def test_a_plain_subclass_may_have_attributes_of_its_own() -> None:
    class Own(point_by(OURS, {"frozen": True})):  # type: ignore[misc]
        pass

    one = Own(1)
    one.extra = 5
    assert one.extra == 5
    del one.extra
    with pytest.raises(FrozenInstanceError):
        one.x = 2


def test_one_can_be_copied_before_and_after_its_init_is_compiled() -> None:
    for number in range(2 * UNCOMPILED):
        condition = Condition("year", Operator.EQ, number)
        assert copy.copy(condition) == copy.deepcopy(condition) == condition


def test_a_frozen_one_refuses_changes() -> None:
    with pytest.raises(FrozenInstanceError):
        point_by(OURS, {"frozen": True, "slots": True})(1).x = 2


def test_methods_that_a_class_defines_stay() -> None:
    @dataclass(frozen=True, slots=True)
    class Odd:
        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Odd) and self.value % 2 == other.value % 2

        def __hash__(self) -> int:
            return self.value % 2

        def __repr__(self) -> str:
            return "odd"

    assert Odd(1) == Odd(3)
    assert hash(Odd(1)) == hash(Odd(3)) == 1
    assert repr(Odd(1)) == "odd"


def test_one_that_holds_itself_can_be_shown() -> None:
    @dataclass(slots=True)
    class Ring:
        held: list[Any]

    ring = Ring([])
    ring.held.append(ring)

    assert repr(ring) == "test_one_that_holds_itself_can_be_shown.<locals>.Ring(held=[...])"


def test_a_copy_with_other_fields_is_the_one_that_the_standard_library_makes() -> None:
    for options in OPTIONS:
        held = point_by(OURS, options)(1, names=["a"], note="b")
        each: tuple[dict[str, Any], ...] = ({}, {"x": 5}, {"y": 3.0, "note": ""}, {"names": []})
        for changes in each:
            made, theirs = replace(held, **changes), dataclasses.replace(held, **changes)
            assert type(made) is type(held)
            assert dataclasses.astuple(made) == dataclasses.astuple(theirs)
        with pytest.raises(TypeError, match="no field z"):
            replace(held, z=1)


def test_what_an_object_has_worked_out_is_not_copied() -> None:
    @dataclass(frozen=True)
    class Box:
        """A box."""

        width: int
        height: int = 2

        @cached_property
        def area(self) -> int:
            """The area."""
            return self.width * self.height

    box = Box(3)

    assert box.area == 6
    assert replace(box, width=5).area == 10
    assert replace(Box(3), height=4) == Box(3, 4)


def test_what_a_class_does_after_it_is_made_is_done_to_a_copy_too() -> None:
    @dataclass(frozen=True)
    class Length:
        """A length."""

        value: float

        def __post_init__(self) -> None:
            if self.value < 0:
                message = "a length is at least 0"
                raise ValueError(message)

    with pytest.raises(ValueError, match="at least 0"):
        replace(Length(1.0), value=-1.0)
