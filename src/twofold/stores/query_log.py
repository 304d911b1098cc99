"""The questions asked of an index, kept on this machine alone: one JSON object a line, in two files that take turns.

A log lies in the user's home folder and not in the index, so an index can be given to somebody else without the
questions asked of it. This module knows how entries are kept, not what a search is.
"""

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import msgspec

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import StoreError, TwofoldError
from twofold.domain.warning import StageWarning
from twofold.stores.local.durable import make_folder, refusal
from twofold.system.files import lock, open_plain

FOLDER = "query-logs"
BYTES_A_MEGABYTE = 1_000_000
_SUFFIX = ".jsonl"
_OLDER = ".older.jsonl"

Kind = Literal["search", "ask"]


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """One question and what came of it.

    `at` is the time in UTC, in ISO 8601. `hits` are the ids of the passages shown, best first, at most 100.
    `retrieved`, `after_filter` and `returned` count passages; `timings_ms` gives each stage and `total`. `refused` is
    None for a search. `error` is the type of the error that ended it; empty where it was answered.
    """

    at: str
    kind: Kind
    question: str
    mode: str = ""
    profile: str = ""
    hits: tuple[str, ...] = ()
    retrieved: int = 0
    after_filter: int = 0
    returned: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    p_answerable: float | None = None
    refused: bool | None = None
    cached: bool = False
    warnings: tuple[StageWarning, ...] = ()
    error: str = ""


class QueryLog:
    """The log of one index. Several threads and processes may write to it at the same time.

    Half of `megabytes` is for the newest entries; when it is full it becomes the older half, and the older half that
    was there before is deleted.
    """

    def __init__(self, home: Path, index_folder: Path, megabytes: int) -> None:
        name = blake2b(os.fsencode(index_folder), digest_size=8).hexdigest()
        self._current = home / FOLDER / (name + _SUFFIX)
        self._older = home / FOLDER / (name + _OLDER)
        self._half = megabytes * BYTES_A_MEGABYTE // 2

    def append(self, entry: LoggedQuery) -> None:
        """Add one entry. Raises StorageFullError or StoreError; then the entry is not there, and no part of it."""
        line = msgspec.json.encode(entry) + b"\n"
        make_folder(self._current.parent)
        try:
            while not self._appended(line):
                pass  # another process has put the file aside since it was opened
        except OSError as error:
            raise refusal(error, self._current.name) from error

    def entries(self) -> Iterator[LoggedQuery]:
        """Yield the entries, oldest first. A line that is no entry is passed over. Raises StoreError."""
        for path in (self._older, self._current):
            try:
                with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as lines:
                    for line in lines:
                        try:
                            yield msgspec.json.decode(line, type=LoggedQuery)
                        except msgspec.MsgspecError:
                            continue
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unreadable(error) from error

    def clear(self) -> None:
        """Delete all entries. Raises StoreError."""
        try:
            for path in (self._older, self._current):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise refusal(error, self._current.name) from error

    def _appended(self, line: bytes) -> bool:
        """Write a line unless the file is not the current one any more; say whether it was written."""
        handle = open_plain(self._current, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            lock(handle)
            before = os.fstat(handle)
            if not self._is_current(before):
                return False
            try:
                if os.write(handle, line) < len(line):
                    raise OSError(errno.ENOSPC, "no room")  # noqa: TRY301  # the same end as where the system says so
            except OSError:
                os.ftruncate(handle, before.st_size)
                raise
            if before.st_size + len(line) > self._half:
                self._current.replace(self._older)
            return True
        finally:
            os.close(handle)

    def _is_current(self, opened: os.stat_result) -> bool:
        try:
            now = self._current.stat()
        except FileNotFoundError:
            return False
        return (now.st_dev, now.st_ino) == (opened.st_dev, opened.st_ino)


def _unreadable(error: OSError) -> TwofoldError:
    return StoreError(f"The query log cannot be read: {error.strerror}.", "Check the permissions of the home folder.")
