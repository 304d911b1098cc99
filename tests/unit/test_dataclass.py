"""A dataclass of ours behaves as one of the standard library, in all that either of them says."""

import copy
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, field
from typing import Any

import pytest

from twofold.domain.dataclass import dataclass, replace

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
            outcome(lambda one: setattr(one, "z", 2), kind(1)),
            outcome(lambda one: delattr(one, "x"), kind(1)),
            dataclasses.asdict(copy.deepcopy(kind(1, 3.0, ["b"], "c"))),
            dataclasses.replace(kind(1), x=5).x,
            [one.name for one in dataclasses.fields(kind)],
            kind.__match_args__,
            outcome(lambda made: made(1, 2, [], "", 5), kind),
        )
        for kind in both
    ]

    assert said[0] == said[1]


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
