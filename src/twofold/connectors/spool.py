"""What was fetched while a place was listed, on disk until it is read: no page is asked for twice."""

import shutil
import tempfile
import weakref
from pathlib import Path

from twofold.domain.errors import ReadError
from twofold.ingest.document import content_hash


class Spool:
    """Bytes by name, in a folder of its own that goes with it."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="twofold-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def put(self, name: str, data: bytes) -> None:
        """Keep what was fetched."""
        self._path(name).write_bytes(data)

    def has(self, name: str) -> bool:
        """Return whether something of that name is kept."""
        return self._path(name).is_file()

    def take(self, name: str) -> bytes:
        """Return it. Raises ReadError where it is not there."""
        try:
            return self._path(name).read_bytes()
        except OSError as error:
            raise ReadError("the fetched copy is gone", "Sync again.", "unreadable") from error

    def _path(self, name: str) -> Path:
        return self._folder / content_hash(name.encode())
