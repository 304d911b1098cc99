"""Server-sent events: `event:` and `data:` lines, with a comment now and then so that silence is not death."""

import asyncio
from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse

from twofold.http.service import encoded

MEDIA_TYPE = "text/event-stream"
PING_SECONDS = 10.0
PING = b": still here\n\n"


def event(name: str, value: object) -> bytes:
    """Write one event; its data is one line of JSON."""
    return b"event: " + name.encode() + b"\ndata: " + encoded(value) + b"\n\n"


def event_stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    """Send events as they come; when the client goes, `events` is closed."""
    return StreamingResponse(_kept_alive(events), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _kept_alive(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    following: asyncio.Task[bytes] | None = None
    try:
        while True:
            following = following or asyncio.ensure_future(_next(events))
            done, _ = await asyncio.wait({following}, timeout=PING_SECONDS)
            if not done:
                yield PING
                continue
            try:
                piece = following.result()
            except StopAsyncIteration:
                return
            following = None
            yield piece
    finally:
        if following is not None and not following.done():
            following.cancel()
            await asyncio.wait({following})
        closing = getattr(events, "aclose", None)
        if closing is not None:
            await closing()


async def _next(events: AsyncIterator[bytes]) -> bytes:
    return await anext(events)
