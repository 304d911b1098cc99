"""`serve`: the HTTP server, until it is stopped."""

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from twofold.cli.render.progress import model_progress
from twofold.cli.render.terminal import one_line, screen_on
from twofold.cli.runtime import runtime_of, settings_for, tell
from twofold.config.load import Settings
from twofold.domain.errors import InvalidInputError, MissingExtraError
from twofold.factory.places import shown_name
from twofold.factory.ray_searchers import Spread, ray_searchers
from twofold.factory.search import MADE_BY
from twofold.index import Index
from twofold.server.logs import logs_written
from twofold.stores.database_address import address_of, is_address

DEFAULT_PORT = 8722


def _option(name: str, metavar: str, says: str) -> object:
    return typer.Option(name, metavar=metavar, help=says, show_default=False)


Roots = Annotated[
    list[str] | None,
    _option(
        "--root", "FOLDER|URL", "Let clients sync what is in this folder; serve the indexes of this database or bucket."
    ),
]
Hosts = Annotated[
    list[str] | None, _option("--allow-host", "NAME", "Go by this name too, behind a proxy; repeat for more.")
]
Origins = Annotated[
    list[str] | None,
    _option("--allow-origin", "ORIGIN", "Let pages of https://that.site ask this server; repeat for more."),
]


Models = Annotated[
    list[str] | None,
    _option("--model", "NAME", "Let people choose this language model for an answer; repeat for more."),
]
CertificateFile = Annotated[Path | None, _option("--tls-cert", "FILE", "Serve HTTPS with this certificate, in PEM.")]
KeyFile = Annotated[Path | None, _option("--tls-key", "FILE", "The certificate's key, in PEM.")]
PerMinute = Annotated[
    int, typer.Option("--requests-per-minute", min=0, max=1_000_000, help="The most of each token; 0 for no limit.")
]


Traced = Annotated[bool, typer.Option("--otel", help="Send OpenTelemetry traces to OTEL_EXPORTER_OTLP_ENDPOINT.")]


_ON = "Search by actors of a Ray cluster that each hold a part of the segments: ray:local, ray://HOST:PORT."


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


Format = Annotated[
    LogFormat, typer.Option("--log-format", help="How log lines look: for people, or one JSON object a line.")
]


def serve(
    context: typer.Context,
    *,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; others than this machine's need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65_535, help="0 for any free port.")] = DEFAULT_PORT,
    roots: Roots = None,
    hosts: Hosts = None,
    origins: Origins = None,
    models: Models = None,
    tls_cert: CertificateFile = None,
    tls_key: KeyFile = None,
    requests_per_minute: PerMinute = 0,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log each request: method, route, status, time.")] = False,
    log_format: Format = LogFormat.TEXT,
    otel: Traced = False,
    on: Annotated[str, typer.Option("--on", metavar="RAY", help=_ON)] = "",
) -> None:
    """Serve the indexes under TWOFOLD_HOME, or of a database, over HTTP, by default to this machine only."""
    settings = settings_for(context).settings
    if (tls_cert is None) != (tls_key is None):
        raise InvalidInputError("HTTPS needs a certificate and its key.", "Give --tls-cert and --tls-key together.")
    folders, database = _split(roots or ())
    server = _server()
    lent = ray_searchers(on, settings) if on else nullcontext()
    with logs_written(verbose=verbose, as_json=log_format is LogFormat.JSON), lent as searchers:
        server.serve(
            settings,
            _opener(context, searchers),
            (host, port),
            names=tuple(hosts or ()),
            origins=tuple(origins or ()),
            roots=folders,
            database=database,
            models=tuple(models or ()),
            tls=None if tls_cert is None or tls_key is None else server.Certificate(tls_cert, tls_key),
            limits=server.ServerLimits(requests_per_minute=requests_per_minute),
            otel=otel,
            announce=_announcer(settings, database),
        )


def _announcer(settings: Settings, database: str | None) -> Callable[[str], None]:
    """Return what says where the server is, and what it serves."""
    place = str(settings.home) if database is None else address_of(database).database

    def announce(shown: str) -> None:
        screen_on().line(f"Serving {one_line(place)} on {shown}")
        sys.stdout.flush()

    return announce


def _split(roots: Sequence[str]) -> tuple[tuple[Path, ...], str | None]:
    """Return the folders among the roots, and the address of a database. Raises InvalidInputError for two of these."""
    databases = [root for root in roots if is_address(root)]
    if len(databases) > 1:
        raise InvalidInputError("A server serves one database.", "Name one address with --root.")
    return tuple(Path(root) for root in roots if not is_address(root)), databases[0] if databases else None


def _opener(context: typer.Context, searchers: Spread | None) -> Callable[[str], Index]:
    launch = runtime_of(context)

    def opened(name: str) -> Index:
        on_model = model_progress(yes=launch.yes, asks=False)  # nobody watches who could be asked
        store = None if searchers is None else searchers.store(name)
        made = Index(
            name, config=launch.config, overrides=launch.overrides, create=False, on_model=on_model, store=store
        )
        tell(context, (f"index {shown_name(name)}: {one.line}" for one in made.ignored if one.origin == MADE_BY))
        return made

    return opened


def _server() -> ModuleType:
    """Load the server, which is an extra."""
    try:
        found = import_module("twofold.server.run")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"`twofold serve` needs {error.name}, which is not installed.", "pip install 'twofold[server]'"
        ) from error
    return found
