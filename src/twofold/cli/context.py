"""What a command asks, and of which indexes: one alone, or several as one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

import typer

from twofold.cli.runtime import command_part, open_collection, runtime_of, settings_for
from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import TwofoldError
from twofold.factory.places import folder_of, short_name
from twofold.index_reader import Collection
from twofold.models.catalog.entries import CATALOG
from twofold.search.engine import SearchOptions
from twofold.search.result import SearchResult
from twofold.stores.database_address import is_address

if TYPE_CHECKING:
    from twofold.multi_index import MultiIndex
    from twofold.search.why_not import WhyNot

LAST = "twofold.opened"


class SearchArguments(Protocol):
    """What answers questions: one index's searcher, or several indexes as one."""

    def search(self, query: str, options: SearchOptions = ..., /) -> SearchResult:
        """Search for one question."""

    def search_many(self, queries: Sequence[str], options: SearchOptions = ..., /) -> Sequence[SearchResult]:
        """Search for many questions, embedded together."""

    def why_not(self, query: str, document: str, options: SearchOptions = ..., /) -> "WhyNot":
        """Return which stage lost a document."""


@dataclass(frozen=True, slots=True)
class OpenedIndex:
    """What is open to be searched, and its settings; of several indexes those of the first one that opened."""

    searching: SearchArguments
    settings: Settings


@contextmanager
def open_for_search(
    context: typer.Context,
    names: Sequence[str],
    embedder: str | None,
    profile: str | None,
    as_of: str | None = None,
) -> Iterator[OpenedIndex]:
    """Open the indexes of these names, or the one of the settings; of several, one that does not open is left out.

    With `as_of` each is as it was at its snapshot of that name or date.

    A profile that was said after the command counts as if it had been said before it.
    """
    with ExitStack() as stack:
        if len(names) < 2:  # noqa: PLR2004  # several
            index = _opened(context, names[0] if names else None, (embedder, profile, as_of))
            stack.callback(index.close, free=index.settings.embedder not in CATALOG)
            context.find_root().meta[LAST] = index  # its model is not freed before the process ends
            yield OpenedIndex(index.searcher, index.settings)
            return
        several = stack.enter_context(several_opened(context, names, embedder, profile, as_of))
        yield OpenedIndex(several, several.settings)


@contextmanager
def several_opened(
    context: typer.Context,
    names: Sequence[str],
    embedder: str | None,
    profile: str | None = None,
    as_of: str | None = None,
) -> Iterator["MultiIndex"]:
    """Open several indexes as one; one that does not open is left out and named with the results."""
    home = settings_for(context).settings.home
    with ExitStack() as stack:
        found: dict[str, Collection | str] = {}
        for name in names:
            try:
                found[short_name(name)] = stack.enter_context(_opened(context, name, (embedder, profile, as_of)))
            except TwofoldError:
                if runtime_of(context).principals is not None:
                    raise  # it would be opened again for its owner
                found[short_name(name)] = (
                    name if is_address(name) else str(folder_of(name, home))
                )  # fails there again, and is named with the results
        several: MultiIndex = stack.enter_context(command_part("twofold.multi_index", "MultiIndex")(found))
        yield several


def _opened(context: typer.Context, name: str | None, said: tuple[str | None, str | None, str | None]) -> Collection:
    embedder, profile, as_of = said
    return open_collection(context, name, as_of=as_of, embedder=embedder, profile=profile)


def requested_settings(**said: object) -> Mapping[str, object]:
    """Return the settings of the options that were given; `rerank__top_n` is `rerank.top_n`."""
    return {name.replace("__", "."): value for name, value in said.items() if value is not None}


def front_of(context: typer.Context) -> Sequence[str]:
    """Return what was said before the command's name, as one types it."""
    launch = runtime_of(context)
    config = ["--config", str(launch.config)] if launch.config is not None else []
    return [*config, *(word for key, value in launch.overrides.items() for word in ("--set", f"{key}={value}"))]
