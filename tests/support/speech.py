"""Recordings for tests: speech by espeak-ng, which says the same words in the same way each time, and made sound."""

import shutil
import struct
import subprocess

import numpy as np
import pytest


def spoken(words: str) -> bytes:
    """A WAV file in which these words are said, at 22,050 Hz."""
    command = shutil.which("espeak-ng")
    if command is None:
        pytest.skip("espeak-ng is not installed: `make setup` installs it")
    call = [command, "-v", "en-us", "-s", "130", "--stdout", words]
    return subprocess.run(call, check=True, capture_output=True, timeout=60).stdout


def wav(  # what a WAV file says of itself
    data: bytes, *, coding: int = 1, channels: int = 1, rate: int = 16_000, bits: int = 16, size: int | None = None
) -> bytes:
    """A WAV file of these bytes; `size` is what it says of their number."""
    width = channels * bits // 8
    said = len(data) if size is None else size
    head = struct.pack("<4sIHHIIHH4sI", b"fmt ", 16, coding, channels, rate, rate * width, width, bits, b"data", said)
    return b"RIFF" + struct.pack("<I", len(head) + 4 + len(data)) + b"WAVE" + head + data


def tone(seconds: float, rate: int = 16_000, loudness: float = 0.5) -> np.ndarray:
    """A tone of 440 Hz, from -1 to 1."""
    return loudness * np.sin(2 * np.pi * 440 * np.arange(int(seconds * rate)) / rate)
