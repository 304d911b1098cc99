"""`add`, `rm`, `ls`, `show`: single documents."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.options import AsOfOption, EmbedderOption, IndexOption, JsonOption, MetaOption, fields_from
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, from_here, one_line, printable, screen_on
from twofold.cli.runtime import command_part, open_collection, open_index
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.types import Chunk, Document, MetadataValue
from twofold.text.quantities import counted

NameArgument = Annotated[
    str, typer.Argument(metavar="DOC", help="An id, a source, or the end of a source that no other shares.")
]


def add(
    context: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files to add; - reads text from standard input.")
    ],
    *,
    source: Annotated[str, typer.Option("--source", help="The name to keep standard input under.")] = "",
    title: Annotated[str, typer.Option("--title", help="The title of the document.")] = "",
    metadata: MetaOption = None,
    readers: Annotated[
        list[str] | None,
        typer.Option(
            "--reader",
            metavar="PRINCIPAL",
            help="Who may read them: user:ann, group:legal, public; repeat for more.",
            show_default=False,
        ),
    ] = None,
    index: IndexOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add single documents, or replace those of the same source.

    They stay until `rm`: `sync` looks after the files under its own folders alone.
    """
    if paths != ["-"] and (source or title):
        raise InvalidInputError("--source and --title name what comes from standard input.", "A file has its own.")
    fields = fields_from(metadata or [])
    piped = _piped_text() if "-" in paths else ""
    screen = screen_on()
    with command_part("twofold.cli.opened_to_fill", "open_to_fill")(context, index, embedder) as opened:
        for path in paths:
            if path == "-":
                added = opened.add(piped, source=source, title=title, metadata=fields, readers=readers)
            else:
                added = opened.add_file(_existing(path), metadata=fields, readers=readers)
            if as_json:
                write_json(added)
            else:
                screen.line(f"{added.id}  {one_line(added.source)} ({counted(added.chunks, 'passage')})")


def _piped_text() -> str:
    """Return what stands in standard input. Raises InvalidInputError for nothing but white space."""
    text = sys.stdin.read()
    if not text.strip():
        hint = "Pipe in what is to be found: `echo TEXT | twofold add -`."
        raise InvalidInputError("Standard input holds no text.", hint)
    return text


def rm(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="DOC...", help="Ids, sources, or ends of sources.")],
    *,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove documents from the index. The files stay."""
    with open_index(context, index) as opened:
        removed = opened.delete(*names)
    if as_json:
        write_json({"removed": removed})
    else:
        screen_on().line(f"{counted(removed, 'document')} removed.")


def ls(
    context: typer.Context, *, as_of: AsOfOption = None, index: IndexOption = None, as_json: JsonOption = False
) -> None:
    """List the documents of an index."""
    with open_collection(context, index, as_of=as_of) as opened:
        documents = opened.documents()
    if as_json:
        write_json(documents)
        return
    rows = [(one.id, f"{one.chunks:,}", from_here(one.source), one_line(one.title)) for one in documents]
    screen = screen_on()
    for line in columns(rows, right=frozenset({1})):
        screen.line(line)


def show(
    context: typer.Context,
    name: NameArgument,
    *,
    chunks: Annotated[bool, typer.Option("--chunks", help="Show its passages instead of its text.")] = False,
    dropped: Annotated[
        bool, typer.Option("--dropped", help="Show what of the file was not indexed: menus, running headers, numbers.")
    ] = False,
    as_of: AsOfOption = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the text and fields of a document, or its passages."""
    with open_collection(context, index, as_of=as_of) as opened:
        document = opened.document(name)
        passages = opened.chunks(name) if chunks else ()
    if as_json:
        write_json({"document": document, "chunks": passages} if chunks else document)
    elif dropped:
        _draw_dropped(document)
    elif chunks:
        _draw_passages(document, passages)
    else:
        _draw_document(document)


def _draw_document(document: Document) -> None:
    screen = screen_on()
    heads = [("id", document.id), ("source", document.source), ("title", document.title), ("type", document.media_type)]
    heads += [(name, _value_text(value)) for name, value in sorted(document.metadata.items())]
    for line in columns([(screen.paint(one_line(name), "dim"), one_line(value)) for name, value in heads if value]):
        screen.line(line)
    screen.line()
    screen.line(printable(document.text.replace("\r\n", "\n")))


def _draw_dropped(document: Document) -> None:
    screen = screen_on()
    if not document.dropped:
        screen.line("Nothing was dropped: all of its text is indexed.")
    for one in document.dropped:
        where = [one.reason]
        where += [f"page {one.page}" if one.count == 1 else f"from page {one.page}"] if one.page is not None else []
        where += [f"{one.count:,} times"] if one.count > 1 else []
        screen.line(screen.paint(one_line(" · ".join(where)), "cyan"))
        screen.line(printable(one.text))
        screen.line()


def _draw_passages(document: Document, passages: Sequence[Chunk]) -> None:
    screen = screen_on()
    screen.line(screen.paint(one_line(document.source), "bold"))
    for passage in passages:
        where = [passage.id, f"characters {passage.start:,}-{passage.end:,}"]
        where += [f"page {passage.page}"] if passage.page is not None else []
        where += [one_line(passage.place)] if passage.place else []
        where += [one_line(" › ".join(passage.heading))] if passage.heading else []
        screen.line()
        screen.line(screen.paint(" · ".join(where), "cyan"))
        if passage.metadata:
            fields = " · ".join(
                f"{name} {_value_text(value)}" for name, value in passage.metadata.items() if value != ()
            )
            screen.line(screen.paint(one_line(fields), "dim"))
        screen.line(printable(passage.text.replace("\r\n", "\n")))


def _value_text(value: MetadataValue) -> str:
    return ", ".join(str(one) for one in value) if isinstance(value, tuple) else str(value)


def _existing(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        raise InvalidInputError(f"{name} is a folder.", f"Say `twofold sync {name}`.")
    if not path.exists():
        raise NotFoundError(f"There is no file {name}.", "To add text itself, pipe it in: `echo TEXT | twofold add -`.")
    return path
