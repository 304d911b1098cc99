"""The gate before everything: who may ask from where, how much may be sent, and what every answer carries.

It stands around the whole application and decides by the request's head alone, before a byte of the body is read: the
Host that was asked for (rebinding), the Origin that asks (other pages in the same browser), the token, the size. No
unforeseen error gets past it, and its log lines hold nothing but the method, the route, the status and the time.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import TwofoldError
from twofold.server.auth import EVERYTHING_GRANTED, Grant, TokenStore
from twofold.server.errors import Problem, ProblemError, for_client_of, problem_of, refused, response_of, unauthorized
from twofold.server.limits import ServerLimits
from twofold.server.metrics import RequestCounts
from twofold.server.rate_limit import RateLimit
from twofold.stores.local.durable import NO_ROOM, no_room

GRANT = "twofold.grant"
VIEWS = ("ask", "search", "library", "document", "compare", "judge", "experiments", "settings")
PUBLIC = frozenset({"/", "/docs", "/openapi.json", "/healthz", "/readyz", *(f"/{view}" for view in VIEWS)})
PUBLIC_FOLDER = "/page/"
NOT_ANSWERED = 499
FORM = b"multipart/form-data"
FILES = "/v1/files"
TRANSCRIPTIONS = "/v1/transcriptions"
CONVERSATIONS = "/v1/conversations/"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"content-security-policy",
        _POLICY.encode(),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_NO_STORE = (b"cache-control", b"no-store")
_UNFORESEEN = Problem("internal", "Internal Server Error", 500, "Something went wrong that was not foreseen.")

logger = logging.getLogger("twofold.server")


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Who may come in. `hosts` are names without a port, `origins` other sites' such as `https://wiki.example`.

    With `token_needed` nobody comes in without one, whether or not any was ever made.
    """

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    token_needed: bool = False


class SecurityMiddleware:
    """The outermost layer of the application."""

    def __init__(
        self, app: ASGIApp, policy: AccessPolicy, tokens: TokenStore, limits: ServerLimits, counts: RequestCounts
    ) -> None:
        self._app = app
        self._policy = policy
        self._tokens = tokens
        self._limits = limits
        self._counts = counts
        self._locked = policy.token_needed
        self._held = _BodyBytes(limits.held_bytes)
        self._rate = RateLimit(limits.requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = time.monotonic()
        out = _Out(send, self._allowed_origin(scope), bodiless=scope["method"] == "HEAD")
        if out.bodiless:
            scope = {**scope, "method": "GET"}  # the same answer, without its body
        inner = _Body(receive, self._most(scope), self._limits.body_seconds, None if _is_form(scope) else self._held)
        try:
            early = self._admit(scope)
            await (early(scope, inner, out) if early else self._app(scope, inner, out))
        except Exception as error:  # noqa: BLE001 - this is the door: nothing may pass it as a traceback
            await _say(error, scope, receive, out)
        finally:
            inner.release()
            route = getattr(scope.get("route"), "path_format", "") or "none"
            taken = time.monotonic() - started
            self._counts.add(scope["method"] if route != "none" else "any", route, out.status, taken)
            _log(scope, route, out.status, taken * 1000.0)

    def _admit(self, scope: Scope) -> Response | None:
        """Check the head of a request and note who asks. Returns a response where there is nothing else to do."""
        headers = _headers_of(scope)
        self._check_host(headers)
        preflight = self._check_origin(scope, headers)
        if preflight is not None:
            return preflight
        if not _is_public(scope["path"]):
            scope[GRANT] = grant = self._grant(scope)
            self._check_rate(grant)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self._most(scope):
            raise too_large(self._most(scope))
        return None

    def _check_host(self, headers: Mapping[str, str]) -> None:
        if host_without_port(headers.get("host", "")) not in self._policy.hosts:
            raise refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This server does not go by that name.",
                "Ask it by the name it was started with, or start it with --allow-host NAME.",
            )

    def _check_origin(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Refuse what another site's page asks; answer the question that browsers put first (CORS preflight)."""
        origin = headers.get("origin")
        own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
        foreign = origin is not None and origin.lower() != own.lower()
        across = headers.get("sec-fetch-site") in ("cross-site", "same-site") and origin is None
        if across and headers.get("sec-fetch-mode") != "navigate":
            foreign = True
        if foreign and origin not in self._policy.origins:
            raise refused(
                HTTPStatus.FORBIDDEN,
                "Pages of other sites may not ask this server.",
                "Start it with --allow-origin ORIGIN to let one in.",
            )
        if foreign and scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return Response(status_code=204, headers=dict(_PREFLIGHT))
        return None

    def _grant(self, scope: Scope) -> Grant:
        self._locked = self._locked or self._tokens.in_use
        if not self._locked:
            return EVERYTHING_GRANTED
        said = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, presented = said[0].decode("latin-1").partition(" ") if len(said) == 1 else ("", "", "")
        if kind.lower() != "bearer":
            raise unauthorized("A token is needed.")
        grant = self._tokens.grant_for(presented.strip())
        if grant is None:
            raise unauthorized("The token is wrong, or was revoked.")
        return grant

    def _check_rate(self, grant: Grant) -> None:
        waits = self._rate.wait_seconds(grant.id)
        if waits:
            raise refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"At most {self._limits.requests_per_minute:,} requests a minute are answered for {grant.name}.",
                f"Ask again in {waits} s.",
                retry_after=waits,
            )

    def _most(self, scope: Scope) -> int:
        path = scope["path"]
        if path == TRANSCRIPTIONS or (scope["method"] == "PUT" and path.startswith(CONVERSATIONS)):
            return self._limits.texts_bytes
        if scope["method"] != "POST" or not (path.endswith("/documents") or (path == FILES and _is_form(scope))):
            return self._limits.body_bytes
        return self._limits.upload_bytes if _is_form(scope) else self._limits.texts_bytes

    def _allowed_origin(self, scope: Scope) -> bytes:
        origin: bytes = dict(scope["headers"]).get(b"origin", b"")
        return origin if origin.decode("latin-1") in self._policy.origins else b""


def _log(scope: Scope, route: str, status: int, milliseconds: float) -> None:
    method, grant = scope["method"][:8], scope.get(GRANT)
    parts = {"method": method, "route": route, "status": status, "milliseconds": round(milliseconds, 1)}
    who = {"token": grant.id} if grant is not None and grant.id else {}
    logger.info("%s %s %d %.1f ms", method, route, status, milliseconds, extra={**parts, **who})


_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}
_READABLE = (b"access-control-expose-headers", b"Retry-After, Content-Disposition, ETag")
"""What a page of another origin may read besides what browsers let it read anyway."""


class _Out:
    """Sends an answer with the headers that every answer has, and remembers its status; 499 where none was sent."""

    def __init__(self, send: Send, origin: bytes, *, bodiless: bool) -> None:
        self._send = send
        self._origin = origin
        self.bodiless = bodiless
        self.status = NOT_ANSWERED

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = list(message.get("headers", ()))
            if not any(name.lower() == b"cache-control" for name, _ in own):
                own.append(_NO_STORE)
            if self._origin:
                own += [(b"access-control-allow-origin", self._origin), (b"vary", b"Origin"), _READABLE]
            message = {**message, "headers": [*own, *SECURITY_HEADERS]}
        elif self.bodiless and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


@dataclass(slots=True)
class _BodyBytes:
    """How many bytes of bodies are in memory, and how many may be. A form's are not: its files go to disk."""

    most: int
    bytes: int = 0


class _Body:
    """Receives a body of at most `most` bytes within `seconds`; what comes after it is let through."""

    def __init__(self, receive: Receive, most: int, seconds: float, held: _BodyBytes | None) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._held = held
        self._deadline = 0.0
        self._size = self._taken = 0
        self._ended = False

    async def __call__(self) -> Message:
        if self._ended:
            return await self._receive()
        now = time.monotonic()
        self._deadline = self._deadline or now + self._seconds
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._deadline - now))
        except TimeoutError:
            raise refused(
                HTTPStatus.REQUEST_TIMEOUT, f"The request was not sent within {self._seconds:g} s.", "Send it faster."
            ) from None
        self._size += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._size > self._most:
            raise too_large(self._most)
        if self._held is not None:
            self._hold(self._held, len(message.get("body", b"")))
        return message

    def _hold(self, held: _BodyBytes, more: int) -> None:
        self._taken += more
        held.bytes += more
        if held.bytes > held.most:
            raise refused(HTTPStatus.SERVICE_UNAVAILABLE, "The server is busy.", "Ask again.", retry_after=1)

    def release(self) -> None:
        """Release the memory of the body."""
        if self._held is not None:
            self._held.bytes -= self._taken
            self._taken = 0


def too_large(most: int) -> ProblemError:
    """Refuse what is too much to be read."""
    return refused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The request has more than the {most:,} bytes that are read.",
        "Send less at once; documents may be larger as files, in multipart/form-data.",
        kind="too-large",
    )


def host_without_port(host: str) -> str:
    """Return the name that was asked for, in lower case: of `LocalHost:8080` `localhost`, of `[::1]:80` `[::1]`."""
    end = host.rfind("]")
    name = host[: end + 1] if end > 0 else host.partition(":")[0]
    return name.lower().rstrip(".")


def answer_to(error: Exception) -> Response:
    """Write an error as a response; one that was not foreseen says nothing of itself."""
    if isinstance(error, ProblemError):
        return error.response()
    if isinstance(error, TwofoldError):
        return response_of(problem_of(error))
    if _is_no_room(error):
        return response_of(problem_of(no_room("the request")))
    return response_of(_UNFORESEEN)


async def _say(error: Exception, scope: Scope, receive: Receive, out: _Out) -> None:
    if not isinstance(error, ProblemError | TwofoldError) and not _is_no_room(error):
        logger.error("unforeseen %s at %s", type(error).__name__, _where(error))
    if out.status == NOT_ANSWERED:
        await for_client_of(scope["path"], answer_to(error))(scope, receive, out)


def _is_no_room(error: Exception) -> bool:
    """Return whether the disk is full: a form's files lie on it while they come in."""
    return isinstance(error, OSError) and error.errno in NO_ROOM


def _where(error: Exception) -> str:
    """Return the place of an error in the code, and nothing of what it was about."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _is_form(scope: Scope) -> bool:
    said: bytes = dict(scope["headers"]).get(b"content-type", b"")
    return said.partition(b";")[0].strip().lower() == FORM


def _is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(PUBLIC_FOLDER)


def _headers_of(scope: Scope) -> dict[str, str]:
    decode: Callable[[bytes], str] = lambda value: value.decode("latin-1")  # noqa: E731 - two short uses
    return {decode(name): decode(value) for name, value in scope["headers"]}
