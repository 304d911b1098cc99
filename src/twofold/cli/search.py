"""`search`: ask one index or several, one question or a file of them, and draw what they found."""

from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.asked import opened_for, settings_asked
from twofold.cli.data import write_json
from twofold.cli.filters import parsed_filter
from twofold.cli.found import draw_found
from twofold.cli.launch import command_part
from twofold.cli.options import (
    EmbedderOption,
    FilterOption,
    IndexesOption,
    JsonOption,
    KOption,
    ModeOption,
    ProfileOption,
    RerankOption,
)
from twofold.cli.screen import screen_on
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import LONGEST_QUESTION
from twofold.searcher import Asking

QueryArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help='Words; "quoted phrases" must occur, +word must, -word must not. Put -- before a first -word. '
        f"At most {LONGEST_QUESTION:,} characters.",
        show_default=False,
    ),
]
Budget = Annotated[
    float | None,
    typer.Option("--budget-ms", help="Read fewer again where the search would take longer.", show_default=False),
]
Window = Annotated[
    int | None,
    typer.Option("--window", metavar="N", help="Show N neighbours on either side as well.", show_default=False),
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
        "--session", metavar="NAME", help="Whose answers may be given again (cache.scope=session).", show_default=False
    ),
]


def search(  # each option may be left out
    context: typer.Context,
    query: QueryArgument = None,
    *,
    k: KOption = None,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help="Pass over the N best: for the next page.")] = 0,
    mode: ModeOption = None,
    profile: ProfileOption = None,
    rerank: RerankOption = None,
    budget_ms: Budget = None,
    window: Window = None,
    explain: Annotated[bool, typer.Option("--explain", "-e", help="Show how each score came about.")] = False,
    filters: FilterOption = None,
    history: History = None,
    session: Session = "",
    batch: Batch = None,
    index: IndexesOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search by words and by meaning.

    Several indexes are searched as one where --index is repeated. With --batch the exit code is 2 if a line could not
    be asked; the others are answered all the same.
    """
    asking = Asking(
        k=k,
        mode=mode,
        filter=parsed_filter(filters or []),
        rerank=rerank,
        settings=settings_asked(search__budget_ms=budget_ms, search__window=window),
        history=() if history is None else command_part("twofold.cli.conversation", "read_history")(history),
        session=session,
        offset=offset,
    )
    if (batch is None) == (not query):
        raise InvalidInputError("Ask either one question or a --batch.", "`twofold search --help` shows how.")
    with opened_for(context, index or [], embedder, profile) as opened:
        if batch is not None:
            command_part("twofold.cli.batch", "answer_batch")(opened, batch, asking)
            return
        result = opened.searching.search(" ".join(query or []), asking)
    if as_json or explain:
        result = command_part("twofold.pipeline.explaining", "explained")(result, opened.settings.analyser)
    write_json(result) if as_json else draw_found(screen_on(), result, opened.settings, explain=explain)
