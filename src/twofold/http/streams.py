"""Answers that are written bit by bit, by an engine that works in threads, for an event loop that must not wait."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from typing import Generic, Protocol, TypeVar

from twofold.http.service import Service, too_many

MOST_HELD = 64
"""Events that may wait for a slow reader; the writer then waits too."""

Event_co = TypeVar("Event_co", covariant=True)
Event = TypeVar("Event")


class Stream(Protocol[Event_co]):
    """Events of an answer; closing it, from any thread, stops what makes them."""

    def __iter__(self) -> Iterator[Event_co]:
        """Give itself."""

    def __next__(self) -> Event_co:
        """Wait for the next event."""

    def close(self) -> None:
        """Stop."""


def check_room(service: Service) -> None:
    """Raise ProblemError (429) when as many answers are being written as may be."""
    if max(service.standing.streams, service.standing.writing) >= service.limits.streams:
        raise too_many("Too many answers are being written.")


async def in_thread(
    service: Service, opened: Callable[[], AbstractContextManager[Stream[Event]]]
) -> AsyncGenerator[Event]:
    """Give the events of a stream that is opened and read in a thread of its own; what is raised there is raised here.

    When the reader goes the stream is closed, so that a model that is waited for is let go.
    """
    check_room(service)
    run = _Run(service, opened, asyncio.get_running_loop())
    threading.Thread(target=run.work, name="twofold answer", daemon=True).start()
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
        self._standing = service.standing
        self._opened = opened
        self._loop = loop
        self._turn = threading.Lock()
        self._stream: Stream[Event] | None = None
        self._gone = False
        self.held: asyncio.Queue[Event | _End | _Failed] = asyncio.Queue()
        self.room = threading.Semaphore(MOST_HELD)
        self._standing.writing += 1

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
        self._standing.writing -= 1

    def _give(self, one: Event | _End | _Failed) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody reads any more
            self._loop.call_soon_threadsafe(self.held.put_nowait, one)
