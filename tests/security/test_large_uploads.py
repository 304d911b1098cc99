"""Bodies of JSON that are read into memory: a few at once, and no more of each than a server can bear."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from support.api_client import fill, visiting
from twofold.server.limits import DEFAULT_LIMITS

PIECE = 1 << 20
SENT = 32  # pieces by each connection
MAX_MORE_KB = 120_000
HEAD = (
    b"POST /v1/indexes/notes/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Process:
    """A server that runs by itself."""

    number: int
    client: httpx2.Client
    port: int

    @property
    def most_memory_kb(self) -> int:
        """How much of memory it has held at most."""
        status = Path(f"/proc/{self.number}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


@contextmanager
def serving_process(home: Path) -> Iterator[Process]:
    fill(home)
    surroundings = {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing"}
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0"]
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().rpartition(" ")[2].strip()
            with httpx2.Client(base_url=address, timeout=30.0, trust_env=False) as client:
                yield Process(process.pid, client, int(address.rpartition(":")[2]))
        finally:
            process.terminate()


def begun(stack: ExitStack, port: int) -> tuple[socket.socket, int]:
    """Send the head of an upload; give the connection, and the status that comes before a byte of the body is sent."""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30.0))
    connection.sendall(HEAD)
    return connection, int(connection.recv(4096).split()[1])


def sent(connection: socket.socket) -> int:
    """Send a body as long as the server takes it, and give the status that it ends with."""
    with suppress(OSError):
        for _ in range(SENT):
            connection.sendall(b"%x\r\n%b\r\n" % (PIECE, b" " * PIECE))
    with suppress(OSError):
        return int(connection.recv(4096).split()[1])
    return 0


def test_large_bodies_of_json_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    with serving_process(tmp_path) as server, ExitStack() as stack:
        assert server.client.get("/readyz").status_code == 200
        before = server.most_memory_kb
        all_begun = [begun(stack, server.port) for _ in range(2 * DEFAULT_LIMITS.uploads)]
        ends = [sent(connection) for connection, status in all_begun if status == 100]
        text = {"documents": [{"text": "A cat sat.", "source": "cat.txt"}]}
        declared = server.client.post(
            "/v1/indexes/notes/documents", content=b" " * (9 << 20), headers={"Content-Type": "application/json"}
        )
        after = server.client.post("/v1/indexes/notes/documents", json=text).status_code
        more = server.most_memory_kb - before

    assert [status for _, status in all_begun] == [100] * DEFAULT_LIMITS.uploads + [429] * DEFAULT_LIMITS.uploads
    assert set(ends) <= {0, 413}  # 0: the connection was closed before the answer could be read
    assert declared.status_code == 413
    assert "multipart" in declared.json()["hint"]
    assert after == 202
    assert more < MAX_MORE_KB


def test_bodies_together_take_so_much_memory_and_no_more(tmp_path: Path) -> None:
    fill(tmp_path)
    where, headers = "/v1/indexes/notes/search", {"Content-Type": "application/json"}
    with visiting(tmp_path, replace(DEFAULT_LIMITS, held_bytes=500_000)) as visit:
        statuses = [
            visit.client.post(where, content=b'{"query": "cat"}'.ljust(size), headers=headers).status_code
            for size in (400_000, 900_000, 400_000, 400_000)
        ]

    assert statuses == [200, 503, 200, 200]


def test_a_form_may_be_larger_than_json_may(tmp_path: Path) -> None:
    with serving_process(tmp_path) as server:
        file = ("file", ("long.txt", b"A long text. " * 800_000))
        given = server.client.post("/v1/indexes/notes/documents", files=[file])

    assert given.status_code == 202
