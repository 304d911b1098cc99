"""Work in a thread of its own, read as an iterator of the events that it sends."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

from twofold.domain.errors import TwofoldError
from twofold.server.errors import Problem, problem_of

EventT = TypeVar("EventT")


class EventThread(Generic[EventT]):
    """Runs `work` in a thread and yields what it sends, until it returns.

    A `TwofoldError` of the work becomes the last event, as `failed` makes it. `close` sets `stopped`, which the work
    looks at between its steps, and waits for the thread to end.
    """

    def __init__(
        self, name: str, work: Callable[["EventThread[EventT]"], None], failed: Callable[[Problem], EventT]
    ) -> None:
        self._work = work
        self._failed = failed
        self._stopped = Event()
        self._events: SimpleQueue[EventT | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def stopped(self) -> bool:
        """Whether nobody reads any more."""
        return self._stopped.is_set()

    def send(self, event: EventT) -> None:
        """Add an event, from within the work."""
        self._events.put(event)

    def __iter__(self) -> "EventThread[EventT]":
        return self

    def __next__(self) -> EventT:
        """Wait for the next event."""
        one = self._events.get()
        if one is None:
            raise StopIteration
        return one

    def close(self) -> None:
        """Ask the work to stop, and wait until it has."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._work(self)
        except TwofoldError as error:
            self._events.put(self._failed(problem_of(error)))
        finally:
            self._events.put(None)
