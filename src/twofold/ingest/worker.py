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
from twofold.ingest.readers.registry import unpacked as gunzipped
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
        source = gunzipped(source)
    media_type = media_type_of(source) if reader is None else reader.media_type
    reader = reader or reader_by_type(own, media_type)
    return media_type, read_as(source, media_type) if reader is None else read_custom(reader, source)


def serve_with(own: Sequence[Mapping[str, Any]]) -> None:
    """Serve with readers of the user's own, as `packed` wrote them: imported before the process limits itself."""
    serve(partial(read_any, own=unpacked(own)))


def serve(read_file: ReadFile = read_any) -> None:
    """Answer requests on the standard input until it ends. For processes started by `ReaderPool` only."""
    requests, replies = _take_pipes()
    limit_process(_OPEN_FILES)
    sys.addaudithook(_refuse)
    replies.write(READY)
    replies.flush()
    for count in range(1, _FILES_IN_A_LIFE + 1):
        lengths = requests.read(LENGTHS.size)
        if len(lengths) < LENGTHS.size:
            return
        head_size, body_size = LENGTHS.unpack(lengths)
        source = unpack_source(requests.read(head_size), requests.read(body_size), partial(_begin_picture, replies))
        head, body, is_last = _answer(read_file, source, last=count == _FILES_IN_A_LIFE)
        replies.write(head)
        replies.write(body)
        replies.flush()
        if is_last:
            return


def _answer(read_file: ReadFile, source: Source, *, last: bool) -> tuple[bytes, bytes, bool]:
    _limit_file(source.limits)
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


def _begin_picture(replies: BinaryIO, number: int, count: int) -> None:
    """Report to the parent which picture is read now, and allow what reading one may cost."""
    replies.writelines(pack_page(number, count))
    replies.flush()
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


def _limit_file(limits: Limits) -> None:
    """Limit memory in all, and processor time from now on.

    Where pictures can be read, the process may raise its limit on memory for one, and keeps it with the models loaded.
    """
    if not engine.installed():
        limit_memory(limits.memory_bytes)
    elif not engine.is_loaded():
        limit_memory(max(limits.memory_bytes, PICTURE_MEMORY_BYTES), limits.memory_bytes)
    limit_cpu(limits.cpu_seconds)


if __name__ == "__main__":
    serve()
