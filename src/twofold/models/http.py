"""Requests over HTTP with a deadline, few retries and no surprises; knows no model and no endpoint's meaning.

Python's HTTP modules are imported when something is sent, since a search that sends nothing starts 30 ms sooner.

Only http and https. A server's 429 and 5xx, and a connection that fails, are tried again after a pause: as long as
`Retry-After` asks, at most `longest_pause`, else doubling from `first_pause`. Credentials never cross to another host:
a caller that sends any says `redirects=False`. A caller that may have to hang up is handed each connection it gets.

What may succeed when it is asked again later raises ModelUnavailableError with the attempts made, the rest ModelError.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from twofold.domain.errors import InvalidInputError, ModelError, ModelUnavailableError

if TYPE_CHECKING:
    import socket
    from urllib.error import HTTPError
    from urllib.request import OpenerDirector

TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500
PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask. Headers are kept out of any message, since they may hold a key."""

    url: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    redirects: bool = True


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, and how often to try. Times are in seconds; `timeout` is how long a server may be silent.

    Each pause is `factor` times the one before (checklist 78): with `attempts=4, first_pause=1.0` they are 1, 2, 4 s.
    """

    timeout: float = 30.0
    attempts: int = 4
    first_pause: float = 0.5
    longest_pause: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    connect_timeout: float = 10.0
    factor: float = 2.0


def host_of(url: str) -> str:
    """Give `scheme://host:port` of an address, without any user name or password. Raises InvalidInputError."""
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


@contextmanager
def opened(
    request: Request, patience: Patience = Patience(), connected: Callable[["socket.socket"], None] = _let_be
) -> Iterator[IO[bytes]]:
    """Open the answer's body for reading, telling `connected` of each connection before anything is sent over it.

    Raises ModelError when there is no answer to be had.
    """
    import http.client
    import urllib.error

    host = host_of(request.url)
    for attempt in range(1, patience.attempts + 1):
        try:
            answer = _send(request, patience, connected)
        except urllib.error.HTTPError as error:
            pause = _pause_after(error, attempt, patience)
            if pause is None:
                raise _refused(host, error, attempt) from error
            error.close()
        except (OSError, http.client.HTTPException) as error:
            if attempt == patience.attempts:
                raise _unreachable(host, error, attempt) from error
            pause = _doubling(attempt, patience)
        else:
            with answer:
                yield answer
            return
        patience.sleep(pause)


def post_json(url: str, body: bytes, key: str, patience: Patience, limit: int) -> bytes:
    """Post JSON, with the key if there is one, and give the answer of at most `limit` bytes. Raises ModelError."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "twofold"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    with opened(Request(url, body, headers, redirects=False), patience) as answer:
        return read_at_most(answer, limit, host_of(url), patience.timeout)


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


def _send(request: Request, patience: Patience, connected: Callable[["socket.socket"], None]) -> IO[bytes]:
    import urllib.request

    asked = urllib.request.Request(request.url, data=request.body, headers=dict(request.headers))  # noqa: S310 - host_of checked it
    opener = _opener(patience, connected, redirects=request.redirects)
    answer: IO[bytes] = opener.open(asked, timeout=min(patience.connect_timeout, patience.timeout))
    return answer


def _opener(patience: Patience, connected: Callable[["socket.socket"], None], *, redirects: bool) -> "OpenerDirector":
    """Make what sends: its time-out is for connecting, and the server's silences are timed once that is done."""
    import http.client
    import urllib.request

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(patience.timeout)
            connected(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(patience.timeout)
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


def _pause_after(error: "HTTPError", attempt: int, patience: Patience) -> float | None:
    """Say how long to wait before trying again, None for not at all."""
    if attempt == patience.attempts or not _passes(error.code):
        return None
    asked = error.headers.get("Retry-After", "")
    if asked.strip().isdecimal():
        return min(float(asked), patience.longest_pause)
    return _doubling(attempt, patience)


def _doubling(attempt: int, patience: Patience) -> float:
    return float(min(patience.first_pause * patience.factor ** (attempt - 1), patience.longest_pause))


def _passes(code: int) -> bool:
    """Say whether a refusal may pass by itself."""
    return code == TOO_MANY_REQUESTS or code >= SERVER_ERROR


def _refused(host: str, error: "HTTPError", attempts: int) -> ModelError:
    remedies = {
        400: "Check the model's name, and whether the text is too long for it.",
        401: "Set the key in TWOFOLD_API_KEY.",
        403: "Check that the key in TWOFOLD_API_KEY may do this.",
        404: "Check the address and the model's name.",
        429: "Wait a while, or send less at once.",
    }
    message, remedy = f"{host} answered {error.code}.", remedies.get(error.code, "Look at the server's own log.")
    with error:
        return ModelUnavailableError(message, remedy, attempts) if _passes(error.code) else ModelError(message, remedy)


def _unreachable(host: str, error: Exception, attempts: int = 1) -> ModelUnavailableError:
    reason = getattr(error, "reason", None) or error
    return ModelUnavailableError(
        f"{host} cannot be reached: {reason}.", "Check that the server runs and the network is up.", attempts
    )
