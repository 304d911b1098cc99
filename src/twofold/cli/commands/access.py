"""`access`: who may read documents."""

from typing import Annotated

import typer

from twofold.cli.options import IndexOption, JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, from_here, one_line, screen_on
from twofold.cli.runtime import open_collection, open_index
from twofold.domain.access import NOBODY, Readers, default_readers
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import DocumentInfo

DEFAULT = "default"


def show(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[DOC]", help="An id, a source, or the end of one; all if left out.")
    ] = None,
    *,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who may read a document, or all documents."""
    with open_collection(context, index) as opened:
        default = default_readers(opened.settings.acl.default)
        wanted = None if name is None else opened.document(name).id
        found = [one for one in opened.documents() if wanted in (None, one.id)]
    if as_json:
        write_json([{"id": one.id, "source": one.source, "readers": one.readers} for one in found])
        return
    screen = screen_on()
    for line in columns([(one.id, from_here(one.source), _readers_text(one, default)) for one in found]):
        screen.line(line)


def set_readers(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="DOC", help="An id, a source, or the end of one.")],
    principals: Annotated[
        list[str],
        typer.Argument(metavar="PRINCIPAL...", help="user:ann, group:legal, public; or `nobody`, or `default`."),
    ],
    *,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set who may read a document, from the next search on; a .twofoldaccess file sets it again at the next sync."""
    with open_index(context, index) as opened:
        changed = opened.set_readers(name, _readers(principals))
        default = default_readers(opened.settings.acl.default)
    if as_json:
        write_json({"id": changed.id, "source": changed.source, "readers": changed.readers})
    else:
        screen_on().line(f"{changed.id}  {one_line(changed.source)}: {_readers_text(changed, default)}")


def set_default(
    context: typer.Context,
    principals: Annotated[list[str], typer.Argument(metavar="PRINCIPAL...", help="user:ann, public; or `nobody`.")],
    *,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set who may read documents of this index that name no readers: it keeps that for itself."""
    readers = _readers(principals)
    if readers is None:
        raise InvalidInputError("The default cannot be the default.", "Name principals, or `nobody`.")
    text = ", ".join(readers) or NOBODY
    with open_index(context, index) as opened:
        opened.set_settings({**opened.get_settings(), "acl": {"default": text}})
    if as_json:
        write_json({"default": readers})
    else:
        screen_on().line(f"Documents that name no readers: {text}")


def _readers(said: list[str]) -> list[str] | None:
    if len(said) > 1 and {NOBODY, DEFAULT} & {*said}:
        raise InvalidInputError("`nobody` and `default` stand alone.", "Name principals, or one of the two.")
    if said == [DEFAULT]:
        return None
    return [] if said == [NOBODY] else said


def _readers_text(info: DocumentInfo, default: Readers) -> str:
    readers = default if info.readers is None else info.readers
    named = " ".join(readers) or NOBODY
    return f"{named} (default)" if info.readers is None else named
