"""Recordings as documents: what is said in a WAV file, in passages of half a minute whose places are their times.

It runs in the reading process, which has neither network nor much time: the model must be there already, and each half
minute of sound is announced as a slow page is, so that it gets time and memory of its own.
"""

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import Final

from twofold.domain.errors import InvalidInputError, ModelError, ReadError
from twofold.ingest import media_types as kinds
from twofold.ingest.readers.custom import CustomReader
from twofold.ingest.readers.recording import HINT, NO_READER
from twofold.ingest.readers.subtitles import Cue, spoken
from twofold.ingest.readers.types import Extract, OnPage, Source
from twofold.models.catalog.entries import WHISPER
from twofold.models.catalog.files import folder_of, is_present
from twofold.models.transcribers.mel import SECONDS
from twofold.models.transcribers.wave_file import read_wav, seconds_of
from twofold.models.transcribers.whisper import RUNTIME, Transcriber

SUFFIX: Final = ".wav"
TRANSCRIBED_BY: Final = f"{WHISPER.name}, English only"
"""The document's field of that name, since other speech becomes English words that nobody said."""


def recording_readers(cache_folder: Path) -> tuple[CustomReader, ...]:
    """Return what reads recordings with the model in `cache_folder`; nothing where its library is not installed."""
    if find_spec(RUNTIME) is None:
        return ()
    return (CustomReader(partial(read_recording, str(cache_folder)), kinds.WAV, (SUFFIX,), is_slow=True),)


def read_recording(cache_folder: str, source: Source) -> Extract:
    """Read a WAV file. Metadata: `seconds` and `transcribed_by`.

    Raises ReadError: `no-text-layer` where the model is missing, `empty` where nobody speaks, `malformed`.
    """
    if not is_present(WHISPER, Path(cache_folder)):
        raise ReadError(NO_READER, HINT, "no-text-layer")
    if source.on_page is None:
        raise ReadError("a recording under another name", f"Give it the suffix {SUFFIX}.", "no-text-layer")
    try:
        seconds = seconds_of(source.data)
        announce = _announcing(source.on_page, seconds)
        announce(0.0)
        segments = _transcriber(cache_folder).transcribe(read_wav(source.data), announce)
    except InvalidInputError as error:
        raise ReadError(error.message, error.hint) from error
    except ModelError as error:
        raise ReadError(error.message, error.hint, "unreadable") from error
    if not segments:
        raise ReadError("the recording contains no speech", "Leave it out with .twofoldignore.", "empty")
    builder = spoken(Cue(one.start, one.text) for one in segments)
    return builder.extract("", {"seconds": round(seconds), "transcribed_by": TRANSCRIBED_BY})


def _announcing(on_page: OnPage, seconds: float) -> Callable[[float], None]:
    """Return what is called with the second that is read from, and announces each half minute once."""
    parts, announced = max(1, ceil(seconds / SECONDS)), 0

    def announce(at: float) -> None:
        nonlocal announced
        part = min(int(at // SECONDS) + 1, parts)
        if part > announced:
            announced = part
            on_page(part, parts)

    return announce


@cache
def _transcriber(cache_folder: str) -> Transcriber:
    return Transcriber(folder_of(WHISPER, Path(cache_folder)))
