"""`index graph`: write the property graph of an index's passages to a SQLite file."""

from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.options import IndexOption, JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import screen_on
from twofold.cli.runtime import open_index
from twofold.stores.graph import build_graph
from twofold.text.quantities import counted

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The SQLite file; a graph in it is replaced.")]


def graph(
    context: typer.Context, file: FileArgument, *, index: IndexOption = None, as_json: JsonOption = False
) -> None:
    """Write the entities of the passages, and which occur together, as a graph for `graph.file`."""
    with open_index(context, index) as opened:
        size = build_graph((one for info in opened.documents() for one in opened.chunks(info.id)), file)
    if as_json:
        write_json(size._asdict())
    else:
        parts = (counted(size.passages, "passage"), f"{size.entities} entities", f"{size.edges} edges")
        screen_on().line(f"{', '.join(parts)}: {file}")
