"""The writer's lock: one writer a collection, across processes and threads; it also covers checkpoints.

The kernel lets go of it when its process ends, however it ends.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twofold.domain.errors import WriterBusyError
from twofold.stores.local.durable import refusal
from twofold.system.files import open_plain, try_lock, unlock

POLL_SECONDS = 0.01


class WriterLock:
    """Held around every change. A thread that already holds it may enter again."""

    def __init__(self, path: Path, wait_seconds: float) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock. Raises WriterBusyError when another writer keeps it for longer than the waiting time."""
        if not self._threads.acquire(timeout=self._wait_seconds):
            raise self._busy()
        try:
            if self._depth:
                yield
                return
            handle = self._take()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                unlock(handle)
                os.close(handle)
        finally:
            self._threads.release()

    def _take(self) -> int:
        try:
            handle = open_plain(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise refusal(error, self._path.name) from error
        try:
            self._wait_for(handle)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _wait_for(self, handle: int) -> None:
        deadline = time.monotonic() + self._wait_seconds
        while True:
            try:
                taken = try_lock(handle)
            except OSError as error:
                raise refusal(error, self._path.name) from error
            if taken:
                return
            if time.monotonic() >= deadline:
                raise self._busy()
            time.sleep(POLL_SECONDS)

    def _busy(self) -> WriterBusyError:
        return WriterBusyError(
            f"Another process is writing to this index (waited {self._wait_seconds:g} s).",
            "Wait until it has finished, or stop it; then run the command again.",
        )
