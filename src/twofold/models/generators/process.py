"""A process of our own that serves a model on loopback: started when needed, and again where it died, never left over.

to its standard input:     {"key": "…", …}                                a line of JSON; the end of it means: end
from its standard output:  {"address": "http://127.0.0.1:PORT"}           a line of JSON, once it can be asked
                           {"error": "why not"}                           or this
"""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import IO, TYPE_CHECKING, Any

import msgspec

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.system.pipes import read_some

if TYPE_CHECKING:
    import subprocess

MAX_LINE_BYTES = 65_536  # bytes of the line it says
SECONDS_TO_END = 2.0
SECONDS_TO_DIE = 0.2
READ_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start it: the command, and its message besides the key. `seconds` is how long it may take.

    `states` is the folder that it keeps states in, none where it is empty.
    """

    name: str
    command: Sequence[str]
    told: Mapping[str, str | int]
    seconds: float = 120.0
    states: str = ""


class _StartReply(msgspec.Struct, frozen=True):
    address: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """One that can be asked: where, and with what key, which keeps others on this machine out."""

    address: str
    process: "subprocess.Popen[bytes]" = field(repr=False)
    key: str = field(repr=False)
    states: str = ""


class LocalServer:
    """Keeps one server running for as long as it is asked for. Safe to use from several threads."""

    def __init__(self, prepare: Callable[[], Launch]) -> None:
        self._prepare = prepare
        self._turn = threading.Lock()
        self._running: list[Running] = []

    def running(self) -> Running:
        """Return a server that runs, starting it where none does. Raises ModelError."""
        with self._turn:
            if self._running and self._running[0].process.poll() is not None:
                end(self._running.pop())
            if not self._running:
                self._running.append(start(self._prepare()))
            return self._running[0]

    def close(self) -> None:
        """End the server, if one runs. Calling it twice does nothing more."""
        with self._turn:
            while self._running:
                end(self._running.pop())


def start(launch: Launch) -> Running:
    """Start a server and wait until it can be asked. Raises ModelError with the reason that it gave."""
    import secrets
    import subprocess
    import tempfile

    key = secrets.token_urlsafe(32)
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603 - our own command
            list(launch.command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
        )
        running = Running("", process, key)
        try:
            said = _hear(running, launch)
        except BaseException:
            end(running)
            raise
        if said.address:
            return Running(said.address, process, key, launch.states)
        end(running)
        reason = said.error.rstrip(".") or _last_line(complaints) or f"it ended with status {process.returncode}"
    raise ModelError(f"{launch.name} cannot be run: {reason}.", "Try a smaller model, or look at the memory left.")


def await_death(running: Running) -> None:
    """Return a server that has just failed a moment to be dead: its connections end before it counts as ended."""
    import subprocess

    with suppress(subprocess.TimeoutExpired):
        running.process.wait(SECONDS_TO_DIE)


def end(running: Running) -> None:
    """End a server: it is asked to, and killed if it does not."""
    import subprocess

    process = running.process
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _hear(running: Running, launch: Launch) -> _StartReply:
    """Send it what to run, and return its reply, empty for none."""
    assert running.process.stdin is not None  # noqa: S101 - asked for as a pipe
    assert running.process.stdout is not None  # noqa: S101 - asked for as a pipe
    told = {**launch.told, "key": running.key}
    with suppress(BrokenPipeError):
        running.process.stdin.write(msgspec.json.encode(told) + b"\n")
        running.process.stdin.flush()
    line = _line(running.process.stdout, launch)
    try:
        return msgspec.json.decode(line, type=_StartReply) if line else _StartReply()
    except msgspec.DecodeError as error:
        raise ModelError(f"{launch.name} cannot be run: its process sent an unreadable message.") from error


def _line(said: IO[bytes], launch: Launch) -> bytes:
    deadline = time.monotonic() + launch.seconds
    line = b""
    while b"\n" not in line and len(line) < MAX_LINE_BYTES:
        try:
            piece = read_some(said.fileno(), READ_BYTES, deadline)
        except TimeoutError:
            reason = f"{launch.name} was not ready after {launch.seconds:g} s."
            raise ModelError(reason, "Try a smaller model.") from None
        if not piece:
            return b""
        line += piece
    return line.partition(b"\n")[0]


def _last_line(complaints: IO[Any]) -> str:
    complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, complaints.tell() - READ_BYTES))
    lines = [line.strip() for line in complaints.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300].rstrip(".") if lines else ""
