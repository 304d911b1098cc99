"""Configurations as one writes them on a command line: `bm25`, `search.k1=1.5,search.b=0.4`, `run:old.trec`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from twofold.domain.errors import InvalidInputError
from twofold.pipeline.search import MODES
from twofold.settings import Settings

AS_SET = "settings"
RUN = "run:"
_GROUP = "search."

Resolve = Callable[[Mapping[str, str]], Settings]
"""Gives the settings with some of them set to something else."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A way to answer: settings to search with, or a file in which somebody else's answers are."""

    name: str
    asks: Settings | Path

    @property
    def needs_a_model(self) -> bool:
        """Whether questions must be embedded."""
        return isinstance(self.asks, Settings) and self.asks.search.mode != "bm25"


def parsed_configuration(text: str, resolve: Resolve) -> Configuration:
    """Read `settings` (as they stand), a mode, `search.KEY=VALUE`, several of these parted by commas, or `run:FILE`.

    Raises InvalidInputError for anything else, and for settings that are about how documents are stored.
    """
    if text.startswith(RUN):
        path = Path(text.removeprefix(RUN))
        return Configuration(path.name or text, path)
    parts = [part.strip() for part in text.split(",")]
    overrides = dict(_override(part) for part in parts if part != AS_SET)
    return Configuration(", ".join(parts), resolve(overrides))


def distinct(some: Iterable[Configuration]) -> list[Configuration]:
    """Give equal names a number, so that every line of a report says which one it is about."""
    named: dict[str, Configuration] = {}
    for one in some:
        names = (one.name if number == 1 else f"{one.name} ({number})" for number in count(1))
        free = next(name for name in names if name not in named)
        named[free] = replace(one, name=free)
    return list(named.values())


def _override(part: str) -> tuple[str, str]:
    key, sign, value = (piece.strip() for piece in part.partition("="))
    if not sign:
        if part not in MODES:
            remedy = f"Use {', '.join(MODES)}, {AS_SET}, search.KEY=VALUE or {RUN}FILE."
            raise InvalidInputError(f"There is no mode {part!r}.", remedy)
        return "search.mode", part
    if not key.startswith(_GROUP):
        raise InvalidInputError(
            f"{key} cannot be compared on one index.",
            f"Compare settings of searching, {_GROUP}..., or write a --run of each index and compare those.",
        )
    return key, value
