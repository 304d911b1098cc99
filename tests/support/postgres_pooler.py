"""Stands between a client and a PostgreSQL server on a socket, as a pooler in transaction mode would.

Notifications do not get through, as there; the ends of the server's answers are counted.
"""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.postgres_server import PostgresServer

SOCKET = ".s.PGSQL.5432"
NOTIFICATION, READY = b"A", b"Z"
HEADER = 5  # a letter, and the length of the rest with itself


class Pooler:
    """`folder` takes the place of the server's in an address. `answers` counts the requests that were answered."""

    def __init__(self, server: PostgresServer, *, notifies: bool) -> None:
        self._made = tempfile.TemporaryDirectory(prefix="pooler-")
        self.folder = Path(self._made.name)
        self.answers = 0
        self._target = str(server.folder / SOCKET)
        self._notifies = notifies
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.folder / SOCKET))
        self._listening.listen()
        self._started(self._accept)

    def close(self) -> None:
        for one in (self._listening, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for one in (self._listening, *self._open):
            one.close()
        self._made.cleanup()

    def _started(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                self._open += [client, server]
                server.connect(self._target)
                self._started(self._to_server, client, server)
                self._started(self._to_client, server, client)

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                server.sendall(data)
        _end(server)

    def _to_client(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError), server.makefile("rb") as answers:
            while len(header := answers.read(HEADER)) == HEADER:
                rest = answers.read(int.from_bytes(header[1:]) - 4)
                self.answers += header[:1] == READY
                if self._notifies or header[:1] != NOTIFICATION:
                    client.sendall(header + rest)
        _end(client)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


@contextmanager
def pooled(server: PostgresServer, *, notifies: bool = False) -> Iterator[Pooler]:
    pooler = Pooler(server, notifies=notifies)
    try:
        yield pooler
    finally:
        pooler.close()
