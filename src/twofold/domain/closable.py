"""A generator that one thread reads and that any thread may close."""

import threading
from collections.abc import Generator
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")


class ClosableGenerator(Generic[Item]):
    """A generator that another thread may close between two items or while one is waited for.

    Python refuses whichever of the two comes second ("generator already executing"). Here the reader waits until the
    generator is closed, and then sees its end; a close never waits for a reader, so the caller must also see to it
    that an item that is waited for comes or fails.
    """

    def __init__(self, items: Generator[Item]) -> None:
        self._items = items
        self._turn = threading.Lock()

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Item:
        """Wait for the next item."""
        with self._turn:
            return next(self._items)

    def close(self) -> None:
        """Close the generator, unless a thread is waiting for an item of it. Calling it twice does nothing more."""
        if self._turn.acquire(blocking=False):
            try:
                self._items.close()
            finally:
                self._turn.release()
