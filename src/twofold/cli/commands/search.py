"""`search`: ask one index or several, one question or a file of them, and draw what they found."""

from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.context import open_for_search, requested_settings
from twofold.cli.options import (
    RESULT_OPTIONS,
    AsOfOption,
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
)
from twofold.cli.render.results import render_results, write_json
from twofold.cli.render.terminal import screen_on
from twofold.cli.runtime import command_part
from twofold.config.load import Settings
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import MAX_QUESTION_LENGTH
from twofold.search.engine import PLAIN, ResultOptions, SearchOptions
from twofold.search.result import SearchResult

QueryArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help='Words; "quoted phrases" must occur, +word must, -word must not. Put -- before a first -word. '
        f"At most {MAX_QUESTION_LENGTH:,} characters.",
        show_default=False,
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget-ms", help="Rerank fewer passages where the search would take longer than this.", show_default=False
    ),
]
Window = Annotated[
    int | None,
    typer.Option("--window", metavar="N", help="Also show N passages before and after each hit.", show_default=False),
]
Batch = Annotated[
    Path | None,
    typer.Option(
        "--batch",
        metavar="FILE",
        help='Ask many: a {"query": ...} a line, if need be with "id", "k", "mode" and "filter"; - reads standard '
        "input. Prints one JSON object for each.",
        show_default=False,
    ),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help='What was said before: {"role": "user" or "assistant", "text": ...}, one a line.',
        show_default=False,
    ),
]
Session = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="NAME",
        help="The session whose cached results may be used (cache=scope:session).",
        show_default=False,
    ),
]


Offset = Annotated[int, typer.Option("--offset", metavar="N", help="Skip the first N passages, for the next page.")]


@asks_results(*RESULT_OPTIONS)
def search(  # each option may be left out
    context: typer.Context,
    query: QueryArgument = None,
    *,
    k: KOption = None,
    offset: Offset = 0,
    mode: ModeOption = None,
    profile: ProfileOption = None,
    rerank: RerankOption = None,
    budget_ms: Budget = None,
    window: Window = None,
    explain: Annotated[bool, typer.Option("--explain", "-e", help="Show how each score is computed.")] = False,
    filters: FilterOption = None,
    history: History = None,
    session: Session = "",
    batch: Batch = None,
    as_of: AsOfOption = None,
    index: IndexesOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
    results: ResultOptions = PLAIN,
) -> None:
    """Search with BM25 and vectors.

    Several indexes are searched as one where --index is repeated. With --batch the exit code is 2 if a line could not
    be asked; the others are answered all the same.
    """
    options = SearchOptions(
        k=k,
        mode=mode,
        filter=parsed_filter(filters or []),
        rerank=rerank,
        settings=requested_settings(timeouts=_time_for_a_search(budget_ms), search__context_window=window),
        history=() if history is None else command_part("twofold.cli.commands.chat", "read_history")(history),
        session=session,
        offset=offset,
        results=results,
    )
    _check_query(query, batch)
    with open_for_search(context, index or [], embedder, profile, as_of) as opened:
        if batch is not None:
            command_part("twofold.cli.commands.batch", "answer_batch")(opened, batch, options)
            return
        result = opened.searching.search(" ".join(query or []), options)
        _show(result, opened.settings, explain=explain, as_json=as_json)


def _show(result: SearchResult, settings: Settings, *, explain: bool, as_json: bool) -> None:
    if as_json or explain:
        result = command_part("twofold.search.explain", "explained")(result, settings.analyzer)
    write_json(result) if as_json else render_results(screen_on(), result, settings, explain=explain)


def _check_query(query: list[str] | None, batch: Path | None) -> None:
    if (batch is None) == (not query):
        raise InvalidInputError("Ask either one question or a --batch.", "`twofold search --help` shows how.")


def _time_for_a_search(budget_ms: float | None) -> dict[str, float] | None:
    return None if budget_ms is None else {"search": budget_ms / 1000.0}
