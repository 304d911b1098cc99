"""Requests over HTTP with a deadline and no surprises; knows no model and no endpoint's meaning.

Python's HTTP modules are imported when something is sent, since a search that sends nothing starts 30 ms sooner.

Only http and https, and one try: who may ask again is decided in `twofold.domain.retry`. A server's 429 and 5xx, and a
connection that fails, raise ModelUnavailableError, with what `Retry-After` says; the rest raises ModelError.
Credentials never cross to another host: a caller that sends any says `redirects=False`. A caller that may have to hang
up is handed each connection it gets. What sends something to another machine is written to the log `twofold.sending`,
at the level INFO.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, ModelError, ModelUnavailableError

if TYPE_CHECKING:
    import socket
    from urllib.error import HTTPError
    from urllib.request import OpenerDirector

TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500
PIECE = 1 << 16
MAX_NUMBER_LENGTH = 9  # digits
SENDING = "twofold.sending"


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask. Headers are kept out of any message, since they may hold a key."""

    url: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    redirects: bool = True


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How many seconds a server may be silent, and how many connecting to it may take."""

    silence: float = 30.0
    connect: float = 10.0


def host_of(url: str) -> str:
    """Return `scheme://host:port` of an address, without any user name or password. Raises InvalidInputError."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError as error:
        raise InvalidInputError("This is not a web address.", "Write http://host:port/path or https://…") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInputError("This is not a web address.", "Write http://host:port/path or https://…")
    return f"{parts.scheme}://{parts.hostname}{port}"


def _let_be(_: "socket.socket") -> None:
    """Do nothing with a connection."""


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine: `localhost`, 127.0.0.0/8, ::1. Names are not resolved."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def opened(
    request: Request, timeouts: Timeouts = Timeouts(), connected: Callable[["socket.socket"], None] = _let_be
) -> Iterator[IO[bytes]]:
    """Open the answer's body for reading, telling `connected` of each connection before anything is sent over it.

    Raises ModelError when no answer arrives.
    """
    import http.client
    import urllib.error

    host = host_of(request.url)
    if request.body is not None and not is_loopback(request.url):
        logging.getLogger(SENDING).info("text is sent to %s", host)
    try:
        answer = _send(request, timeouts, connected)
    except urllib.error.HTTPError as error:
        raise _refused(host, error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(host, error) from error
    with answer:
        yield answer


def post_json(url: str, body: bytes, credentials: Mapping[str, str], timeouts: Timeouts, limit: int) -> bytes:
    """Post JSON, with headers that carry a key, and give the answer of at most `limit` bytes. Raises ModelError."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "twofold"}
    with opened(Request(url, body, {**headers, **credentials}, redirects=False), timeouts) as answer:
        return read_at_most(answer, limit, host_of(url), timeouts.silence)


def sendable(text: str) -> str:
    """Replace lone surrogates, and what is empty, which servers refuse: one refused text would fail a whole batch."""
    return text.encode("utf-8", "replace").decode() if text.strip() else " ."


def read_at_most(body: IO[bytes], limit: int, host: str, seconds: float) -> bytes:
    """Read a whole answer of at most `limit` bytes within `seconds`. Raises ModelError where that cannot be."""
    import http.client

    deadline = time.monotonic() + seconds
    content = bytearray()
    try:
        while piece := body.read1(PIECE):  # type: ignore[attr-defined]
            content += piece
            if len(content) > limit:
                raise ModelError(f"{host} answered more than {limit:,} bytes.", "Check what runs at that address.")
            if time.monotonic() > deadline:
                raise ModelUnavailableError(
                    f"{host} took more than {seconds:g} s to answer.", "Look at the server's own log."
                )
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(host, error) from error
    return bytes(content)


def _send(request: Request, timeouts: Timeouts, connected: Callable[["socket.socket"], None]) -> IO[bytes]:
    import urllib.request

    asked = urllib.request.Request(request.url, data=request.body, headers=dict(request.headers))  # noqa: S310 - host_of checked it
    opener = _opener(timeouts, connected, redirects=request.redirects)
    answer: IO[bytes] = opener.open(asked, timeout=min(timeouts.connect, timeouts.silence))
    return answer


def _opener(timeouts: Timeouts, connected: Callable[["socket.socket"], None], *, redirects: bool) -> "OpenerDirector":
    """Make what sends: its time-out is for connecting, and the server's silences are timed once that is done."""
    import http.client
    import urllib.request

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(timeouts.silence)
            connected(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(timeouts.silence)
            connected(self.sock)

    class Sending(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
        def http_open(self, asked: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, asked)

        def https_open(self, asked: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, asked)

    class NoRedirects(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object, **__: object) -> None:
            """Follow nothing: the redirection itself becomes the error."""

    return urllib.request.build_opener(Sending, *(() if redirects else (NoRedirects,)))


def _passes(code: int) -> bool:
    """Return whether a refusal may pass by itself."""
    return code == TOO_MANY_REQUESTS or code >= SERVER_ERROR


def _refused(host: str, error: "HTTPError") -> ModelError:
    remedies = {
        400: "Check the model's name, and whether the text is too long for it.",
        401: "Set the key in TWOFOLD_API_KEY; if TWOFOLD_API_KEY_HOST is set, it must name this host.",
        403: "Check that the key in TWOFOLD_API_KEY may do this.",
        404: "Check the address and the model's name.",
        429: "Wait a while, or send less at once.",
    }
    message, hint = f"{host} answered {error.code}.", remedies.get(error.code, "Look at the server's own log.")
    with error:
        if not _passes(error.code):
            return ModelError(message, hint)
        return ModelUnavailableError(message, hint, _seconds(error.headers.get("Retry-After", "")))


def _seconds(retry_after: str) -> float | None:
    """Read how many seconds a server asks to wait; None for a date, and for what is neither."""
    asked = retry_after.strip()
    return float(asked) if asked.isascii() and asked.isdecimal() and len(asked) <= MAX_NUMBER_LENGTH else None


def _unreachable(host: str, error: Exception) -> ModelUnavailableError:
    reason = getattr(error, "reason", None) or error
    return ModelUnavailableError(
        f"{host} cannot be reached: {reason}.", "Check that the server runs and the network is up."
    )
