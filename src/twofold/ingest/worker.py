"""The reading process: limits itself, then reads files that its parent sends until the parent closes the pipe.

It has no way to the network or to other programs from Python, writes no files, and inherits two pipes and nothing else.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, Final

from twofold.domain.errors import ReadError
from twofold.ingest.ipc import LENGTHS, READY, frame, pack_error, pack_extract, pack_page, unpack_source
from twofold.ingest.readers.custom import CustomReader, read_custom, reader_by_suffix, reader_by_type, unpacked
from twofold.ingest.readers.ocr import engine
from twofold.ingest.readers.registry import check_size, media_type_of, read_as
from twofold.ingest.readers.registry import unpacked as unpacked_source
from twofold.ingest.readers.types import Extract, Limits, Source
from twofold.system.limits import limit_cpu, limit_memory, limit_process, raise_memory

_OPEN_FILES = 64
_FILES_IN_A_LIFE = 500  # then the process is replaced, and with it what parsers have leaked
PICTURE_MEMORY_BYTES = 4 << 30
"""Address space for a process that reads pictures; it takes up about a quarter of it."""
PICTURE_SECONDS = 60
"""Processor time for one picture; most take two to ten seconds."""
_FORBIDDEN: Final = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "pty.",
    "urllib.Request",
    "ftplib.",
    "smtplib.",
    "http.client.",
)

ReadFile = Callable[[Source], tuple[str, Extract]]
"""Reads a file: its media type and what is in it. Raises ReadError."""


def read_any(source: Source, own: Sequence[CustomReader] = ()) -> tuple[str, Extract]:
    """Read a file of any supported format; readers of the user's `own` come before those that are built in."""
    check_size(source)
    reader = reader_by_suffix(own, source)
    if reader is None:
        source = unpacked_source(source)
        reader = reader_by_suffix(own, source)
    media_type = media_type_of(source) if reader is None else reader.media_type
    reader = reader or reader_by_type(own, media_type)
    return media_type, read_as(source, media_type) if reader is None else read_custom(reader, source)


def serve_with(own: Sequence[Mapping[str, Any]]) -> None:
    """Serve with readers of the user's own, as `packed` wrote them: imported before the process limits itself."""
    readers = unpacked(own)
    serve(partial(read_any, own=readers), reads_slowly=any(one.is_slow for one in readers))


def serve(read_file: ReadFile = read_any, *, reads_slowly: bool = False) -> None:
    """Answer requests on the standard input until it ends. For processes started by `ReaderPool` only.

    `reads_slowly` says that one of the user's readers may cost as much as a picture does.
    """
    requests, replies = _take_pipes()
    allowance = _Allowance(replies, may_grow=reads_slowly or engine.installed())
    limit_process(_OPEN_FILES)
    sys.addaudithook(_refuse)
    replies.write(READY)
    replies.flush()
    for count in range(1, _FILES_IN_A_LIFE + 1):
        lengths = requests.read(LENGTHS.size)
        if len(lengths) < LENGTHS.size:
            return
        head_size, body_size = LENGTHS.unpack(lengths)
        source = unpack_source(requests.read(head_size), requests.read(body_size), allowance.grow)
        allowance.begin_file(source.limits)
        head, body, is_last = _answer(read_file, source, last=count == _FILES_IN_A_LIFE)
        replies.write(head)
        replies.write(body)
        replies.flush()
        if is_last:
            return


def _answer(read_file: ReadFile, source: Source, *, last: bool) -> tuple[bytes, bytes, bool]:
    try:
        media_type, extract = read_file(source)
        return *pack_extract(media_type, extract, last=last), last
    except ReadError as error:
        return *pack_error(error, last=last), last
    except MemoryError:
        return *_out_of_memory(source.limits), True
    except Exception as error:  # noqa: BLE001 the door of the process: parsers of others may raise anything
        name = type(error).__name__
        failed = ReadError(f"its reader failed ({name})", "Convert the file to another format.", "crashed")
        return *pack_error(failed, last=True), True


class _Allowance:
    """What this process may use: for a file, and for a picture or another slow part of it."""

    def __init__(self, replies: BinaryIO, *, may_grow: bool) -> None:
        self._replies = replies
        self._may_grow = may_grow
        self._has_grown = False

    def begin_file(self, limits: Limits) -> None:
        """Limit memory in all, and processor time from now on.

        Where the process may grow it may raise its limit on memory for one part, and keeps it with the models loaded.
        """
        if not self._may_grow:
            limit_memory(limits.memory_bytes)
        elif not self._has_grown:
            limit_memory(max(limits.memory_bytes, PICTURE_MEMORY_BYTES), limits.memory_bytes)
        limit_cpu(limits.cpu_seconds)

    def grow(self, number: int, count: int) -> None:
        """Report to the parent which part is read now, and allow what reading one may cost."""
        self._has_grown = True
        self._replies.writelines(pack_page(number, count))
        self._replies.flush()
        raise_memory(PICTURE_MEMORY_BYTES)
        limit_cpu(PICTURE_SECONDS)


def _out_of_memory(limits: Limits) -> tuple[bytes, bytes]:
    mebibytes = limits.memory_bytes >> 20
    return frame(
        {
            "kind": "limit",
            "message": f"reading it takes more than {mebibytes} MiB of memory",
            "hint": "Split the file.",
            "last": True,
        },
        b"",
    )


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes to the parent for ourselves: what libraries print must not end up among the replies."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return requests, replies


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN) or (event == "open" and _writes(arguments[2])):
        raise PermissionError(f"{event} is not allowed while reading a document")


def _writes(flags: object) -> bool:
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) != 0


if __name__ == "__main__":
    serve()
