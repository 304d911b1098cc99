"""Answers that are written bit by bit, by an engine that works in threads, for an event loop that must not wait."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from typing import Any, Generic, Protocol, TypeVar

from anyio import CancelScope
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from twofold.domain.dataclass import dataclass
from twofold.server.errors import Problem
from twofold.server.service import Service, encoded, too_many

QUEUE_SIZE = 64
"""Events that may wait for a slow reader; the writer then waits too."""

Event_co = TypeVar("Event_co", covariant=True)
Event = TypeVar("Event")


class Stream(Protocol[Event_co]):
    """Events of an answer; closing it, from any thread, stops what makes them."""

    def __iter__(self) -> Iterator[Event_co]:
        """Return itself."""

    def __next__(self) -> Event_co:
        """Wait for the next event."""

    def close(self) -> None:
        """Stop."""


def check_room(service: Service) -> None:
    """Raise ProblemError (429) when as many answers are being written as may be."""
    if max(service.state.streams, service.state.writing) >= service.limits.streams:
        raise too_many("Too many answers are being written.")


async def in_thread(
    service: Service, opened: Callable[[], AbstractContextManager[Stream[Event]]]
) -> AsyncGenerator[Event]:
    """Yield the events of a stream that is opened and read in a thread; errors there are raised here.

    When the reader goes the stream is closed, so that a model that is waited for is let go.
    """
    check_room(service)
    run = _Run(service, opened, asyncio.get_running_loop())
    here = contextvars.copy_context()
    threading.Thread(target=here.run, args=(run.work,), name="twofold answer", daemon=True).start()
    try:
        while (one := await run.held.get()) is not _END:
            run.room.release()
            if isinstance(one, _Failed):
                raise one.error
            yield one  # type: ignore[misc]  # neither the end nor a failure
    finally:
        run.leave()


class _End:
    """Nothing comes after this."""


class _Failed:
    """What was raised in the thread."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = _End()


class _Run(Generic[Event]):
    """One stream on its way from its thread to its reader."""

    def __init__(
        self,
        service: Service,
        opened: Callable[[], AbstractContextManager[Stream[Event]]],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._state = service.state
        self._opened = opened
        self._loop = loop
        self._turn = threading.Lock()
        self._stream: Stream[Event] | None = None
        self._gone = False
        self.held: asyncio.Queue[Event | _End | _Failed] = asyncio.Queue()
        self.room = threading.Semaphore(QUEUE_SIZE)
        self._state.writing += 1

    def work(self) -> None:
        """Read the stream to its end, or until the reader goes."""
        try:
            with self._opened() as stream, closing(stream):
                if self._enter(stream):
                    for one in stream:
                        self.room.acquire()
                        if self._gone:
                            break
                        self._give(one)
        except BaseException as error:  # noqa: BLE001 - it is raised where the events are read
            self._give(_Failed(error))
        self._give(_END)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._ended)

    def leave(self) -> None:
        """Stop the thread: the reader has gone, or has all it wants."""
        with self._turn:
            self._gone = True
            stream = self._stream
        self.room.release()
        if stream is not None:  # stopping a model may wait for a socket, which the event loop must not
            threading.Thread(target=stream.close, name="twofold stop", daemon=True).start()

    def _enter(self, stream: Stream[Event]) -> bool:
        with self._turn:
            self._stream = stream
            return not self._gone

    def _ended(self) -> None:
        self._state.writing -= 1

    def _give(self, one: Event | _End | _Failed) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody reads any more
            self._loop.call_soon_threadsafe(self.held.put_nowait, one)


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
POLL_SECONDS = 0.25
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


class Typed(Protocol):
    """An event that names its kind."""

    @property
    def type(self) -> str:
        """The name that the event is sent under."""
        ...


async def encoded_events(first: Typed, rest: AsyncGenerator[Typed]) -> AsyncGenerator[bytes]:
    """Write an event that is there and those that follow, and close `rest` at the end or when the reader goes."""
    try:
        yield event(first.type, first)
        async for one in rest:
            yield event(one.type, one)
    finally:
        await rest.aclose()


def event_stream(service: Service, events: AsyncGenerator[bytes]) -> StreamingResponse:
    """Send events as they come, for as long as an answer may take; when the client goes, `events` is closed."""
    return _EventStream(_with_keepalives(service, events), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


class _EventStream(StreamingResponse):
    """A stream that ends as soon as its reader goes, and not only when there is something to send again."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Starlette listens for the client's going only where the server speaks an older ASGI than 2.4.
        older = {**scope, "asgi": {**scope.get("asgi", {}), "spec_version": "2.3"}}
        await super().__call__(older, receive, send)


async def _with_keepalives(service: Service, events: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    deadline, spoke = clock() + service.limits.stream_seconds, clock()
    following: asyncio.Task[bytes | None] = asyncio.ensure_future(_next(events))
    service.state.streams += 1
    try:
        while True:
            await asyncio.wait({following}, timeout=POLL_SECONDS)
            if following.done():
                piece = following.result()
                if piece is None:
                    return
                following = asyncio.ensure_future(_next(events))
                spoke = clock()
                yield piece
            elif service.state.closing or clock() > deadline:
                yield event("error", Broken(CLOSING if service.state.closing else TOO_LONG))
                return
            elif clock() - spoke > PING_SECONDS:
                spoke = clock()
                yield PING
    finally:
        service.state.streams -= 1
        following.cancel()
        with CancelScope(shield=True):  # what is tidied up here must not be cut off as well
            await asyncio.wait({following})
            if not following.cancelled():
                following.exception()
            await events.aclose()


async def _next(events: AsyncIterator[bytes]) -> bytes | None:
    return await anext(events, None)
