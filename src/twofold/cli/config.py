"""`config show`: what is set, and who set it."""

from typing import Annotated

import typer

from twofold.cli.data import write_json
from twofold.cli.launch import settings_for
from twofold.cli.options import JsonOption
from twofold.cli.screen import columns, one_line, screen_on
from twofold.settings import Row


def show(
    context: typer.Context,
    *,
    resolved: Annotated[bool, typer.Option("--resolved", help="Every setting, not only those that were set.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the settings and where each came from: a default, a file, the environment or the command line."""
    rows = [row for row in settings_for(context).rows if resolved or row.origin != "default"]
    if as_json:
        write_json(rows)
        return
    screen = screen_on()
    if not rows:
        screen.line("Nothing is set; every setting has its default. `twofold config show --resolved` lists them.")
    cells = [(row.key, screen.paint(_written(row), "bold"), screen.paint(one_line(row.origin), "dim")) for row in rows]
    for line in columns(cells):
        screen.line(line)


def _written(row: Row) -> str:
    return str(row.value).lower() if isinstance(row.value, bool) else one_line(str(row.value))
