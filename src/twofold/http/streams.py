"""Answers that are written bit by bit: so many at once and not for ever, from an engine that works in threads."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress

from twofold.http.service import Service, too_many

MOST_HELD = 64
"""Events that may wait for a slow reader; the writer then waits too."""


async def stream_counted(service: Service, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pass events on; the stream counts until it ends. See `check_room`."""
    service.standing.streams += 1
    try:
        async with asyncio.timeout(service.limits.stream_seconds):
            async for one in events:
                yield one
    except TimeoutError:
        return
    finally:
        service.standing.streams -= 1
        closing = getattr(events, "aclose", None)
        if closing is not None:
            await closing()


def check_room(service: Service) -> None:
    """Raise ProblemError (429) when as many answers are being written as may be."""
    if service.standing.streams >= service.limits.streams:
        raise too_many("Too many answers are being written.")


class ThreadEvents:
    """Runs a synchronous iterator of events in a thread of its own, and gives them to the event loop as they come.

    `begin` opens the iterator; what has a `close` is closed when the reader goes, from another thread, so that a model
    that is waited for is let go. The thread ends when the iterator does.
    """

    def __init__(self, begin: Callable[[], Iterator[bytes]]) -> None:
        self._begin = begin
        self._loop = asyncio.get_running_loop()
        self._held: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self._room = threading.Semaphore(MOST_HELD)
        self._gone = threading.Event()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._events()

    async def _events(self) -> AsyncIterator[bytes]:
        threading.Thread(target=self._work, name="twofold answer", daemon=True).start()
        try:
            while (one := await self._held.get()) is not None:
                self._room.release()
                if isinstance(one, BaseException):
                    raise one
                yield one
        finally:
            self._gone.set()
            self._room.release()

    def _work(self) -> None:
        ended: BaseException | None = None
        try:
            events = self._begin()
            try:
                for one in events:
                    self._room.acquire()
                    if self._gone.is_set():
                        break
                    self._give(one)
            finally:
                closing = getattr(events, "close", None)
                if closing is not None:
                    closing()
        except BaseException as error:  # noqa: BLE001 - it is raised where the events are read
            ended = error
        self._give(ended)
        if ended is not None:
            self._give(None)

    def _give(self, one: bytes | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody reads any more
            self._loop.call_soon_threadsafe(self._held.put_nowait, one)
