"""Whisper on this machine, by ctranslate2: English speech to sentences with their times; the extra `voice`.

The sound is read in windows of 30 seconds. Where a window is full the next one begins at the end of its last whole
segment, so that no sentence is cut. The same sound gives the same text: the most likely token is taken at each place.
"""

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.models.transcribers.mel import SECONDS, log_mel
from twofold.models.transcribers.wave_file import RATE, Samples

RUNTIME = "ctranslate2"
_START: Final = "<|startoftranscript|>"
_NO_SPEECH: Final = 0.6
_QUIET: Final = 1e-3  # the loudest sample of what is no sound at all
_LEAST_STEP: Final = 1.0  # seconds that a window moves on at least
_SPEECH: Final = 0.3  # of the loudness of the whole window
_MAX_TOKENS: Final = 224
_TIME_STEP: Final = 0.02
_SPECIAL = re.compile(r"<\|[^|]*\|>")


class Segment(NamedTuple):
    """What is said from one second of a recording to another."""

    start: float
    end: float
    text: str


class Transcriber:
    """A model that is loaded. One call at a time."""

    def __init__(self, folder: Path) -> None:
        self.check_installed()
        import ctranslate2
        from tokenizers import Tokenizer

        self._library: Any = ctranslate2
        try:
            self._tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._model: Any = ctranslate2.models.Whisper(
                str(folder), device="cpu", compute_type="int8", inter_threads=1, intra_threads=1
            )
        except Exception as error:
            raise ModelError(f"The speech model cannot be opened: {error}.", "Run `twofold models pull`.") from error
        self._first_time = self._number("<|notimestamps|>") + 1
        self._end = self._number("<|endoftext|>")

    def _number(self, token: str) -> int:
        found = self._tokens.token_to_id(token)
        if found is None:
            raise ModelError(f"The speech model has no token {token}.", "Run `twofold models pull`.")
        return found

    @staticmethod
    def check_installed() -> None:
        """Raise MissingExtraError where the library is not installed."""
        if find_spec(RUNTIME) is None:
            raise MissingExtraError(
                "Speech is read by ctranslate2, which is not installed.", "Run `pip install 'twofold[voice]'`."
            )

    def transcribe(self, sound: Samples, on_window: Callable[[float], None] = lambda _: None) -> tuple[Segment, ...]:
        """Return what is said, in order; nothing where nobody speaks. Raises ModelError.

        `on_window` is called before each window with the second at which it begins.
        """
        found: list[Segment] = []
        at, whole = 0.0, len(sound) / RATE
        while whole - at > 0.1:  # noqa: PLR2004  # less holds no word
            on_window(at)
            window = sound[int(at * RATE) : int((at + SECONDS) * RATE)]
            segments, step = self._window(window, is_last=at + SECONDS >= whole)
            found += [Segment(at + one.start, min(at + one.end, whole), one.text) for one in segments]
            at += max(_LEAST_STEP, step)
        return tuple(found)

    def _window(self, sound: Samples, *, is_last: bool) -> tuple[Sequence[Segment], float]:
        """Return a window's segments, and how many seconds later the next one begins."""
        if float(np.max(np.abs(sound))) < _QUIET:
            return (), SECONDS
        try:
            result = self._model.generate(
                self._library.StorageView.from_array(log_mel(sound)[None]),
                [[_START]],
                beam_size=1,
                max_length=2 * _MAX_TOKENS,
                return_no_speech_prob=True,
                suppress_blank=True,
                max_initial_timestamp_index=50,
            )[0]
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"The speech model failed: {error}.", "Run `twofold models verify`.") from error
        if result.no_speech_prob > _NO_SPEECH:
            return (), SECONDS
        segments = self._segments(result.sequences_ids[0], min(len(sound) / RATE, SECONDS))
        if is_last or len(segments) < 2:  # noqa: PLR2004  # one alone is as long as the window
            return segments, _heard_until(sound, segments[-1].end) if segments else SECONDS
        return segments[:-1], segments[-1].start

    def _segments(self, tokens: Sequence[int], length: float) -> list[Segment]:
        """Cut tokens at their times."""
        found: list[Segment] = []
        start, held = 0.0, list[int]()
        for token in tokens:
            if token < self._first_time:
                held.append(token)
                continue
            time = (token - self._first_time) * _TIME_STEP
            found += self._timed_segment(start, time, held)
            start, held = time, []
        return found + self._timed_segment(start, length, held)

    def _timed_segment(self, start: float, end: float, tokens: Sequence[int]) -> list[Segment]:
        words = [token for token in tokens if token < self._end]
        text = " ".join(_SPECIAL.sub("", self._tokens.decode(words)).split()) if words else ""
        return [Segment(start, max(start, end), text)] if text else []


def _heard_until(sound: Samples, end: float) -> float:
    """Return the second that the next window begins at: `end` where more than a second behind it is as loud as speech.

    The model sometimes stops in the middle of what is said.
    """
    rest = sound[int(end * RATE) :]
    goes_on = len(rest) > _LEAST_STEP * RATE and _loudness(rest) > _SPEECH * _loudness(sound)
    return end if goes_on else SECONDS


def _loudness(sound: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(sound, dtype=np.float64))))
