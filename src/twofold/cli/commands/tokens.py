"""`token`: who may use the HTTP server, and for what."""

from typing import Annotated

import typer

from twofold.cli.options import JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import settings_for
from twofold.server.auth import TokenRecord, TokenStore, parse_scope


def create(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Option("--name", help="A name for the token, such as `laptop`.")],
    scopes: Annotated[
        list[str],
        typer.Option(
            "--scope",
            metavar="ACTION[:INDEX]",
            help="read, write or admin, of one index or of all: read:notes; repeat for more.",
        ),
    ],
    principals: Annotated[
        list[str] | None,
        typer.Option(
            "--principal",
            metavar="PRINCIPAL",
            help="Who it reads as: user:ann, group:legal, public; repeat for more. Default: it reads all.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a token. It is shown once; only its hash is stored. From now on the server requires a token."""
    book = TokenStore(settings_for(context).settings.home)
    record, token = book.create(name, [parse_scope(one) for one in scopes], principals)
    if as_json:
        read = list(record.principals) if record.principals is not None else None
        said = {"id": record.id, "name": record.name, "scopes": _scopes(record), "principals": read, "token": token}
        write_json(said)
        return
    screen = screen_on()
    screen.line(token)
    screen.line(
        screen.paint(
            f"Token {record.id} for {one_line(name)}: {_scopes(record)}; {_reads(record)}. Keep it safe.", "dim"
        )
    )


def list_tokens(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """List all tokens, including revoked ones; secrets are not stored."""
    records = TokenStore(settings_for(context).settings.home).records()
    if as_json:
        write_json([_described(record) for record in records])
        return
    screen = screen_on()
    for line in columns([(one.id, one_line(one.name), _scopes(one), _reads(one), _state(one)) for one in records]):
        screen.line(line)
    if not records:
        screen.line("No token was made. `twofold token create --name NAME --scope read` makes one.")


def revoke(
    context: typer.Context,
    identity: Annotated[str, typer.Argument(metavar="ID", help="The id that `token list` shows.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Revoke a token, from the next request on."""
    ended = TokenStore(settings_for(context).settings.home).revoke(identity)
    if as_json:
        write_json(_described(ended))
    else:
        screen_on().line(f"Token {ended.id} for {one_line(ended.name)} is revoked.")


def _described(record: TokenRecord) -> dict[str, str]:
    return {
        "id": record.id,
        "name": record.name,
        "scopes": _scopes(record),
        "principals": " ".join(record.principals or ("*",)),
        "created": record.created,
        "revoked": record.revoked,
    }


def _scopes(record: TokenRecord) -> str:
    return " ".join(map(str, record.scopes))


def _reads(record: TokenRecord) -> str:
    """Return which documents a token reads."""
    return "every document" if record.principals is None else " ".join(record.principals)


def _state(record: TokenRecord) -> str:
    return f"revoked {record.revoked}" if record.revoked else f"made {record.created}"
