"""What somebody may not read makes no difference to anything that they can see: world for world, byte for byte."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from support.worlds import Written, answers, changes, without_hidden, world
from twofold import Index

FAST = (Phase.explicit, Phase.reuse, Phase.generate)  # a world takes half a second: too long to shrink
WORDS = ("merger", "soup", "bread", "canteen", "budget", "price", "the", "ERR-12345", "secret", "hot")
PRINCIPALS: Sequence[list[str]] = (["user:ann", "group:legal"], ["user:bob"], [])
READERS = (None, None, ("public",), ("group:legal",), ("user:bob",), ("user:ann", "user:bob"), ())
lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
texts = st.lists(lines, min_size=1, max_size=3).map("\n\n".join)
worlds = st.lists(st.tuples(texts, st.sampled_from(READERS)), min_size=2, max_size=7).map(
    lambda made: [Written(f"{number}.txt", text, readers) for number, (text, readers) in enumerate(made)]
)
queries = st.lists(lines, min_size=1, max_size=3)
defaults = st.sampled_from(["public", "nobody", "group:legal"])


def told_apart(
    opened: tuple[Index, Index], principals: Sequence[str], everything: Sequence[Written], asked: Sequence[str]
) -> list[str]:
    """Return what is answered differently in two worlds, and how; nothing where there is no telling them apart."""
    first, second = (index.as_principals(principals) for index in opened)
    found: list[str] = []
    for number in range(3):  # what there is, then writing, then what there is by then
        here = changes(first, everything) if number == 1 else answers(first, everything, asked)
        there = changes(second, everything) if number == 1 else answers(second, everything, asked)
        found += [
            f"{name}\n  W  {one.decode()}\n  W' {other.decode()}"
            for (name, one), (_, other) in zip(here, there, strict=True)
            if one != other
        ]
    return found


def check(
    made: list[Written], who: Sequence[str], default: str, asked: list[str], where: tuple[str | Path, str | Path]
) -> None:
    said: Mapping[str, object] = {"acl": {"default": default}}
    readers = [] if default == "nobody" else [default]
    opened = world(made, where[0], said), world(without_hidden(made, who, readers), where[1], said)
    try:
        assert told_apart(opened, who, made, asked) == []
    finally:
        for index in opened:
            index.close()


@settings(max_examples=8, phases=FAST)
@given(worlds, st.sampled_from(PRINCIPALS), defaults, queries)
def test_nothing_tells_of_what_is_hidden_in_memory(
    made: list[Written], who: list[str], default: str, asked: list[str]
) -> None:
    check(made, who, default, asked, (":memory:", ":memory:"))


@settings(max_examples=4, phases=FAST)
@given(worlds, st.sampled_from(PRINCIPALS), defaults, queries)
def test_nothing_tells_of_what_is_hidden_on_disk(
    made: list[Written], who: list[str], default: str, asked: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(made, who, default, asked, (Path(folder) / "w" / "kb", Path(folder) / "v" / "kb"))


@pytest.mark.soak
@settings(max_examples=1_500, phases=FAST)
@given(worlds, st.sampled_from(PRINCIPALS), defaults, queries)
def test_two_thousand_worlds_in_memory(made: list[Written], who: list[str], default: str, asked: list[str]) -> None:
    check(made, who, default, asked, (":memory:", ":memory:"))


@pytest.mark.soak
@settings(max_examples=500, phases=FAST)
@given(worlds, st.sampled_from(PRINCIPALS), defaults, queries)
def test_two_thousand_worlds_on_disk(made: list[Written], who: list[str], default: str, asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(made, who, default, asked, (Path(folder) / "w" / "kb", Path(folder) / "v" / "kb"))
