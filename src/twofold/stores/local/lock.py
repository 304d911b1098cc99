"""The writer's lock: one writer a collection, across processes and threads; it also covers checkpoints.

The kernel lets go of it when its process ends, however it ends.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twofold.domain.errors import WriterBusyError
from twofold.stores.local.durable import refusal

POLL_SECONDS = 0.01


class WriterLock:
    """Held around every change. A thread that already holds it may enter again."""

    def __init__(self, path: Path, wait_seconds: float) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self) -> Iterator[None]:
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
                fcntl.flock(handle, fcntl.LOCK_UN)  # a forked child may still hold a copy of the handle
                os.close(handle)
        finally:
            self._threads.release()

    def _take(self) -> int:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
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
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise self._busy() from None
                time.sleep(POLL_SECONDS)
            except OSError as error:
                raise refusal(error, self._path.name) from error
            else:
                return

    def _busy(self) -> WriterBusyError:
        return WriterBusyError(
            f"Another process is writing to this index (waited {self._wait_seconds:g} s).",
            "Wait until it has finished, or stop it; then run the command again.",
        )
