"""What `twofold --as` prints, and its exit code, is the same with and without what may not be read."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from support.generated_worlds import World, worlds
from support.worlds import MONDAY, Written, fill_world, without_hidden
from twofold import Index
from twofold.cli.app import application

FAST = (Phase.explicit, Phase.reuse, Phase.generate)
CLOCK = re.compile(
    r'"(timings\w*|milliseconds|created|updated|\w+_ms)": ?(\{[^}]*\}|"[^"]*"|[-\d.e]+)|\d+(\.\d+)? ?ms|\d+\.\d$',
    re.MULTILINE,
)
"""What a clock says."""


def commands(written: Sequence[Written], queries: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield what somebody may type who knows every name and every word."""
    yield ("ls",)
    yield ("ls", "--json", "--as-of", MONDAY)
    yield ("access", "show")
    yield ("suggest", "m")
    for query, mode in zip(queries, ("bm25", "hybrid", "vector"), strict=False):
        yield ("search", query, "-m", mode, "--json")
        yield ("search", query, "-m", mode, "--as-of", MONDAY, "--json")
        yield ("search", query, "-m", "bm25", "--facet", "source")
        yield ("ask", query, "--json")
        yield ("ask", query, "--as-of", MONDAY)
    for one in written:
        for command in (
            ("show", one.source),
            ("show", one.document().id, "--as-of", MONDAY),
            ("access", "show", one.source),
        ):
            yield command
        yield ("why-not", queries[0], one.source)
        yield ("why-not", queries[0], one.document().id, "--json")
    for one in written[:2]:
        yield ("access", "set", one.source, "public")
        yield ("rm", one.source)
    for command in (("index", "verify"), ("index", "snapshots"), ("index", "diff", MONDAY), ("log", "show")):
        yield command


def check(made: World, of: int, part: int) -> None:
    """Hold what is printed of two worlds against each other."""
    written, who, default, queries = made
    readers = [] if default == "nobody" else [default]
    names = [word for one in who or ["public"] for word in ("--as", one)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        said = []
        for name, kept in (("w", written), ("v", without_hidden(written, who, readers))):
            home = Path(folder) / name
            patch.setenv("TWOFOLD_HOME", str(home))
            patch.setenv("TWOFOLD_EMBEDDER", "hashing")
            with Index("default") as index:
                fill_world(index, kept)
                index.set_settings({"acl": {"default": default}})
            asked = [one for number, one in enumerate(commands(written, queries)) if number % of == part]
            done = [(one, CliRunner().invoke(application(), [*names, *one])) for one in asked]
            said.append([(one, ran.exit_code, CLOCK.sub("", ran.output.replace(str(home), ""))) for one, ran in done])
        for here, there in zip(*said, strict=True):
            assert here == there


@settings(max_examples=2, phases=FAST)
@given(worlds, st.integers(0, 3))
def test_no_command_tells_of_what_is_hidden(made: World, part: int) -> None:
    check(made, 4, part)


@pytest.mark.soak
@settings(max_examples=60, phases=FAST)
@given(worlds, st.integers(0, 3))
def test_worlds_by_commands(made: World, part: int) -> None:
    check(made, 4, part)
