"""What a command asks, and of which indexes: one alone, or several as one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import typer

from twofold.cli.launch import command_part, launch_of, open_collection, settings_for
from twofold.collection import Collection
from twofold.compose import folder_of
from twofold.domain.errors import TwofoldError
from twofold.pipeline.results import SearchResult
from twofold.searcher import Asking
from twofold.settings import Settings

if TYPE_CHECKING:
    from twofold.pipeline.whynot import WhyNot
    from twofold.several import Several


class Searching(Protocol):
    """What answers questions: one index's searcher, or several indexes as one."""

    def search(self, query: str, asking: Asking = ..., /) -> SearchResult:
        """Search for one question."""

    def search_many(self, queries: Sequence[str], asking: Asking = ..., /) -> Sequence[SearchResult]:
        """Search for many questions, embedded together."""

    def why_not(self, query: str, document: str, asking: Asking = ..., /) -> "WhyNot":
        """Say which stage lost a document."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What is open to be searched, and its settings; of several indexes those of the first one that opened."""

    searching: Searching
    settings: Settings


@contextmanager
def opened_for(
    context: typer.Context, names: Sequence[str], embedder: str | None, profile: str | None
) -> Iterator[Opened]:
    """Open the indexes of these names, or the one of the settings; of several, one that does not open is left out.

    A profile that was said after the command counts as if it had been said before it.
    """
    with ExitStack() as stack:
        if len(names) < 2:  # noqa: PLR2004  # several
            index = stack.enter_context(_opened(context, names[0] if names else None, embedder, profile))
            yield Opened(index.searcher, index.settings)
            return
        several = stack.enter_context(several_opened(context, names, embedder, profile))
        yield Opened(several, several.settings)


@contextmanager
def several_opened(
    context: typer.Context, names: Sequence[str], embedder: str | None, profile: str | None = None
) -> Iterator["Several"]:
    """Open several indexes as one; one that does not open is left out and named beside what is found."""
    home = settings_for(context).settings.home
    with ExitStack() as stack:
        found: dict[str, Collection | str] = {}
        for name in names:
            try:
                found[name] = stack.enter_context(_opened(context, name, embedder, profile))
            except TwofoldError:
                found[name] = str(folder_of(name, home))  # fails there again, and is told of beside the results
        several: Several = stack.enter_context(command_part("twofold.several", "Several")(found))
        yield several


def _opened(context: typer.Context, name: str | None, embedder: str | None, profile: str | None) -> Collection:
    return open_collection(context, name, embedder=embedder, profile=profile)


def settings_asked(**said: object) -> Mapping[str, object]:
    """Give the settings that options ask for, those that were not given left out; `rerank__keep` is `rerank.keep`."""
    return {name.replace("__", "."): value for name, value in said.items() if value is not None}


def front_of(context: typer.Context) -> Sequence[str]:
    """Give what was said before the command's name, as one types it."""
    launch = launch_of(context)
    config = ["--config", str(launch.config)] if launch.config is not None else []
    return [*config, *(word for key, value in launch.overrides.items() for word in ("--set", f"{key}={value}"))]
