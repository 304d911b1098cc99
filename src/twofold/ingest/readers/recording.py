"""Recordings where nothing is installed that hears what is said in them: reported, and what to do."""

from twofold.domain.errors import ReadError
from twofold.ingest.readers.types import Extract, Source

NO_READER = "a recording; what is said in it can only be read by speech recognition, in English"
HINT = "Run `pip install 'twofold[voice]'` and `twofold models pull whisper-tiny.en`, and sync again."


def read_no_recording(_: Source) -> Extract:
    """Raise ReadError, of kind `no-text-layer`. The reader of recordings, where there is one, comes first."""
    raise ReadError(NO_READER, HINT, "no-text-layer")
