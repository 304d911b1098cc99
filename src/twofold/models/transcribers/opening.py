"""The speech model: fetched on first use, loaded once, used by one caller at a time."""

from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from twofold.models.catalog.entries import WHISPER
from twofold.models.catalog.files import folder_of, is_present, pull
from twofold.models.catalog.progress import Report, ignore
from twofold.models.transcribers.wave_file import read_wav
from twofold.models.transcribers.whisper import RUNTIME, Segment, Transcriber

if TYPE_CHECKING:
    from collections.abc import Sequence

LANGUAGE: Final = "en"
"""The language that the model knows; other speech becomes English words that were not said."""


class Speech:
    """Reads recordings with the catalog's model, which is fetched and loaded when it is first needed."""

    def __init__(self, cache: Path, *, offline: bool = False, progress: Report = ignore) -> None:
        self._cache, self._offline, self._progress = cache, offline, progress
        self._lock = Lock()
        self._model: Transcriber | None = None

    @property
    def ready(self) -> bool:
        """Whether it can read at once: the library is installed, and the model is there."""
        return find_spec(RUNTIME) is not None and is_present(WHISPER, self._cache)

    def read(self, data: bytes, max_seconds: float) -> "Sequence[Segment]":
        """Return what a WAV file says, in order.

        Raises InvalidInputError for what is no WAV file or longer than `max_seconds`, MissingExtraError, ModelError.
        """
        sound = read_wav(data, max_seconds)
        with self._lock:
            if self._model is None:
                self._model = self._opened()
            return self._model.transcribe(sound)

    def _opened(self) -> Transcriber:
        Transcriber.check_installed()
        if not is_present(WHISPER, self._cache):
            pull(WHISPER, self._cache, offline=self._offline, progress=self._progress)
        return Transcriber(folder_of(WHISPER, self._cache))


def text_of(segments: "Sequence[Segment]") -> str:
    """Return all that is said as one line."""
    return " ".join(one.text for one in segments)
