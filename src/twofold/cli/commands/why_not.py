"""`why-not`: which stage of a search lost a document, and the command that shows it."""

import shlex
from collections.abc import Sequence
from textwrap import wrap
from typing import Annotated

import typer

from twofold.cli.context import front_of, open_for_search
from twofold.cli.options import (
    RESULT_OPTIONS,
    EmbedderOption,
    FilterOption,
    IndexesOption,
    JsonOption,
    KOption,
    ModeOption,
    ProfileOption,
    RerankOption,
    asks_results,
    parsed_filter,
    words_of,
)
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import Screen, columns, one_line, printable, screen_on
from twofold.domain.dataclass import dataclass
from twofold.search.engine import PLAIN, ResultOptions, SearchOptions
from twofold.search.remedies import NO_FILTER, Fix
from twofold.search.why_not import WhyNot

_MAX_WIDTH = 120
UNASKED = ("facets", "cursor")
"""What is asked of results and loses no document."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What was typed, to be typed again with a change."""

    front: Sequence[str]
    query: str
    k: int | None
    mode: str | None
    filters: Sequence[str]
    rerank: str | None
    rest: Sequence[str]
    results: ResultOptions

    def changed(self, change: Fix) -> str:
        """Write the search as a command for a shell."""
        sets = [word for key, value in change.settings.items() for word in ("--set", f"{key}={value}")]
        query, k, mode = change.query or self.query, change.k or self.k, change.mode or self.mode
        filters = self.filters if change.filter is None else [] if change.filter == NO_FILTER else [change.filter]
        words = ["twofold", *self.front, *sets, "search", *self.rest]
        rerank = change.rerank or self.rerank
        words += ["--rerank", rerank] if rerank is not None else []
        words += ["-k", str(k)] if k is not None else []
        words += ["-m", mode] if mode is not None else []
        words += [word for one in filters for word in ("--filter", one)]
        words += words_of(self.results, change.without)
        return shlex.join([*words, *(["--", query] if query.startswith("-") else [query])])


@asks_results(*(name for name in RESULT_OPTIONS if name not in UNASKED))
def why_not(  # each option may be left out
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question, in one argument.")],
    document: Annotated[
        str, typer.Argument(metavar="DOC", help="A document, as `twofold show` takes it, or a passage's id.")
    ],
    *,
    k: KOption = None,
    mode: ModeOption = None,
    profile: ProfileOption = None,
    rerank: RerankOption = None,
    filters: FilterOption = None,
    index: IndexesOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
    results: ResultOptions = PLAIN,
) -> None:
    """Show which stage of a search dropped a document, and the smallest change that brings it back, already tried."""
    options = SearchOptions(k=k, mode=mode, filter=parsed_filter(filters or []), rerank=rerank, results=results)
    with open_for_search(context, index or [], embedder, profile) as opened:
        said = opened.searching.why_not(query, document, options)
    if as_json:
        write_json(said)
        return
    given = [("-i", one) for one in index or []]
    said_too = (("--embedder", embedder), ("--profile", profile))
    given += [(name, value) for name, value in said_too if value is not None]
    rest = [word for pair in given for word in pair]
    words = _Words(front_of(context), query, k, mode, filters or [], rerank, rest, results)
    _draw(screen_on(), said, words)


def _draw(screen: Screen, said: WhyNot, words: _Words) -> None:
    if not said.stage:
        screen.line(one_line(said.reason))
        return
    screen.line(f"{screen.paint('Lost at', 'dim')} {screen.paint(said.stage, 'bold')}")
    for line in wrap(one_line(said.reason), min(screen.width, _MAX_WIDTH)):
        screen.line(line)
    if said.evidence:
        screen.line()
    for line in columns([(one_line(one.name), one_line(one.detail)) for one in said.evidence]):
        screen.line(screen.paint(line, "dim"))
    screen.line()
    if said.fix is not None and said.rank_after_fix is not None:
        screen.line(f"Shown at rank {said.rank_after_fix} (tried) by:")
        screen.line(f"  {screen.paint(printable(words.changed(said.fix)), 'bold')}")
    else:
        screen.line(one_line(said.hint or "No change of the search was found that shows it."))
