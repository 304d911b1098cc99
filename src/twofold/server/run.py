"""Running the server: the address it binds, who may come in, and an end within ten seconds."""

import asyncio
import logging
import signal
import socket
import ssl
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.factory.places import index_names
from twofold.index import Index
from twofold.plugins import OpenPlugins
from twofold.server.app import Plan, Server, create_server, roots_of
from twofold.server.auth import TokenStore
from twofold.server.limits import DEFAULT_LIMITS, ServerLimits
from twofold.server.middleware import AccessPolicy
from twofold.server.tracing import Traces

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, and by what further names and from what other pages it may be asked."""

    host: str = "127.0.0.1"
    port: int = 8722
    names: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files for TLS: the certificate, followed by those that lead to its authority, and its key."""

    certificate: Path
    key: Path


def serve(  # noqa: PLR0913  # what a command says
    settings: Settings,
    opener: Callable[[str], Index],
    where: tuple[str, int],
    *,
    names: tuple[str, ...] = (),
    origins: tuple[str, ...] = (),
    roots: tuple[Path, ...] = (),
    database: str | None = None,
    models: tuple[str, ...] = (),
    tls: Certificate | None = None,
    limits: ServerLimits = DEFAULT_LIMITS,
    otel: bool = False,
    announce: Callable[[str], None],
) -> None:
    """Serve at a host and a port until stopped; `announce` hears of the address once it is bound.

    With `otel` each request is traced, and the traces are sent where OpenTelemetry's own settings say.

    Raises as `plan_for` and `bound` do; StorageFullError, CorruptError or StoreError for records it cannot open.
    """
    address = Address(*where, names, origins)
    plan = plan_for(settings, opener, address, roots, limits)
    plan = replace(plan, database=database, models=models, traces=Traces() if otel else None)
    index_names(database, settings)  # a database that does not answer is better known now
    if tls is not None:
        check_certificate(tls)
    with bound(address) as listening:
        server = create_server(plan)
        server.start()
        scheme = "http" if tls is None else "https"
        announce(f"{scheme}://{_bracketed(address.host)}:{listening.getsockname()[1]}")
        run(server, plan.limits, listening, tls)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def is_local(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def plan_for(
    settings: Settings,
    opener: Callable[[str], Index],
    address: Address,
    roots: tuple[Path, ...] = (),
    limits: ServerLimits = DEFAULT_LIMITS,
) -> Plan:
    """Return what a server is to be.

    Raises InvalidInputError for an address that others can reach while no token was made, or a root that is no folder.
    """
    tokens = TokenStore(settings.home)
    if not is_local(address.host) and not any(not one.revoked for one in tokens.records()):
        raise InvalidInputError(
            f"{address.host} can be reached by others, and no token was made.",
            "`twofold token create --name NAME --scope read` makes one; or leave the address at 127.0.0.1.",
        )
    for root in roots:
        if not root.expanduser().is_dir():
            raise InvalidInputError(f"{root} is no folder.", "--root names a folder that may be synced.")
    names = {_bracketed(address.host), *(LOCAL_NAMES if is_local(address.host) else ()), *address.names}
    policy = AccessPolicy(
        frozenset(name.lower() for name in names), frozenset(address.origins), token_needed=not is_local(address.host)
    )
    named = settings.acl.resolver
    return Plan(settings, opener, policy, limits, roots_of(roots), OpenPlugins().resolver(named) if named else None)


def bound(address: Address) -> socket.socket:
    """Bind the address; port 0 for any free port. Raises InvalidInputError if another program uses it."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidInputError(
            f"{address.host} port {address.port} is not available: {error.strerror}.", "Choose another with --port."
        ) from error
    # Connections inherit it. asyncio sets it for sockets of its own making only, and without it answers wait 40 ms.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setblocking(False)
    return made


def check_certificate(tls: Certificate) -> None:
    """Raise InvalidInputError for a certificate and a key that cannot be read, or are not each other's."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.key, password="")
    except ssl.SSLError as error:
        raise InvalidInputError(
            f"{tls.certificate} and {tls.key} are no certificate and key for TLS: {error.reason or 'unreadable'}.",
            "Both are PEM files; the key has no password and is the certificate's own.",
        ) from error
    except OSError as error:
        raise InvalidInputError(
            f"The certificate or its key cannot be read: {error.strerror}.",
            "Check the paths of --tls-cert and --tls-key, and that this user may read them.",
        ) from error


def run(server: Server, limits: ServerLimits, listening: socket.socket, tls: Certificate | None = None) -> None:
    """Serve until SIGTERM or SIGINT; then finish or refuse what is left within ten seconds."""
    GracefulServer(configured(server, limits, tls)).run([listening])


def configured(server: Server, limits: ServerLimits, tls: Certificate | None = None) -> "ServerConfig":
    """Return the configuration of uvicorn."""
    return ServerConfig(server, limits, tls)


class ServerConfig(uvicorn.Config):
    """uvicorn's settings for one server: no log of its own, no header that names it, and patience that ends."""

    def __init__(self, server: Server, limits: ServerLimits, tls: Certificate | None = None) -> None:
        super().__init__(
            server.app,
            http=_protocol(limits),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limits.connections,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=max(1, round(limits.shutdown_seconds) - 4),
        )
        self.state = server.state
        logging.getLogger("uvicorn.error").addFilter(_without_traceback)


class GracefulServer(uvicorn.Server):
    """Lets streams end by themselves as soon as it is stopped."""

    config: ServerConfig

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in good order, and with status 0 on SIGTERM, which stops a service."""
        super().handle_exit(sig, frame)
        if sig == signal.SIGTERM:
            self._captured_signals.remove(sig)  # uvicorn would raise it again, against the process, at its end

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Announce the end, then wait for open requests."""
        self.config.state.closing = True
        await super().shutdown(sockets)


def _without_traceback(record: logging.LogRecord) -> bool:
    """Take from a log line what may quote a document or a question."""
    record.exc_info = None
    record.exc_text = None
    return True


def _protocol(limits: ServerLimits) -> type[H11Protocol]:
    return type(
        "Impatient", (_TimeLimitedProtocol,), {"seconds": limits.header_seconds, "write_seconds": limits.write_seconds}
    )


class _TimeLimitedProtocol(H11Protocol):
    """HTTP/1.1 that hangs up on who does not send a request's whole head, or read what is sent, within a time.

    What was sent and not read is at most some tens of kilobytes here, in addition to what the system holds; then the
    writer waits, and `write_seconds` begin.
    """

    seconds = DEFAULT_LIMITS.header_seconds
    write_seconds = DEFAULT_LIMITS.write_seconds
    _waited: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._waited = self.loop.call_later(self.seconds, self._hang_up)

    def data_received(self, data: bytes) -> None:
        """Wait no more once a head is whole, and again when the next one begins."""
        super().data_received(data)
        if not self._between_requests():
            self._wait_no_more()
        elif self._waited is None:
            self._waited = self.loop.call_later(self.seconds, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._wait_no_more()
        self._watch_no_more()

    def pause_writing(self) -> None:
        """Wait for the reader."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Wait no more: the reader has taken what there was."""
        super().resume_writing()
        self._watch_no_more()

    def on_response_complete(self) -> None:
        """Wait for the reader to take the end of an answer, for closing waits for that too."""
        super().on_response_complete()
        if self._unread is None and self.transport.get_write_buffer_size():
            self._watch()

    def _watch(self) -> None:
        self._watch_no_more()
        self._unread = self.loop.call_later(self.write_seconds, self._give_up)

    def _watch_no_more(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up(self) -> None:
        self._unread = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _between_requests(self) -> bool:
        cycle: object = self.cycle
        return cycle is None or self.cycle.response_complete

    def _wait_no_more(self) -> None:
        if self._waited is not None:
            self._waited.cancel()
            self._waited = None

    def _hang_up(self) -> None:
        self._waited = None
        if self._between_requests():
            self.transport.close()
