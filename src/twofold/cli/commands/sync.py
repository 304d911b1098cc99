"""`sync`: make an index say what some folders say, and tell what changed."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from twofold.cli.opened_to_fill import open_to_fill
from twofold.cli.options import EmbedderOption, IndexOption, JsonOption, MetaOption, fields_from
from twofold.cli.render.failures import grouped
from twofold.cli.render.progress import progress_on
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import Screen, from_here, lasting, one_line, screen_on
from twofold.cli.runtime import open_index
from twofold.connectors.named import place_named
from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.domain.types import Metadata
from twofold.factory.search import MEMORY
from twofold.index import Index
from twofold.indexing.diff import Root
from twofold.indexing.types import SyncPlan, SyncReport, VectorTiming
from twofold.text.quantities import counted

_SHOWN = 10
_PLACES = (
    "What the index follows: files and folders, https://HOST/sitemap.xml, urls:FILE, git+PATH@REVISION#FOLDER, "
    "imaps://USER@HOST/FOLDER, s3://BUCKET/FOLDER, sqlite:FILE#QUERY, postgresql://…#QUERY."
)

_ON = "Read and embed on a Ray cluster: ray:local, ray://HOST:PORT."


def sync(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(help=_PLACES, show_default=False)],
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Keep running, and sync again when files change.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, without indexing anything.")
    ] = False,
    atomic_vectors: Annotated[
        bool,
        typer.Option("--atomic-vectors", help="Store each document together with its vectors, not its text first."),
    ] = False,
    private: Annotated[
        bool, typer.Option("--allow-private-addresses", help="Fetch pages of this machine and its network too.")
    ] = False,
    on: Annotated[str, typer.Option("--on", metavar="RAY", help=_ON)] = "",
    metadata: MetaOption = None,
    index: IndexOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the index match these files and folders: add, update and delete documents.

    What did not change is not read again. Files that were deleted under a folder named here are deleted from the index.
    BM25 finds new documents at once, and their vectors follow. It may be stopped at any moment, and run
    again: it goes on where it stopped. Fields given by --meta stay with their documents in later syncs; files that are
    new then do not have them, and --meta KEY= takes one away. With files that could not be read the
    exit code is 9.
    """
    show: Callable[[SyncPlan | SyncReport], None] = write_json if as_json else _draw
    fields = fields_from(metadata or [])
    if on and (watch or dry_run):
        raise InvalidInputError("--on is for one sync that writes.", "Leave --watch and --dry-run out.")
    places = [place_named(path, private=private) for path in paths]
    if dry_run:
        with _to_plan_with(context, index, embedder) as opened:
            show(opened.sync(*places, dry_run=True, metadata=fields))
        return
    with open_to_fill(context, index, embedder) as opened:
        if watch:
            for report in opened.watch(*_folders(places), metadata=fields):
                show(report)
                sys.stdout.flush()
        else:
            report = _synced(opened, places, fields, "atomic" if atomic_vectors else "follow", on)
            show(report)
            _refuse_silence(report)


def _folders(places: Sequence[Root]) -> list[str]:
    """Return the files and folders. Raises InvalidInputError where there is a place that cannot be watched."""
    folders = [one for one in places if isinstance(one, str)]
    if len(folders) < len(places):
        raise InvalidInputError("--watch follows files and folders alone.", "Run the command again for the others.")
    return folders


def _to_plan_with(context: typer.Context, index: str | None, embedder: str | None) -> Index:
    """Open the index, or an empty one in memory if it does not exist yet: planning leaves nothing behind."""
    try:
        return open_index(context, index, embedder=embedder)
    except NotFoundError:
        return open_index(context, MEMORY, create=True, embedder=embedder)


def _synced(opened: Index, paths: Sequence[Root], fields: Metadata, vectors: VectorTiming, on: str) -> SyncReport:
    with progress_on() as progress:
        return opened.sync(*paths, progress=progress, metadata=fields, vectors=vectors, on=on)


def _refuse_silence(report: SyncReport) -> None:
    if report.failed:
        failed = counted(len(report.failed), "file")
        raise ReadError(
            f"{failed} could not be read; everything else is kept.", "The report above says why, and --json names each."
        )


def _draw(report: SyncPlan | SyncReport) -> None:
    screen = screen_on()
    if report == SyncReport():  # of a watch, when nothing waits any more
        screen.line("All passages have their vectors now.")
        return
    _draw_changes(screen, report)
    summary = [
        f"{len(report.added):,} added",
        f"{len(report.updated):,} updated",
        f"{len(report.renamed):,} renamed",
        f"{len(report.deleted):,} deleted",
        f"{report.unchanged:,} unchanged",
    ]
    if report.readers:
        summary.append(f"{len(report.readers):,} with other readers")
    if report.skipped:
        summary.append(f"{len(report.skipped):,} skipped")
    if isinstance(report, SyncPlan):
        waiting = f" {counted(report.pending, 'passage')} get their vectors." if report.pending else ""
        screen.line("Planned: " + ", ".join(summary) + f". Nothing was written.{waiting}")
        return
    if report.failed:
        summary.append(f"{len(report.failed):,} failed")
    screen.line(", ".join(summary) + f"; {_made(report)} in {lasting(report.seconds)}.")
    if report.pending:
        screen.line(f"BM25 finds {counted(report.pending, 'passage')}; their vectors follow.")
    if report.truncated:
        screen.line(f"{counted(report.truncated, 'passage')} exceeded what the model reads and were embedded in part.")


def _made(report: SyncReport) -> str:
    """Return how many passages were stored, and the vectors where there are more: an earlier run left some."""
    stored = counted(report.passages, "passage")
    return f"{stored} and {counted(report.embedded, 'vector')}" if report.embedded > report.passages else stored


def _draw_changes(screen: Screen, report: SyncPlan | SyncReport) -> None:
    changes = [("+", "green", from_here(source)) for source in report.added]
    changes += [("~", "yellow", from_here(source)) for source in report.updated]
    changes += [(">", "cyan", f"{from_here(one.old)} → {from_here(one.new)}") for one in report.renamed]
    changes += [("-", "red", from_here(source)) for source in report.deleted]
    whole = isinstance(report, SyncPlan)
    for sign, style, what in changes if whole else changes[:_SHOWN]:
        screen.line(f"{screen.paint(sign, style)} {what}")
    if not whole and len(changes) > _SHOWN:
        screen.line(f"  … and {len(changes) - _SHOWN:,} more")
    reasons = Counter(one.reason for one in report.skipped)
    for reason, count in reasons.most_common():
        screen.line(f"{screen.paint('·', 'dim')} {counted(count, 'file')} skipped: {one_line(reason)}")
    for one in () if isinstance(report, SyncPlan) else report.unread:
        said = f"{counted(one.pages, 'page')} without text, as scans are; only the others can be found."
        screen.line(f"{screen.paint('!', 'yellow')} {from_here(one.source)}: {said}")
        screen.line(f"    {one_line(one.hint)}")
    for named, reason, hint in () if isinstance(report, SyncPlan) else grouped(report.failed):
        screen.line(f"{screen.paint('!', 'red')} {named}: {reason}")
        if hint:
            screen.line(f"    {hint}")
