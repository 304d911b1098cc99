"""`twofold migrate`: copy an index to another store."""

from typing import Annotated

import typer

from twofold.cli.options import JsonOption
from twofold.cli.render.progress import progress_on
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import one_line, screen_on
from twofold.cli.runtime import settings_for
from twofold.domain.errors import InvalidInputError
from twofold.factory.places import shown_name
from twofold.factory.search import open_store
from twofold.indexing.migrate import migrate as copy
from twofold.indexing.types import Phase, SyncProgress
from twofold.text.quantities import counted

_PLACE = "A name under TWOFOLD_HOME, a path, postgresql://HOST/DATABASE?index=NAME or s3://BUCKET/NAME."


def migrate(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help=_PLACE)],
    target: Annotated[str, typer.Argument(metavar="TO", help="The index to copy to; created if it does not exist.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy an index to another place, and compare the two.

    Nothing is embedded again. What was interrupted goes on where it stopped when it is run again.
    """
    settings = settings_for(context).settings
    if source == target:
        raise InvalidInputError("An index cannot be copied onto itself.", "Name another place for the copy.")
    held = open_store(source, settings, create=False)
    try:
        made = open_store(target, settings, create=True)
        try:
            with progress_on() as draw:
                report = copy(held, made, lambda done, total: draw(SyncProgress(Phase.WRITE, done, total)))
        finally:
            made.close()
    finally:
        held.close()
    if as_json:
        write_json(report)
        return
    told = f"{counted(report.copied, 'document')} copied, {report.unchanged:,} there already"
    screen_on().line(one_line(f"{told}, {counted(report.chunks, 'passage')} in {shown_name(target)}."))
    screen_on().line(f"Both have the digest {report.digest}.")
