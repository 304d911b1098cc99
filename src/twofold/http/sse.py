"""Server-sent events: `event:` and `data:` lines, with a comment now and then so that silence is not death."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from anyio import CancelScope
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from twofold.http.problems import Problem
from twofold.http.service import Service, encoded

MEDIA_TYPE = "text/event-stream"
EVENTS: dict[str, Any] = {
    MEDIA_TYPE: {
        "schema": {
            "type": "object",
            "description": "One event; `data` is JSON.",
            "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
            "required": ["data"],
        }
    }
}
"""How a stream is described: by what each of its events is."""
PING_SECONDS = 10.0
LOOK_SECONDS = 0.25
PING = b": still here\n\n"
TOO_LONG = Problem("stream-too-long", "Gateway Timeout", 504, "The answer took longer than it may.", "Ask for less.")
CLOSING = Problem("closing", "Service Unavailable", 503, "The server is closing.", "Ask again when it is back.")


@dataclass(frozen=True, slots=True)
class Broken:
    """A stream that the server ends before its end."""

    problem: Problem
    type: str = "error"


def event(name: str, value: object) -> bytes:
    """Write one event; its data is one line of JSON."""
    return b"event: " + name.encode() + b"\ndata: " + data(value)[6:]


def data(value: object) -> bytes:
    """Write one event without a name."""
    return b"data: " + encoded(value) + b"\n\n"


def event_stream(service: Service, events: AsyncGenerator[bytes]) -> StreamingResponse:
    """Send events as they come, for as long as an answer may take; when the client goes, `events` is closed."""
    return _EventStream(_kept_alive(service, events), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


class _EventStream(StreamingResponse):
    """A stream that ends as soon as its reader goes, and not only when there is something to send again."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Starlette listens for the client's going only where the server speaks an older ASGI than 2.4.
        older = {**scope, "asgi": {**scope.get("asgi", {}), "spec_version": "2.3"}}
        await super().__call__(older, receive, send)


async def _kept_alive(service: Service, events: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    deadline, spoke = clock() + service.limits.stream_seconds, clock()
    following: asyncio.Task[bytes | None] = asyncio.ensure_future(_next(events))
    service.standing.streams += 1
    try:
        while True:
            await asyncio.wait({following}, timeout=LOOK_SECONDS)
            if following.done():
                piece = following.result()
                if piece is None:
                    return
                following = asyncio.ensure_future(_next(events))
                spoke = clock()
                yield piece
            elif service.standing.closing or clock() > deadline:
                yield event("error", Broken(CLOSING if service.standing.closing else TOO_LONG))
                return
            elif clock() - spoke > PING_SECONDS:
                spoke = clock()
                yield PING
    finally:
        service.standing.streams -= 1
        following.cancel()
        with CancelScope(shield=True):  # what is tidied up here must not be cut off as well
            await asyncio.wait({following})
            if not following.cancelled():
                following.exception()
            await events.aclose()


async def _next(events: AsyncIterator[bytes]) -> bytes | None:
    return await anext(events, None)
