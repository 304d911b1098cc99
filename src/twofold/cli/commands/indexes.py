"""`index`: whole indexes, from the outside."""

import sys
from typing import Annotated

import typer

from twofold.cli.commands.models import ensure_present
from twofold.cli.options import EmbedderOption, IndexOption, JsonOption
from twofold.cli.render.progress import progress_on
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import open_index, settings_for
from twofold.config.load import Settings
from twofold.domain.errors import CorruptError, InvalidInputError, TwofoldError
from twofold.factory.indexing import indexing_components
from twofold.factory.places import index_names, is_there, shown_name
from twofold.factory.search import MEMORY, open_store
from twofold.index import Index
from twofold.indexing.types import IndexInfo
from twofold.stores.database_address import is_address
from twofold.text.quantities import counted, sized

NameArgument = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The index; the same as --index.", show_default=False)
]


def existing_indexes(settings: Settings) -> list[str]:
    """Name the indexes that live under `TWOFOLD_HOME`."""
    return list(index_names(None, settings))


def list_indexes(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """List the indexes under TWOFOLD_HOME. Those kept elsewhere are known by their paths alone."""
    settings = settings_for(context).settings
    found = {name: _info(name, settings) for name in existing_indexes(settings)}
    if as_json:
        write_json([{"name": name, "info": info} for name, info in found.items()])
        return
    screen = screen_on()
    rows = [_row(name, info) for name, info in found.items()]
    for line in columns(rows, right=frozenset({1, 2, 3})):
        screen.line(line)
    if not rows:
        screen.line(f"No index in {settings.home}. `twofold sync PATH` makes one.")


def create(
    context: typer.Context,
    name: NameArgument = None,
    *,
    index: IndexOption = None,
    embedder: EmbedderOption = None,
    analyzer: Annotated[
        str | None,
        typer.Option(
            "--analyzer",
            metavar="NAME",
            help="A Snowball language, auto, simple, code or cjk; with word n-grams: english+2.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create an empty index."""
    settings = settings_for(context, embedder=embedder, analyzer=analyzer).settings
    where = _one_name(name, index) or settings.index
    if is_there(where, settings):
        shown = shown_name(where)
        raise InvalidInputError(f"There is an index {shown} already.", f"`twofold index drop {shown}` deletes it.")
    fingerprint = indexing_components(
        open_store(MEMORY, settings, create=True), settings, None
    ).fingerprint  # refuses before it makes
    store = open_store(where, settings, create=True)
    try:
        store.ensure_fingerprint(fingerprint)
    finally:
        store.close()
    with Index(where, settings=settings, create=False) as opened:
        made = opened.info()
    if as_json:
        write_json(made)
    else:
        screen_on().line(f"Created in {one_line(made.folder)}")


def info(
    context: typer.Context, name: NameArgument = None, *, index: IndexOption = None, as_json: JsonOption = False
) -> None:
    """Show what an index holds and how it was made."""
    with open_index(context, _one_name(name, index)) as opened:
        found = opened.info()
    if as_json:
        write_json(found)
        return
    screen = screen_on()
    for line in columns([(screen.paint(label, "dim"), one_line(value)) for label, value in _lines(found)]):
        screen.line(line)


def verify(
    context: typer.Context, name: NameArgument = None, *, index: IndexOption = None, as_json: JsonOption = False
) -> None:
    """Verify every checksum, and compare the segments with the catalog; the exit code is 7 if anything is damaged."""
    with open_index(context, _one_name(name, index)) as opened:
        findings = opened.verify()
        pending = 0 if findings else opened.info().pending
    screen = screen_on()
    if as_json:
        write_json(findings)
    for finding in () if as_json else findings:
        repair = "`twofold index compact` repairs it" if finding.repairable else "it cannot be repaired from here"
        screen.line(f"{one_line(finding.where)}: {one_line(finding.what)} ({repair})")
    if findings:
        raise CorruptError(
            f"{counted(len(findings), 'finding')}.",
            "Run `twofold index compact`; what it cannot repair, `twofold sync` reads again.",
        )
    if not as_json:
        screen.line("Every checksum is right, and the segments agree with the catalog.")
        if pending:
            screen.line(f"{counted(pending, 'passage')} without a vector yet; `twofold sync` goes on with them.")


def compact(
    context: typer.Context, name: NameArgument = None, *, index: IndexOption = None, as_json: JsonOption = False
) -> None:
    """Merge segments, rebuild damaged ones, and free disk space. Rankings do not change."""
    with open_index(context, _one_name(name, index)) as opened:
        before = opened.info().bytes_on_disk
        opened.compact()
        after = opened.info().bytes_on_disk
    if as_json:
        write_json({"bytes_before": before, "bytes_after": after})
    else:
        screen_on().line(f"{sized(before)} before, {sized(after)} now.")


def reindex(
    context: typer.Context,
    name: NameArgument = None,
    *,
    index: IndexOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rebuild all passages with the current settings; searches use the old ones until the end."""
    with open_index(context, _one_name(name, index), embedder=embedder) as opened:
        ensure_present(opened.settings)
        with progress_on() as progress:
            opened.reindex(progress=progress)
        found = opened.info()
    if as_json:
        write_json(found)
    else:
        screen_on().line(f"{counted(found.chunks, 'passage')} of {counted(found.documents, 'document')} indexed again.")


def drop(
    context: typer.Context,
    name: NameArgument = None,
    *,
    index: IndexOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete an index permanently. The documents' files stay."""
    with open_index(context, _one_name(name, index)) as opened:
        found = opened.info()
        if not yes:
            _ask(f"Delete the index in {one_line(found.folder)} with {counted(found.documents, 'document')}?")
        opened.drop()
    if as_json:
        write_json({"dropped": found.folder})
    else:
        screen_on().line(f"Deleted {one_line(found.folder)}")


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidInputError(
            "Deleting needs a confirmation, and there is no terminal to ask on.",
            "Use --yes to delete without confirmation.",
        )
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _one_name(name: str | None, index: str | None) -> str | None:
    if name is not None and index is not None and name != index:
        raise InvalidInputError(f"Two indexes are named, {name} and {index}.", "Name one.")
    return name if name is not None else index


def _info(name: str, settings: Settings) -> IndexInfo | None:
    try:
        with Index(name, settings=settings, create=False) as opened:
            return opened.info()
    except TwofoldError:
        return None  # listed all the same; `doctor` says what is wrong with it


def _row(name: str, info: IndexInfo | None) -> tuple[str, ...]:
    if info is None:
        return (name, "cannot be opened; see `twofold doctor`")
    return (name, counted(info.documents, "document"), counted(info.chunks, "passage"), sized(info.bytes_on_disk))


def _waiting(pending: int) -> str:
    """Return how many passages have no vector yet; nothing where all have theirs.

    >>> _waiting(1200), _waiting(0)
    (' (1,200 without vectors until `twofold sync` embeds them)', '')
    """
    return f" ({pending:,} without vectors until `twofold sync` embeds them)" if pending else ""


def _lines(found: IndexInfo) -> list[tuple[str, str]]:
    lines = [
        ("name", found.name),
        ("address" if is_address(found.folder) else "folder", found.folder),
        ("documents", f"{found.documents:,}"),
        ("passages", f"{found.chunks:,}{_waiting(found.pending)}"),
        ("size", sized(found.bytes_on_disk)),
        ("generation", str(found.generation)),
        ("segments", str(found.segments)),
    ]
    if found.fingerprint is not None:
        model = found.fingerprint.embedder
        lines += [
            ("embedder", f"{model.name} {model.revision} ({model.dimensions} dimensions)"),
            ("analyzer", found.fingerprint.analyzer),
            ("chunker", found.fingerprint.chunker),
        ]
    return lines
