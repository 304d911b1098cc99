"""`suggest`: how a question may go on while it is typed."""

from typing import Annotated

import typer

from twofold.cli.options import EmbedderOption, FilterOption, IndexOption, JsonOption, parsed_filter
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import open_collection
from twofold.text.quantities import counted

TypedArgument = Annotated[list[str], typer.Argument(metavar="TEXT...", help="The beginning of a question.")]


def suggest(
    context: typer.Context,
    typed: TypedArgument,
    *,
    k: Annotated[int, typer.Option("-k", help="How many suggestions.")] = 8,
    filters: FilterOption = None,
    index: IndexOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Suggest how a question may go on: titles, phrases and words of the documents, one a line."""
    with open_collection(context, index, embedder=embedder) as opened:
        found = opened.suggest(" ".join(typed), k=k, filter=parsed_filter(filters or []))
    screen = screen_on()
    if as_json:
        for one in found:
            write_json(one)
        return
    for line in columns([(one_line(one.text), one.kind, counted(one.passages, "passage")) for one in found]):
        screen.line(line)
