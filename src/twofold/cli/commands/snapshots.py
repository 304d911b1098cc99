"""`index snapshot`, `snapshots`, `diff`, `branch`, `export`, `import`: an index as it was, and copies of it."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.options import AsOfOption, IndexOption, JsonOption
from twofold.cli.render.results import place_in, write_json
from twofold.cli.render.terminal import Screen, columns, from_here, one_line, screen_on, width_of
from twofold.cli.runtime import open_index, settings_for
from twofold.domain.errors import InvalidInputError
from twofold.domain.snapshots import SnapshotInfo
from twofold.evaluation.changes import ChangeKind, IndexDiff
from twofold.evaluation.queries import read_query_list
from twofold.factory.copies import import_index
from twofold.factory.places import shown_name
from twofold.factory.search import query_log_of
from twofold.text.quantities import counted, sized

SHOWN = 20
SIGNS = {"added": "+", "removed": "-", "changed": "~", "fields": "="}
StateArgument = Annotated[str, typer.Argument(help="A snapshot, a date in UTC, or `now`.")]


def snapshot(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Up to 64 letters, digits, `.`, `_` and `-`.")],
    *,
    delete: Annotated[bool, typer.Option("--delete", help="Delete this snapshot instead.")] = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Name the present state of an index. Nothing is copied; what is deleted later is retained for it."""
    with open_index(context, index) as opened:
        if delete:
            opened.delete_snapshot(name)
            found = None
        else:
            found = opened.snapshot(name)
    if as_json:
        write_json({"deleted": name} if found is None else found)
    elif found is None:
        screen_on().line(f"Deleted the snapshot {name}; `twofold index compact` gives its space back to the disk.")
    else:
        held = f"{counted(found.documents, 'document')}, {counted(found.chunks, 'passage')}"
        screen_on().line(f"Snapshot {name} of {held}. `twofold search --as-of {name}` searches it.")


def snapshots(context: typer.Context, *, index: IndexOption = None, as_json: JsonOption = False) -> None:
    """List the snapshots of an index, with the space that deleting each would free."""
    with open_index(context, index) as opened:
        found = opened.snapshots()
    if as_json:
        write_json(found)
        return
    screen = screen_on()
    for line in columns([_row(one) for one in found], right=frozenset({2, 3})):
        screen.line(line)
    if not found:
        screen.line("No snapshot. `twofold index snapshot NAME` makes one.")


def _row(one: SnapshotInfo) -> tuple[str, ...]:
    shared = f", {sized(one.shared_bytes)} more with others" if one.shared_bytes else ""
    counts = (counted(one.documents, "document"), counted(one.chunks, "passage"))
    return (one.name, one.created, *counts, f"retains {sized(one.retained_bytes)}{shared}")


def diff(
    context: typer.Context,
    before: StateArgument,
    after: StateArgument = "now",
    *,
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries", metavar="FILE", help="Questions to ask of both: one a line, or JSON lines.", show_default=False
        ),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Ask the questions of the query log of both.")] = False,
    k: Annotated[int, typer.Option("-k", help="How many passages of each ranking to compare.")] = 10,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which documents, and which rankings of saved questions, changed between two states of an index."""
    asked = list(read_query_list(queries)) if queries is not None else []
    with open_index(context, index) as opened:
        if log:
            kept = query_log_of(str(opened.folder), opened.settings)
            asked += [] if kept is None else [one.question for one in kept.entries()]
        found = opened.diff(before, after, list(dict.fromkeys(asked)), k)
    if as_json:
        write_json(found)
        return
    screen = screen_on()
    _draw(screen, found)
    if not asked and (log or queries is not None):
        screen.line("Rankings: there is no question to compare; `twofold log` shows which are kept.")


def _draw(screen: Screen, found: IndexDiff) -> None:
    for change in found.documents[:SHOWN]:
        screen.line(f"{SIGNS[change.kind]} {from_here(change.source)}")
    if len(found.documents) > SHOWN:
        screen.line(f"  and {len(found.documents) - SHOWN:,} more; --json lists all")
    kinds = Counter(change.kind for change in found.documents)
    said: tuple[ChangeKind, ...] = ("added", "removed", "changed")
    fields = f", {kinds['fields']:,} with other fields alone" if kinds["fields"] else ""
    screen.line(f"Documents: {', '.join(f'{kinds[kind]:,} {kind}' for kind in said)}{fields}.")
    for ranking in found.rankings[:SHOWN]:
        screen.line(f"{one_line(ranking.query)}: {ranking.kept:.0%} of the passages stayed")
        moves = [("+", one) for one in ranking.entered] + [("-", one) for one in ranking.left]
        for sign, passage in moves:
            front = f"  {sign} {passage.rank:>3}  "
            screen.line(front + place_in(screen, passage.source, passage.heading, screen.width - width_of(front)))
        if not moves:
            screen.line("    the same passages in another order")
    if len(found.rankings) > SHOWN:
        screen.line(f"  and {len(found.rankings) - SHOWN:,} more; --json lists all")
    if found.queries:
        screen.line(f"Rankings: {len(found.rankings):,} of {counted(found.queries, 'question')} changed.")


def branch(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A snapshot, a date in UTC, or `now`.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new index, named as by --index.")],
    *,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new index of a snapshot, to be changed apart from the old one."""
    with open_index(context, index) as opened:
        if name == "now":
            opened.branch(new)
        else:
            with opened.at(name) as past:
                past.branch(new)
    _made(context, new, as_json=as_json)


def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; one that is there is left alone.")],
    *,
    as_of: AsOfOption = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a whole index to one file, for any platform. Equal indexes make equal files."""
    with open_index(context, index, as_of=as_of) as opened:
        checksum = opened.export(file)
    if as_json:
        write_json({"file": file, "sha256": checksum, "bytes": file.stat().st_size})
    else:
        screen_on().line(f"{one_line(str(file))}: {sized(file.stat().st_size)}, SHA-256 {checksum}")


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `index export` wrote.")],
    *,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new index of an exported file. What the file says is checked, and is data: nothing in it is run."""
    if index is None:
        raise InvalidInputError("The new index has no name.", "Name it with --index NAME.")
    import_index(file, index, settings_for(context).settings)
    _made(context, index, as_json=as_json)


def _made(context: typer.Context, name: str, *, as_json: bool) -> None:
    with open_index(context, name) as opened:
        found = opened.info()
    if as_json:
        write_json(found)
    else:
        held = f"{counted(found.documents, 'document')}, {counted(found.chunks, 'passage')}"
        screen_on().line(f"Made the index {one_line(shown_name(name))}: {held}, in {one_line(found.folder)}")
