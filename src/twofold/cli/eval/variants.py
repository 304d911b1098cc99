"""Configurations as a command line has them: `bm25`, `precise`, `search.bm25=k1:2,fusion.method=rrf`, `run:FILE`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path

from twofold.config.load import Settings
from twofold.config.profiles import PROFILES
from twofold.config.settings import known_settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.search.plan import MODES

AS_CONFIGURED = "settings"
RUN = "run:"

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
    """Read `settings` (as they stand), a mode, a profile, `KEY=VALUE`, several of these parted by commas, `run:FILE`.

    Raises InvalidInputError for anything else, and for settings that are about how documents are stored.
    """
    if text.startswith(RUN):
        path = Path(text.removeprefix(RUN))
        return Configuration(path.name or text, path)
    parts = [part.strip() for part in text.split(",")]
    overrides = dict(_override(part) for part in parts if part != AS_CONFIGURED)
    return Configuration(", ".join(parts), resolve(overrides))


def distinct(some: Iterable[Configuration]) -> list[Configuration]:
    """Return names with equal ones numbered, so that every line of a report is clear."""
    named: dict[str, Configuration] = {}
    for one in some:
        names = (one.name if number == 1 else f"{one.name} ({number})" for number in count(1))
        free = next(name for name in names if name not in named)
        named[free] = replace(one, name=free)
    return list(named.values())


def _override(part: str) -> tuple[str, str]:
    key, sign, value = (piece.strip() for piece in part.partition("="))
    if not sign:
        if part in MODES:
            return "search.mode", part
        if any(part in (one.name, *one.aliases) for one in PROFILES):
            return "profile", part
        known = ", ".join((*MODES, *(one.name for one in PROFILES)))
        raise InvalidInputError(
            f"There is no mode or profile {part!r}.", f"Use {known}, {AS_CONFIGURED}, KEY=VALUE or {RUN}FILE."
        )
    known_here = known_settings()
    if key in known_here and not known_here[key].of_a_search:
        raise InvalidInputError(
            f"{key} cannot be compared on one index.",
            "Compare settings of searching, or write a --run of each index and compare those.",
        )
    return key, value
