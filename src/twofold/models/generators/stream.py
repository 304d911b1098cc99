"""A reply that arrives piece by piece over HTTP: server-sent events, and a line that any thread can hang up.

Nothing that a server sends is trusted: not its lengths, its pace, its end, nor that it speaks the protocol at all. What
it says about an error is not repeated, since it may repeat the question.
"""

import os
import struct
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Self

import msgspec

from twofold.domain.closable import ClosableGenerator
from twofold.domain.errors import ModelError
from twofold.domain.generators import Reading
from twofold.models.http import Request, Timeouts, host_of, opened

if TYPE_CHECKING:
    import socket

MAX_LINE_LENGTH = 1 << 20  # bytes
MAX_EVENT_LENGTH = 1 << 19  # bytes
BASE_BYTES = 1 << 20
BYTES_PER_TOKEN = 4_096  # an event around one token takes 200 to 400
CHARACTERS_PER_TOKEN = 16  # English has 4
END = b"[DONE]"
NO_LINGER = struct.pack("ii", 1, 0)
"""Linger no second: a server whose buffers are full, and which reads nothing, learns only so that nobody listens."""
_LOOK = "Look at the server's own log."
_CHECK = "Check the address and the model."


class CancellableConnection:
    """A connection that is hung up at a deadline, or when somebody says so; a reader then sees its end."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._turn = threading.Lock()
        self._connection: socket.socket | None = None
        self._timer: threading.Timer | None = None
        self.hung_up = False
        self.late = False

    def __enter__(self) -> Self:
        """Start the clock."""
        self._timer = threading.Timer(max(0.0, self._deadline - time.monotonic()), self._expire)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """Stop the clock, and give the connection back; one that is left in the middle of a reply is broken off."""
        if self._timer is not None:
            self._timer.cancel()
        self._shut(NO_LINGER if failed is not None else None)

    def hold(self, connection: "socket.socket") -> None:
        """Take hold of a connection. Raises ModelError when the line is hung up already."""
        import socket

        # a second handle on it, since the library closes the first at times of its own
        own = socket.socket(fileno=os.dup(connection.fileno()))
        with self._turn:
            before, self._connection = self._connection, own
        if before is not None:
            before.close()
        if self.hung_up or self.late:
            self._shut(NO_LINGER)
            raise ModelError("The request was given up.")

    def hang_up(self) -> None:
        """End it, from any thread."""
        self.hung_up = True
        self._shut(NO_LINGER)

    def _expire(self) -> None:
        self.late = True
        self._shut(NO_LINGER)

    def _shut(self, linger: bytes | None) -> None:
        import socket

        with self._turn:
            connection, self._connection = self._connection, None
        if connection is not None:
            with connection, suppress(OSError):
                if linger is not None:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.shutdown(socket.SHUT_RDWR)


class EventStream:
    """The pieces of one reply; see `twofold.domain.generators.TextStream`. Asking for the first sends the request."""

    def __init__(self, request: Request, timeouts: Timeouts, max_tokens: int, seconds: float) -> None:
        self._line = CancellableConnection(seconds)
        self._late = ModelError(
            f"{host_of(request.url)} was not done after {seconds:g} s.", "Ask for less, or wait longer."
        )
        self._pieces = ClosableGenerator(_pieces(request, timeouts, max_tokens, self._line))
        self._held: list[str | ModelError] = []

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> str:
        """Wait for the next piece. Raises ModelError."""
        try:
            return self._next_piece()
        except ModelError as error:
            if self._line.hung_up:
                raise StopIteration from None
            raise (self._late if self._line.late else error) from error

    def reading(self) -> Iterator[Reading]:
        """Yield how far the prompt is read, where the server tells, until the first piece is there."""
        try:
            for step in self._pieces:
                if not isinstance(step, Reading):
                    self._held.append(step)
                    return
                yield step
        except ModelError as error:
            self._held.append(error)

    def _next_piece(self) -> str:
        if self._held:
            held = self._held.pop()
            if isinstance(held, ModelError):
                raise held
            return held
        while isinstance(step := next(self._pieces), Reading):
            pass
        return step

    def close(self) -> None:
        """Hang up: the server stops writing, and a thread that waits for a piece sees the end."""
        self._line.hang_up()
        self._pieces.close()


def _pieces(
    request: Request, timeouts: Timeouts, max_tokens: int, line: CancellableConnection
) -> Generator[str | Reading]:
    host = host_of(request.url)
    written = 0
    with line, opened(request, timeouts, line.hold) as answer:
        for piece in deltas(answer, host, BASE_BYTES + BYTES_PER_TOKEN * max_tokens):
            written += 0 if isinstance(piece, Reading) else len(piece)
            if written > CHARACTERS_PER_TOKEN * (max_tokens + 64):
                raise ModelError(f"{host} went on after the {max_tokens:,} tokens it was asked for.", _CHECK)
            yield piece


class _Delta(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Progress(msgspec.Struct, frozen=True):
    total: int = 0
    processed: int = 0


class _Event(msgspec.Struct, frozen=True):
    choices: list[_Choice] | None = None
    error: object = None
    prompt_progress: _Progress | None = None

    @property
    def steps(self) -> Iterator[str | Reading]:
        """How far the prompt is read, and the next piece of text."""
        if self.prompt_progress is not None:
            yield Reading(self.prompt_progress.processed, self.prompt_progress.total)
        for choice in (self.choices or ())[:1]:
            if choice.delta is not None and choice.delta.content:
                yield choice.delta.content

    @property
    def is_last(self) -> bool:
        """Whether the model says that it is done."""
        return any(choice.finish_reason is not None for choice in (self.choices or ())[:1])


def deltas(body: IO[bytes], host: str, limit: int) -> Iterator[str | Reading]:
    """Read the text out of a chat's events, at most `limit` bytes of them; it ends where the model says so.

    Where the server tells how far it has read the prompt, that comes first.

    `data: {"choices":[{"delta":{"content":"Hi"}}]}` gives "Hi". Raises ModelError for all that is no such reply.
    """
    for data in events(body, host, limit):
        if data.strip() == END:
            return
        try:
            event = msgspec.json.decode(data, type=_Event)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ModelError(f"{host} did not answer with pieces of text.", _CHECK) from error
        if event.error is not None:
            raise ModelError(f"{host} failed while it was writing.", _LOOK)
        yield from event.steps
        if event.is_last:
            return
    raise ModelError(f"{host} broke off its reply.", _LOOK)


def events(body: IO[bytes], host: str, limit: int) -> Iterator[bytes]:
    """Read the data of each server-sent event; one that the end cuts off counts too, being whole as often as not."""
    data: list[bytes] = []
    size = 0
    for line in _lines(body, host, limit):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
            size += len(data[-1])
            if size > MAX_EVENT_LENGTH:
                raise ModelError(f"{host} sent an event of more than {MAX_EVENT_LENGTH:,} bytes.", _CHECK)
        elif not line and data:
            yield b"\n".join(data)
            data, size = [], 0
    if data:
        yield b"\n".join(data)


def _lines(body: IO[bytes], host: str, limit: int) -> Iterator[bytes]:
    import http.client

    read = 0
    try:
        while line := body.readline(MAX_LINE_LENGTH + 1):
            read += len(line)
            if len(line) > MAX_LINE_LENGTH or read > limit:
                raise ModelError(f"{host} sends more than a reply can need.", _CHECK)
            yield line.rstrip(b"\r\n")
    except TimeoutError as error:
        raise ModelError(f"{host} fell silent in the middle of its reply.", _LOOK) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ModelError(f"The connection to {host} broke off.", _LOOK) from error
