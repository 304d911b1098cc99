"""What somebody may not read makes no difference to anything that they can see: world for world, byte for byte."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support.generated_worlds import World, worlds
from support.postgres_server import PostgresServer
from support.worlds import Share, Written, answers, changes, without_hidden, world
from twofold import Index

FAST = (Phase.explicit, Phase.reuse, Phase.generate)  # a world takes half a second: too long to shrink
IN_A_FIXTURE = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)  # one server for all worlds


def told_apart(
    opened: tuple[Index, Index],
    principals: Sequence[str],
    everything: Sequence[Written],
    asked: Sequence[str],
    share: Share,
) -> list[str]:
    """Return what is answered differently in two worlds, and how; nothing where there is no telling them apart."""
    first, second = (index.as_principals(principals) for index in opened)
    found: list[str] = []
    for number in range(3):  # what there is, then writing, then what there is by then
        here, there = (
            Share().heard(changes(index, everything)) if number == 1 else share.heard(answers(index, everything, asked))
            for index in (first, second)
        )
        found += [
            f"{name}\n  W  {one.decode()}\n  W' {other.decode()}"
            for (name, one), (_, other) in zip(here, there, strict=True)
            if one != other
        ]
    return found


def check(made: World, share: Share, where: tuple[str | Path, str | Path]) -> None:
    written, who, default, asked = made
    said: Mapping[str, object] = {"acl": {"default": default}}
    readers = [] if default == "nobody" else [default]
    opened = world(written, where[0], said), world(without_hidden(written, who, readers), where[1], said)
    try:
        assert told_apart(opened, who, written, asked, share) == []
    finally:
        for index in opened:
            index.close()


def check_on_disk(made: World, share: Share) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(made, share, (Path(folder) / "w" / "kb", Path(folder) / "v" / "kb"))


@settings(max_examples=8, phases=FAST)
@given(worlds, st.integers(0, 1))
def test_nothing_tells_of_what_is_hidden_in_memory(made: World, part: int) -> None:
    check(made, Share(2, part), (":memory:", ":memory:"))


@settings(max_examples=4, phases=FAST)
@given(worlds, st.integers(0, 1))
def test_nothing_tells_of_what_is_hidden_on_disk(made: World, part: int) -> None:
    check_on_disk(made, Share(2, part))


@pytest.mark.soak
@settings(max_examples=1_400, phases=FAST)
@given(worlds, st.integers(0, 7))
def test_two_thousand_worlds_in_memory(made: World, part: int) -> None:
    check(made, Share(8, part), (":memory:", ":memory:"))


@pytest.mark.soak
@settings(max_examples=600, phases=FAST)
@given(worlds, st.integers(0, 7))
def test_two_thousand_worlds_on_disk(made: World, part: int) -> None:
    check_on_disk(made, Share(8, part))


@pytest.mark.soak
@settings(max_examples=40, phases=FAST, suppress_health_check=IN_A_FIXTURE)
@given(made=worlds, part=st.integers(0, 7))
def test_worlds_in_postgresql(postgres_server: PostgresServer, made: World, part: int) -> None:
    check(
        made, Share(8, part), (postgres_server.address(index=token_hex(8)), postgres_server.address(index=token_hex(8)))
    )


@settings(max_examples=2, phases=FAST, suppress_health_check=IN_A_FIXTURE)
@given(made=worlds, part=st.integers(0, 7))
def test_nothing_tells_of_what_is_hidden_in_a_bucket(s3: str, made: World, part: int) -> None:
    check(made, Share(8, part), (f"{s3}/{token_hex(8)}", f"{s3}/{token_hex(8)}"))


@pytest.mark.soak
@settings(max_examples=100, phases=FAST, suppress_health_check=IN_A_FIXTURE)
@given(made=worlds, part=st.integers(0, 7))
def test_worlds_in_a_bucket(s3: str, made: World, part: int) -> None:
    check(made, Share(8, part), (f"{s3}/{token_hex(8)}", f"{s3}/{token_hex(8)}"))
