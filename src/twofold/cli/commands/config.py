"""`config`: what is set, who set it, and the profiles there are."""

from dataclasses import replace
from typing import Annotated

import typer

from twofold.cli.options import JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import open_index, runtime_of, settings_for
from twofold.config.load import Ignored, Resolved, Row, as_text, resolve, value_of
from twofold.config.profiles import PROFILES
from twofold.domain.dataclass import dataclass
from twofold.factory.places import shown_name

OF_THE_INDEX = "the index"
_ALIGNED = 48  # columns; a longer value pushes its origin to the right


@dataclass(frozen=True, slots=True)
class _Shown:
    """What `config show --json` prints."""

    settings: tuple[Row, ...]
    unused: tuple[str, ...]
    ignored: tuple[Ignored, ...]


def show(
    context: typer.Context,
    *,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Show the settings under this profile.", show_default=False),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option("--index", "-i", metavar="NAME", help="Show the settings for this index.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every setting, not only those that were set.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the settings and where each came from: a default, a profile, a file, the environment or the command line.

    With an index, what it keeps for itself and what it was made with count as well.
    """
    found = settings_for(context, profile=profile) if index is None else _in_index(context, index, profile)
    rows = tuple(_without_password(row) for row in found.rows if every or row.origin != "default")
    if as_json:
        write_json(_Shown(rows, found.unused, found.ignored))
        return
    screen = screen_on()
    if not rows:
        screen.line("Nothing is set; every setting has its default. `twofold config show --all` lists them.")
    values = [one_line(as_text(row.value)) for row in rows]
    width = max((len(value) for value in values if len(value) <= _ALIGNED), default=0)
    told = [
        f"{screen.paint(value, 'bold')}{' ' * (width - len(value))}  {screen.paint(one_line(row.origin), 'dim')}"
        for row, value in zip(rows, values, strict=True)
    ]
    for line in columns([(row.key, one) for row, one in zip(rows, told, strict=True)]):
        screen.line(line)
    if found.unused:
        screen.line(f"Without a counterpart here: {one_line(', '.join(found.unused))}.")
    for one in found.ignored:
        screen.line(one_line(one.note))


def _without_password(row: Row) -> Row:
    return replace(row, value=shown_name(row.value)) if row.key == "index" and isinstance(row.value, str) else row


def _in_index(context: typer.Context, name: str, profile: str | None) -> Resolved:
    """Put together the settings that hold in an index; what it was made with came from it."""
    launch = runtime_of(context)
    said = {**launch.overrides, **({} if profile is None else {"profile": profile})}
    with open_index(context, name, profile=profile) as opened:
        kept, held, unheard = opened.get_settings(), opened.settings, tuple(opened.ignored)
    found = resolve(config=launch.config, collection=kept, overrides=said)
    rows = tuple(
        row
        if value_of(held, row.key) == row.value
        else replace(row, value=value_of(held, row.key), origin=OF_THE_INDEX)
        for row in found.rows
    )
    return Resolved(held, rows, found.unused, unheard)


def profiles(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """List the profiles, one a line; `twofold config show --profile NAME` shows what one sets."""
    chosen = settings_for(context).settings.profile
    if as_json:
        write_json(PROFILES)
        return
    screen = screen_on()
    cells = [
        ("*" if one.name == chosen else "", screen.paint(one.name, "bold"), ", ".join(one.aliases), one.description)
        for one in PROFILES
    ]
    for line in columns(cells):
        screen.line(line)
