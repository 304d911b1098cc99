"""`mcp`: an index as tools for a language model, over standard input and output."""

import sys
from typing import Annotated

import typer

from twofold.cli.options import IndexOption
from twofold.cli.runtime import command_part, open_index, settings_for
from twofold.domain.errors import InvalidInputError, MissingExtraError
from twofold.factory.places import shown_name
from twofold.mcp.budget import DEFAULT_BUDGET, MIN_BUDGET


def mcp(
    context: typer.Context,
    *,
    index: IndexOption = None,
    write: Annotated[bool, typer.Option("--write", help="Also offer tools that add and delete documents.")] = False,
    budget: Annotated[
        int, typer.Option("--max-tokens", min=MIN_BUDGET, help="The most tokens that one answer may have.")
    ] = DEFAULT_BUDGET,
    server_url: Annotated[
        str,
        typer.Option(
            "--server-url", metavar="URL", help="Link passages to the page of `twofold serve` at this address."
        ),
    ] = "",
) -> None:
    """Serve an index to a language model (Model Context Protocol), over standard input and output.

    `twofold serve` offers the same at /mcp over HTTP.
    """
    if server_url and not server_url.startswith(("http://", "https://")):
        raise InvalidInputError(f"{server_url} is no address.", "Write one such as http://127.0.0.1:8722.")
    if sys.stdin.isatty():
        raise InvalidInputError(
            "`twofold mcp` is started by a client, which speaks to it over standard input.",
            "Enter `twofold mcp` as the command of a server in your client's settings; see docs/mcp.md.",
        )
    name = index if index is not None else settings_for(context).settings.index
    try:
        run = command_part("twofold.mcp.stdio", "run")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"`twofold mcp` needs {error.name}, which is not installed.", "pip install 'twofold[mcp]'"
        ) from error
    run(lambda: open_index(context, index), shown_name(name), server_url.rstrip("/"), budget, write=write)
