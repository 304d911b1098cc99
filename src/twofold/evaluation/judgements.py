"""Judgements as they are collected: a file that grows by a line each, and whose last lines can be taken back."""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Final, NamedTuple, Self

from twofold.domain.errors import InvalidInputError, StorageFullError, TwofoldError, WriterBusyError
from twofold.evaluation.qrels import malformed, objects
from twofold.system.files import BINARY

GRADES: Final = (0, 1, 2, 3)


class Pooled(NamedTuple):
    """One document to judge, by the passage of it that was found best."""

    question: str
    document: str
    passage: str
    text: str
    heading: tuple[str, ...] = ()
    place: str = ""


class JudgementFile:
    """A file of judgements, `{"query", "relevant": {document: grade}, "passage"}` a line, as `twofold eval` reads it.

    Each is on the disk when `add` returns. A last line without an end, as a power cut leaves one, is dropped when the
    file is opened. Raises ReadError with the number of a line that is no judgement, InvalidInputError when the file
    cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | BINARY, 0o644)
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            self._end = self._whole_lines()
            self._grades = dict(_read(path))
        except BaseException:
            os.close(self._file)
            raise
        self._ends: list[tuple[int, tuple[str, str]]] = []

    @property
    def grades(self) -> Mapping[tuple[str, str], int]:
        """The grade of each question and document that was judged, by both; those of earlier times as well."""
        return self._grades

    @property
    def added(self) -> int:
        """How many were added since the file was opened, and not taken back."""
        return len(self._ends)

    def add(self, one: Pooled, grade: int) -> None:
        """Append one judgement, durable when it returns. Raises StorageFullError or WriterBusyError."""
        self._check_unchanged()
        record = {"query": one.question, "relevant": {one.document: grade}, "passage": one.passage}
        line = (json.dumps(record) + "\n").encode("ascii")
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, "no room")  # noqa: TRY301  # the same end as where the system says so
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise _unwritable(self._path, error) from error
        self._ends.append((self._end, (one.question, one.document)))
        self._grades[one.question, one.document] = grade
        self._end += len(line)

    def take_back(self) -> None:
        """Remove the judgement that was added last. Raises WriterBusyError when another process wrote meanwhile."""
        self._check_unchanged()
        self._end, judged = self._ends.pop()
        os.ftruncate(self._file, self._end)
        os.fsync(self._file)
        del self._grades[judged]

    def close(self) -> None:
        """Close. Calling it twice does nothing more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _whole_lines(self) -> int:
        """Drop what stands behind the last end of a line, and give where that is."""
        content = self._path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            os.ftruncate(self._file, end)
        return end

    def _check_unchanged(self) -> None:
        if os.fstat(self._file).st_size != self._end:
            raise WriterBusyError(f"Something else has written to {self._path}.", "Judge into a file of its own.")


def shuffled(pool: Sequence[Pooled], question: str) -> list[Pooled]:
    """Put a question's documents in an order that says nothing of their ranks, the same whenever it is asked again."""
    drawn = sorted(pool, key=lambda one: one.document)
    Random(question).shuffle(drawn)  # noqa: S311  # a lot, no secret
    return drawn


def _read(path: Path) -> list[tuple[tuple[str, str], int]]:
    found = []
    for number, record in objects(path):
        query, relevant = record.get("query"), record.get("relevant")
        if not isinstance(query, str) or not isinstance(relevant, dict):
            raise malformed(path, number, "it is no judgement of `twofold judge`")
        for document, grade in relevant.items():
            if isinstance(grade, bool) or not isinstance(grade, int):
                raise malformed(path, number, f"the grade of {document!r} is not a whole number")
            found.append(((query, document), grade))
    return found


def _unwritable(path: Path, error: OSError) -> TwofoldError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFullError(f"There is no room to write {path}.", "Make room; what was judged before is kept.")
    return InvalidInputError(f"{path} cannot be written: {error.strerror}.", "Name another file with --out.")
