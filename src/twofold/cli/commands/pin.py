"""`pin`: what an index shows first for a question, and what it leaves out."""

from typing import Annotated

import typer

from twofold.cli.options import IndexOption, JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import open_index
from twofold.domain.errors import InvalidInputError

Question = Annotated[str, typer.Argument(help="The question, in one argument; none lists all.", show_default=False)]
Documents = Annotated[
    list[str] | None,
    typer.Argument(metavar="DOC...", help="Documents or passages to show first, in this order.", show_default=False),
]
Hide = Annotated[
    list[str] | None,
    typer.Option("--hide", metavar="DOC", help="Leave this one out; repeat for more.", show_default=False),
]
Remove = Annotated[bool, typer.Option("--remove", help="Delete the pins of the question.")]


def pin(
    context: typer.Context,
    query: Question = "",
    documents: Documents = None,
    *,
    hide: Hide = None,
    remove: Remove = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show these documents first whenever the question is asked, and leave others out; list what is kept so."""
    if bool(query) != bool(documents or hide or remove) or (remove and (documents or hide)):
        raise InvalidInputError(
            "Pin documents to a question, remove what is kept for one, or name nothing to list all.",
            'Write such as: twofold pin "travel rules" policy.md --hide old.md',
        )
    with open_index(context, index) as opened:
        if query:
            opened.pin(query, documents or (), hide=hide or ())
        pins = opened.pins()
    if as_json:
        write_json(pins)
        return
    screen = screen_on()
    for line in columns([(one_line(asked), one_line(", ".join(names))) for asked, names in pins.items()]):
        screen.line(line)
    if not pins:
        screen.line("Nothing is pinned.")
