"""WAV files as samples: one channel, 16,000 a second, from -1 to 1."""

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import InvalidInputError

RATE: Final = 16_000
MAX_SECONDS: Final = 4 * 3_600
Samples = NDArray[np.float32]

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_HINT = "Give a WAV file of PCM or float samples: `ffmpeg -i FILE -ar 16000 -ac 1 FILE.wav` makes one."
_MAX_CHANNELS = 64
_MIN_RATE, _MAX_RATE = 1_000, 384_000


def seconds_of(data: bytes) -> float:
    """Return how long a recording is. Errors as for `read_wav`."""
    _, channels, rate, bits, start, stop = _layout(data)
    return (stop - start) // (bits // 8 * channels) / rate


def read_wav(data: bytes, max_seconds: float = MAX_SECONDS) -> Samples:
    """Return a file's sound: channels averaged, resampled to 16,000 samples a second.

    Raises InvalidInputError for another format, for a file without sound, and for more than `max_seconds`.
    """
    coding, channels, rate, bits, start, stop = _layout(data)
    width = bits // 8
    frames = (stop - start) // (width * channels)
    if frames <= 0:
        raise InvalidInputError("The recording is empty.", _HINT)
    if frames > max_seconds * rate:
        raise InvalidInputError(f"The recording has {frames / rate:,.0f} s, more than {max_seconds:,.0f}.", "Cut it.")
    values = _values(data[start : start + frames * width * channels], coding, width)
    return _resampled(values.reshape(frames, channels).mean(axis=1, dtype=np.float32), rate)


def _layout(data: bytes) -> tuple[int, int, int, int, int, int]:
    """Return coding, channels, rate and bits of the samples, and where they stand."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":  # noqa: PLR2004  # the length of RIFF's head
        raise InvalidInputError("That is no WAV file.", _HINT)
    at, known = 12, None
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        at += 8
        if name == b"fmt " and size >= 16 and at + 16 <= len(data):  # noqa: PLR2004  # its least length
            coding, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", data, at)
            if coding == _EXTENSIBLE and size >= 26 and at + 26 <= len(data):  # noqa: PLR2004
                coding = int.from_bytes(data[at + 24 : at + 26], "little")
            known = (coding, channels, rate, bits)
        elif name == b"data" and known is not None:
            _check(*known)
            return (*known, at, min(at + size, len(data)))  # a stream that was cut off says more than it has
        at += size + size % 2
    raise InvalidInputError("The WAV file holds no sound.", _HINT)


def _check(coding: int, channels: int, rate: int, bits: int) -> None:
    known = (coding == _PCM and bits in (8, 16, 24, 32)) or (coding == _FLOAT and bits in (32, 64))
    if not known or not 0 < channels <= _MAX_CHANNELS or not _MIN_RATE <= rate <= _MAX_RATE:
        raise InvalidInputError(f"WAV of coding {coding}, {bits} bits and {rate} Hz cannot be read.", _HINT)


def _values(data: bytes, coding: int, width: int) -> Samples:
    """Read samples as numbers from -1 to 1."""
    if coding == _FLOAT:
        found = np.frombuffer(data, dtype=f"<f{width}").astype(np.float32)
        return np.clip(np.nan_to_num(found), -1.0, 1.0)
    if width == 1:
        return (np.frombuffer(data, dtype=np.uint8).astype(np.float32) - 128.0) / 128.0
    if width == 3:  # noqa: PLR2004  # 24 bits have no type of their own
        wide = np.zeros((len(data) // 3, 4), dtype=np.uint8)
        wide[:, 1:] = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3)
        return wide.view("<i4").reshape(-1).astype(np.float32) / 2.0**31
    return np.frombuffer(data, dtype=f"<i{width}").astype(np.float32) / float(2 ** (8 * width - 1))


def _resampled(sound: Samples, rate: int) -> Samples:
    """Resample by straight lines between samples, after averaging where there are more than are wanted."""
    if rate == RATE:
        return sound
    if rate > RATE:
        width = max(1, round(rate / RATE))
        sound = np.convolve(sound, np.full(width, 1.0 / width, dtype=np.float32), mode="same")
    count = max(1, int(len(sound) * RATE / rate))
    places = np.arange(count, dtype=np.float64) * (rate / RATE)
    return np.interp(places, np.arange(len(sound)), sound).astype(np.float32)
