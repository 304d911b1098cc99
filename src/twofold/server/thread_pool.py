"""Bounded threads between the server's event loop and the engine, which is synchronous.

The number of threads is limited, and so is the number of calls that wait for one; beyond that a call is refused at
once. A call that is given up goes on in its thread and counts until it ends: what is busy is known to be busy.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any, TypeVar

from twofold.server.errors import refused

Answer = TypeVar("Answer")
_Task = tuple[Callable[[], Any], "Future[Any]"]


class ThreadPool:
    """Runs calls in threads that end with the process. For one event loop at a time."""

    def __init__(self, name: str, threads: int, waiting: int, status: HTTPStatus) -> None:
        self._status = status
        self._room = threads + waiting
        self._turn = threading.Lock()
        self._busy = 0
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._threads = tuple(
            threading.Thread(target=self._work, name=f"twofold {name} {number}", daemon=True)
            for number in range(threads)
        )
        for thread in self._threads:
            thread.start()

    @property
    def busy(self) -> int:
        """How many calls run or wait."""
        with self._turn:
            return self._busy

    @property
    def alive(self) -> bool:
        """Whether all threads are at work."""
        return all(one.is_alive() for one in self._threads)

    def submit(self, call: Callable[[], Answer]) -> "Future[Answer]":
        """Return a call to the next free thread. Raises ProblemError when too many wait."""
        with self._turn:
            if self._busy >= self._room:
                raise refused(self._status, "The server is busy.", "Ask again after a moment.", retry_after=1)
            self._busy += 1
        future: Future[Answer] = Future()
        future.add_done_callback(self._job_done)
        here = contextvars.copy_context()  # so that a span that is open here is that of what is done there
        self._tasks.put((lambda: here.run(call), future))
        return future

    async def run(self, call: Callable[[], Answer], seconds: float) -> Answer:
        """Wait for a call's answer. Raises what it raises, ProblemError when too many wait or it takes too long."""
        future = self.submit(call)
        waited = asyncio.wrap_future(future)
        waited.add_done_callback(_look_at)
        try:
            return await asyncio.wait_for(asyncio.shield(waited), seconds)
        except TimeoutError:
            if not future.cancel() and future.done():
                return future.result()  # it ended at the last moment, or it is the call itself that timed out
            raise refused(
                HTTPStatus.GATEWAY_TIMEOUT, f"The request took more than {seconds:g} s.", "Ask for less at once."
            ) from None
        except asyncio.CancelledError:
            future.cancel()
            raise

    def close(self) -> None:
        """Let the threads end when they have done what they are doing."""
        for _ in self._threads:
            self._tasks.put(None)

    def _job_done(self, _: "Future[Any]") -> None:
        with self._turn:
            self._busy -= 1

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            call, future = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                answer = call()
            except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
                future.set_exception(error)
            else:
                future.set_result(answer)
            del task, call, future


def _look_at(ended: "asyncio.Future[Any]") -> None:
    """Take note of an error that nobody waits for any more, so that its text is not logged."""
    if not ended.cancelled():
        ended.exception()
