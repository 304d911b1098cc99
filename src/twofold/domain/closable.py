"""A generator that one thread reads and that any thread may close."""

import threading
from collections.abc import Generator
from types import GeneratorType
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")
Stream = TypeVar("Stream")


class ClosableGenerator(Generic[Item]):
    """A generator that another thread may close between two items or while one is waited for.

    Python refuses whichever of the two comes second ("generator already executing"). Here the reader waits until the
    generator is closed, and then sees its end; a close never waits for a reader: the item that it waits for is its
    last, and the caller must also see to it that it comes or fails.
    """

    def __init__(self, items: Generator[Item]) -> None:
        self._items = items
        self._turn = threading.Lock()
        self._closed = False

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Item:
        """Wait for the next item."""
        with self._turn:
            if self._closed:
                self._items.close()
            return next(self._items)

    def close(self) -> None:
        """Close the generator, or let the thread that waits for an item of it do so when it comes for the next one."""
        self._closed = True
        if self._turn.acquire(blocking=False):
            try:
                self._items.close()
            finally:
                self._turn.release()


def closable(stream: Stream) -> "Stream | ClosableGenerator[str]":
    """Return a stream of text that any thread may close: what a function with `yield` made is not one by itself."""
    return ClosableGenerator(stream) if isinstance(stream, GeneratorType) else stream
