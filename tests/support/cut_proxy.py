"""A server between a client and another server, on the loopback interface, that can cut connections at any time."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

BYTES_AT_ONCE = 65_536


class CutProxy:
    """Passes bytes on to `port` until it is cut. Where `swallows` holds of a request, its answer is lost."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cut = False
        self.swallows: Callable[[bytes], bool] = lambda _: False
        self.swallowed = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def sever(self) -> None:
        """Cut what is connected, and refuse whoever comes."""
        self.cut = True
        for one in self._open:
            _end(one)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.sever()
        _end(self._listener)
        for thread in self._threads:
            thread.join(60)

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.cut:
                    _end(client)
                    continue
                server = socket.create_connection(("127.0.0.1", self._port))
                self._open += [client, server]
                deaf = threading.Event()
                self._start(lambda client=client, server=server, deaf=deaf: self._ask(client, server, deaf))  # type: ignore[misc]
                self._start(lambda client=client, server=server, deaf=deaf: self._answer(client, server, deaf))  # type: ignore[misc]

    def _ask(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(BYTES_AT_ONCE):
                if self.swallows(data):
                    deaf.set()
                server.sendall(data)
        _end(server)

    def _answer(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(BYTES_AT_ONCE):
                if deaf.is_set():
                    self.swallowed += 1
                    break
                client.sendall(data)
        _end(client)
        _end(server)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
