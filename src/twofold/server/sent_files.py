"""Files that were sent to be added later, as OpenAI's clients do: each token sees its own alone."""

import re
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

import msgspec

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import NotFoundError
from twofold.server.errors import ProblemError, refused
from twofold.server.uploads import SentFile, pieces_of
from twofold.stores.local.durable import make_folder, write_durably

FILES_PER_TOKEN = 1_000
_ID = re.compile(r"file-[0-9a-f]{24}")
_RECORD, _DATA = "record.json", "data"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as it was sent: its name for people, its size in bytes, when it came, in seconds since 1970, and whose."""

    id: str
    filename: str
    bytes: int
    created_at: int
    purpose: str
    owner: str


class SentFiles:
    """The files of one server, in a folder each. Ids are checked before they are part of a path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changing = threading.Lock()

    def keep(self, file: SentFile, purpose: str, owner: str) -> FileRecord:
        """Keep a file; durable when it returns. Raises ProblemError (429) for one too many, StorageFullError."""
        with self._changing:
            if len(self.all(owner)) >= FILES_PER_TOKEN:
                raise _one_too_many()
            identity = f"file-{secrets.token_hex(12)}"
            folder = self._folder / identity
            make_folder(folder)
            try:
                write_durably(folder / _DATA, pieces_of(file))
                size = (folder / _DATA).stat().st_size
                record = FileRecord(identity, file.name, size, int(time.time()), purpose, owner)
                write_durably(folder / _RECORD, [msgspec.json.encode(record)])
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        return record

    def all(self, owner: str) -> Sequence[FileRecord]:
        """List a caller's files, the newest first."""
        found = [self._read(path.name) for path in self._folder.glob("file-*")] if self._folder.is_dir() else []
        own = [one for one in found if one is not None and one.owner == owner]
        return sorted(own, key=lambda one: (-one.created_at, one.id))

    def named(self, identity: str, owner: str) -> FileRecord:
        """Return a file of a caller's own. Raises NotFoundError."""
        record = self._read(identity)
        if record is None or record.owner != owner:
            raise NotFoundError(f"There is no file {identity[:40]!r}.", "`client.files.list()` shows those there are.")
        return record

    def data_of(self, record: FileRecord) -> Path:
        """Return where a file's bytes lie."""
        return self._folder / record.id / _DATA

    def delete(self, identity: str, owner: str) -> None:
        """Delete a file of a caller's own; documents that were made from it stay. Raises NotFoundError."""
        record = self.named(identity, owner)
        shutil.rmtree(self._folder / record.id, ignore_errors=True)

    def _read(self, identity: str) -> FileRecord | None:
        if _ID.fullmatch(identity):
            with suppress(OSError, msgspec.MsgspecError):
                return msgspec.json.decode((self._folder / identity / _RECORD).read_bytes(), type=FileRecord)
        return None


def _one_too_many() -> ProblemError:
    return refused(
        HTTPStatus.TOO_MANY_REQUESTS, f"A token keeps at most {FILES_PER_TOKEN:,} files.", "Delete some of them."
    )
