"""Reading files in processes of their own: a file that crashes, hangs or swells costs itself and nothing else."""

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from time import monotonic
from types import TracebackType
from typing import Self

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError, TwofoldError
from twofold.domain.types import Document
from twofold.ingest.document import content_hash, document_from
from twofold.ingest.ipc import LENGTHS, MAX_HEAD_BYTES, READY, Reply, WireError, pack_source, unpack_reply
from twofold.ingest.readers.custom import CustomReader, packed, reader_by_suffix
from twofold.ingest.readers.ocr import engine
from twofold.ingest.readers.types import MAX_PICTURES, Source
from twofold.system.limits import why_ended
from twofold.system.pipes import read_some, write_all
from twofold.system.processes import apart, bare_environment

_BOOT = """import json, sys
paths, own = map(json.loads, sys.argv[1:])
sys.path.extend(paths)
from twofold.ingest.worker import serve_with
serve_with(own)"""
_GRACE_SECONDS = 5.0
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be read, and why."""

    source: str
    error: ReadError


Outcome = Document | Failed

OnPicture = Callable[[str, int, int], None]
"""Called when a picture of a file is read: the file's name, which of its pictures from 1, and how many it has."""


def ignore_picture(_name: str, _number: int, _count: int) -> None:
    """Report to nobody."""


def worker_command(own: Sequence[CustomReader] = ()) -> tuple[str, ...]:
    """Return the command of a reading process: a clean interpreter that finds the same packages as this one.

    `own` are readers of the user's own. Raises InvalidInputError for one that another process cannot import.
    """
    paths = json.dumps([os.path.abspath(path) for path in sys.path if path])  # noqa: PTH100 entries may be zip files
    return (sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, paths, json.dumps(packed(own)))


class ReaderPool:
    """Keeps `workers` reading processes. `wall_seconds` is how long one file may take, waiting included.

    A page that is a picture may take as long again; `on_picture` is called before each. `own` are readers of the user's
    own, which come before those that are built in. Use it in a `with` statement. It serves one `read_all` at a time and
    is not for several threads.
    """

    def __init__(
        self,
        workers: int = 1,
        wall_seconds: float = 90.0,
        command: Sequence[str] | None = None,
        own: Sequence[CustomReader] = (),
        on_picture: OnPicture = ignore_picture,
    ) -> None:
        self._on_picture = on_picture
        self._slow = [one for one in own if one.is_slow]
        self._workers = max(1, workers)
        self._wall_seconds = wall_seconds
        self._command = tuple(command or worker_command(own))
        self._free: list[_Process] = []

    def read_all(self, sources: Iterable[Source]) -> Iterator[Outcome]:
        """Read files: one outcome for each, in the order given. The next files are read while you use an outcome.

        Raises TwofoldError if no reading process can be started at all.
        """
        flights: deque[_Flight] = deque()
        try:
            for source in sources:
                done = self._collect(flights.popleft()) if len(flights) == self._workers else None
                flights.append(self._submit(source))
                if done is not None:
                    yield done
            while flights:
                yield self._collect(flights.popleft())
        finally:
            for flight in flights:
                if flight.process is not None:
                    flight.process.kill()

    def close(self) -> None:
        """End the processes. Calling it twice does nothing more."""
        while self._free:
            self._free.pop().kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _submit(self, source: Source) -> "_Flight":
        most = source.limits.file_bytes
        if len(source.data) > most:
            refused = ReadError(f"the file is larger than the {most:,} bytes allowed", "Split it.", "limit")
            return _Flight(source, "", None, 0.0, refused)
        may_be_slow = engine.installed() or reader_by_suffix(self._slow, source) is not None
        on_page = partial(self._on_picture, source.name) if may_be_slow else None
        head, body = pack_source(replace(source, on_page=on_page))
        light = Source(source.name, b"", source.limits)
        hashed = content_hash(source.data)
        while self._free:  # one that died while it was idle is no fault of this file
            process = self._free.pop()
            deadline = monotonic() + self._wall_seconds
            if process.send(head, body, deadline):
                return _Flight(light, hashed, process, deadline)
            process.kill()
        process = _started(self._command)
        deadline = monotonic() + self._wall_seconds
        process.send(head, body, deadline)  # if this fails, so does receiving, which says why
        return _Flight(light, hashed, process, deadline)

    def _collect(self, flight: "_Flight") -> Outcome:
        if flight.process is None:
            return Failed(flight.source.name, flight.refused)
        try:
            reply = self._answer(flight, flight.process)
        except (_GoneError, TimeoutError, WireError) as error:
            return Failed(flight.source.name, self._explain(flight.process, flight.source, error))
        if reply.last:
            flight.process.kill()
        else:
            self._free.append(flight.process)
        if reply.extract is None:
            return Failed(flight.source.name, _unnamed(reply.error or flight.refused, flight.source.name))
        return document_from(flight.source.name, reply.extract, reply.media_type, flight.hashed)

    def _answer(self, flight: "_Flight", process: "_Process") -> Reply:
        """Wait for an answer; each picture that is begun gives the file as much time again."""
        deadline, last = flight.deadline, 0
        while (reply := process.receive(deadline, flight.source.limits.unpacked_bytes)).page:
            if not last < reply.page <= reply.pages <= MAX_PICTURES:
                raise WireError("it reads more pictures than it may")
            last = reply.page
            deadline = monotonic() + self._wall_seconds
            try:
                self._on_picture(flight.source.name, reply.page, reply.pages)
            except BaseException:  # the caller may stop all of it, as a cancelled job does
                process.kill()
                raise
        return reply

    def _explain(self, process: "_Process", source: Source, error: Exception) -> ReadError:
        status = process.wait() if isinstance(error, _GoneError) else process.kill()
        if isinstance(error, TimeoutError):
            return ReadError(f"reading it takes more than {self._wall_seconds:g} s", "Split the file.", "limit")
        if isinstance(error, WireError):
            return ReadError(f"its reader gave no valid answer: {error}", "Leave the file out.", "crashed")
        cause = why_ended(status)
        if cause == "cpu":
            seconds = source.limits.cpu_seconds
            return ReadError(f"reading it takes more than {seconds} s of processor time", "Split the file.", "limit")
        if cause == "killed":
            return ReadError("the system ended its reader, most likely for memory", "Split the file.", "limit")
        ended = f"signal {-status}" if status < 0 else f"status {status}"
        return ReadError(f"its reader crashed ({ended})", "Convert the file to another format.", "crashed")


_NOT_REFUSED = ReadError("")


def _unnamed(error: ReadError, name: str) -> ReadError:
    """Leave a file's name out of its error: `Failed.source` says it."""
    return ReadError(error.message.removeprefix(f"{name}: "), error.hint, error.kind)


@dataclass(frozen=True, slots=True)
class _Flight:
    """A file on its way: which process has it, or why none has."""

    source: Source
    hashed: str
    process: "_Process | None"
    deadline: float
    refused: ReadError = _NOT_REFUSED


class _GoneError(Exception):
    """The process ended before it answered."""


def _started(command: Sequence[str]) -> "_Process":
    """Start a process and wait until it is ready, so that its start is not counted against a file."""
    hint = "Check that there is memory to spare, and that twofold is installed whole."
    try:
        process = _Process(command)
    except OSError as error:
        raise TwofoldError(f"no reading process can be started: {error.strerror}.", hint) from error
    if not process.is_ready():
        raise TwofoldError(f"a reading process exited at start (status {process.kill()}).", hint)
    return process


class _Process:
    """One reading process and the pipes to it, which are never waited on for ever."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = Popen(  # noqa: S603 our own interpreter
            command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd="/", env=bare_environment(), **apart()
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError("no pipes")
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()

    def is_ready(self) -> bool:
        """Wait for the first words of a process that has started well."""
        try:
            return self._read(len(READY), monotonic() + _START_SECONDS) == READY
        except (_GoneError, TimeoutError):
            return False

    def send(self, head: bytes, body: bytes, deadline: float) -> bool:
        """Write a request; False if the process does not take it."""
        try:
            for part in (head, body):
                write_all(self._input, part, deadline)
        except (BrokenPipeError, TimeoutError):
            return False
        return True

    def receive(self, deadline: float, most_text: int) -> Reply:
        """Read a reply. Raises TimeoutError, WireError, or _GoneError if the process ends before it is whole."""
        head_size, body_size = LENGTHS.unpack(self._read(LENGTHS.size, deadline))
        if head_size > MAX_HEAD_BYTES or body_size > most_text:
            raise WireError("it is too long")
        deadline = max(deadline, monotonic() + _GRACE_SECONDS)  # the answer is there; it only has to be carried over
        head = self._read(head_size, deadline)
        return unpack_reply(head, self._read(body_size, deadline))

    def kill(self) -> int:
        """End the process at once and give its status."""
        self._process.kill()
        return self.wait()

    def wait(self) -> int:
        """Close the pipes, wait for the process to end and give its status: negative for a signal."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            return self._process.wait(_GRACE_SECONDS)
        except TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _read(self, size: int, deadline: float) -> bytes:
        held = bytearray()
        while len(held) < size:
            piece = read_some(self._output, size - len(held), deadline)
            if not piece:
                raise _GoneError
            held += piece
        return bytes(held)
