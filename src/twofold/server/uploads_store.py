"""PDF, image and WAV files that were sent, kept to be shown and heard, found by index and hash of the bytes."""

import re
import shutil
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import ReadError
from twofold.domain.types import Document, DocumentInfo
from twofold.ingest.archive import unpack
from twofold.ingest.document import content_hash
from twofold.ingest.media_types import PDF, PICTURES, WAV
from twofold.ingest.readers.types import Limits, Source
from twofold.server.auth import INDEX_NAME
from twofold.stores.local.durable import make_folder, write_durably

MAX_SIZE = 100_000_000
DRAWN = frozenset({PDF, *PICTURES})
"""The media types whose pages can be drawn."""
KEPT = frozenset({*DRAWN, WAV})
_LIMITS = Limits(unpacked_bytes=MAX_SIZE)
_HASH = re.compile(r"[0-9a-f]{32}")


class UploadsStore:
    """The files of one server. Names are checked here again, and are never anything but a name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changing = threading.Lock()

    def keep(self, index: str, document: Document, data: bytes) -> None:
        """Keep a PDF, an image or a recording; anything else needs no original."""
        if document.media_type in KEPT:
            path = self._path(index, content_hash(data))
            with self._changing:
                make_folder(path.parent)
                write_durably(path, [data])

    def read(self, index: str, document: Document) -> bytes | None:
        """Return the file that a document was read from, or None: it is of another format, gone, or changed.

        One that was synced is read where it lies; its bytes must be those that were indexed. A packed one is unpacked.
        """
        if document.media_type not in KEPT or not _HASH.fullmatch(document.content_hash):
            return None
        for path in (self._path(index, document.content_hash), Path(document.source)):
            with suppress(OSError, ValueError, ReadError):
                if path.is_file() and path.stat().st_size <= MAX_SIZE:
                    data = path.read_bytes()
                    if content_hash(data) == document.content_hash:
                        return unpack(Source(document.source, data, _LIMITS)).data
        return None

    def forget(self, index: str, document: Document, others: Callable[[], Iterable[DocumentInfo]]) -> None:
        """Delete what was kept of a document that is gone, unless another one was read from the same bytes.

        `others` gives the documents that the index still has. A document is added before its file is kept, so that one
        that comes meanwhile either is among the others or has its file kept after this.
        """
        if document.media_type not in KEPT or not _HASH.fullmatch(document.content_hash):
            return
        path = self._path(index, document.content_hash)
        with self._changing:
            if path.exists() and all(one.content_hash != document.content_hash for one in others()):
                path.unlink(missing_ok=True)

    def forget_index(self, index: str) -> None:
        """Delete what was kept of an index that is gone."""
        shutil.rmtree(self._path(index, "0" * 32).parent, ignore_errors=True)

    def _path(self, index: str, hashed: str) -> Path:
        if not (INDEX_NAME.fullmatch(index) and _HASH.fullmatch(hashed)):
            message = "these are no names"
            raise ValueError(message)
        return self._folder / index / f"{hashed}.pdf"
