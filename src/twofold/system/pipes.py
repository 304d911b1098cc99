"""Pipes to a process that may never answer: reading and writing until a time, `time.monotonic()`."""

import os
import select
import sys
from time import monotonic
from typing import TYPE_CHECKING

_PIECE = 1 << 20

if hasattr(select, "poll"):

    def read_some(descriptor: int, size: int, deadline: float) -> bytes:
        """Return what a pipe holds, at most `size` bytes; none when the other end is closed. Raises TimeoutError."""
        _await(descriptor, select.POLLIN, deadline)
        return os.read(descriptor, min(_PIECE, size))

    def write_all(descriptor: int, data: bytes, deadline: float) -> None:
        """Write to a pipe. Raises TimeoutError, or BrokenPipeError when the other end is closed."""
        os.set_blocking(descriptor, False)
        view = memoryview(data)
        while view:
            _await(descriptor, select.POLLOUT, deadline)
            view = view[os.write(descriptor, view[:_PIECE]) :]

    def _await(descriptor: int, event: int, deadline: float) -> None:
        """Wait until a pipe can be used; what is ready is used even when the time is over."""
        ready = select.poll()
        ready.register(descriptor, event)
        if not ready.poll(max(0.0, deadline - monotonic()) * 1000):
            raise TimeoutError

elif sys.platform == "win32" or not TYPE_CHECKING:
    # Windows tells of no pipe when it is ready: reading looks again and again, writing is a thread's.
    import _winapi
    import msvcrt
    import time
    from threading import Thread

    _FIRST_PAUSE = 0.0005
    _LAST_PAUSE = 0.01

    def read_some(descriptor: int, size: int, deadline: float) -> bytes:
        """Return what a pipe holds, at most `size` bytes; none when the other end is closed. Raises TimeoutError."""
        handle = msvcrt.get_osfhandle(descriptor)
        pause = _FIRST_PAUSE
        while True:
            try:
                held = _winapi.PeekNamedPipe(handle, 0)[0]
            except OSError:
                return b""
            if held:
                return os.read(descriptor, min(_PIECE, size, held))
            if monotonic() >= deadline:
                raise TimeoutError
            time.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE)

    def write_all(descriptor: int, data: bytes, deadline: float) -> None:
        """Write to a pipe. Raises TimeoutError, or BrokenPipeError when the other end is closed.

        After a TimeoutError the writing goes on until the process at the other end is killed.
        """
        failed: list[OSError] = []
        writing = Thread(target=_write, args=(descriptor, data, failed), daemon=True)
        writing.start()
        writing.join(max(0.0, deadline - monotonic()))
        if writing.is_alive():
            raise TimeoutError
        if failed:
            raise BrokenPipeError from failed[0]

    def _write(descriptor: int, data: bytes, failed: list[OSError]) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(descriptor, view[:_PIECE]) :]
        except OSError as error:
            failed.append(error)
