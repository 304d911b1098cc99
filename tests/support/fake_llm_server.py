"""Chat servers on this machine alone: real sockets, and a reply that a test says byte by byte."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Send = Callable[[bytes], None]
"""Sends bytes to the client at once; raises OSError when the client is gone."""

END = b"data: [DONE]\n\n"
ENDLESS = "write for ever"
NEVER = threading.Event()


@dataclass(frozen=True, slots=True)
class Heard:
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        """What the last message says."""
        text: str = self.body["messages"][-1]["content"] if "messages" in self.body else ""
        return text


Reply = Callable[[Heard, Send], None]


@contextmanager
def chatting(reply: Reply, status: int = 200, *, chunked: bool = True) -> Iterator[str]:
    """Serve `reply` on loopback until the block ends, and give the address to name: `http://127.0.0.1:PORT/v1`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if chunked else "HTTP/1.0"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.close_connection = True
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream")
            if chunked:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(OSError):
                reply(Heard(self.path, dict(self.headers), json.loads(body)), self.send)
                if chunked:
                    self.wfile.write(b"0\r\n\r\n")

        def send(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def piece(text: str) -> bytes:
    """Give the event around one piece of text."""
    event = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


def finished(reason: str = "stop") -> bytes:
    """Give the event that ends a reply."""
    return b"data: " + json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}).encode() + b"\n\n" + END


def saying(answers: Callable[[str], str]) -> Reply:
    """Be a model that answers each prompt with `answers(prompt)`, a character an event, as real servers dress it."""

    def reply(heard: Heard, send: Send) -> None:
        send(b": hello\n\n")
        send(b'data: {"choices":[{"delta":{"role":"assistant","content":null},"finish_reason":null}]}\n\n')
        for character in answers(heard.prompt):
            send(piece(character))
        send(finished())

    return reply


def obliging(heard: Heard, send: Send) -> None:
    """Be a model that says what it is told to, in bytes that fall apart anywhere, and for ever where it should."""
    if heard.body.get("stream") is not True:
        return
    if heard.prompt == ENDLESS:
        while True:
            send(piece("more "))
    told = "".join(message["content"] for message in heard.body["messages"][:-1]) + heard.prompt
    for stop in heard.body.get("stop", []):
        told = told.partition(stop)[0]
    content = b"".join(map(piece, told[: heard.body["max_tokens"]])) + finished()
    for at in range(0, len(content), 7):
        send(content[at : at + 7])
