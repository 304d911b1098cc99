"""WAV files of every kind that recorders write become the same samples; what is none is refused."""

import numpy as np
import pytest

from support.speech import tone, wav
from twofold.domain.errors import InvalidInputError
from twofold.models.transcribers.mel import log_mel
from twofold.models.transcribers.wave_file import RATE, read_wav

SOUND = tone(0.5)


def encoded(kind: str) -> bytes:
    match kind:
        case "8 bits":
            return wav(np.round(SOUND * 127 + 128).astype(np.uint8).tobytes(), bits=8)
        case "24 bits":
            wide = np.round(SOUND * (2**23 - 1)).astype("<i4").tobytes()
            return wav(b"".join(wide[at : at + 3] for at in range(0, len(wide), 4)), bits=24)
        case "float":
            return wav(SOUND.astype("<f4").tobytes(), coding=3, bits=32)
        case "stereo":
            pairs = np.stack([SOUND, SOUND], axis=1)
            return wav(np.round(pairs * 32767).astype("<i2").tobytes(), channels=2)
        case "44,100 Hz":
            return wav(np.round(tone(0.5, 44_100) * 32767).astype("<i2").tobytes(), rate=44_100)
        case _:
            return wav(np.round(SOUND * 32767).astype("<i2").tobytes())


@pytest.mark.parametrize("kind", ["16 bits", "8 bits", "24 bits", "float", "stereo", "44,100 Hz"])
def test_every_coding_gives_the_same_sound(kind: str) -> None:
    sound = read_wav(encoded(kind))

    assert len(sound) == RATE // 2
    assert np.argmax(np.abs(np.fft.rfft(sound))) == 220  # 440 Hz in half a second
    assert np.abs(sound).max() == pytest.approx(0.5, abs=0.06)


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    assert len(read_wav(wav(b"\0\0" * 1_000, size=0xFFFFFFFF))) == 1_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RIFF",
        b"ID3" + b"\0" * 40,
        wav(b""),
        wav(b"\0" * 8, channels=0),
        wav(b"\0" * 8, rate=0),
        wav(b"\0" * 8, bits=12),
        wav(b"\0" * 8, coding=85),
        b"RIFF\0\0\0\0WAVEdata\xff\xff\xff\xff" + b"\0" * 20,
    ],
)
def test_what_is_no_sound_is_refused_with_what_to_do(data: bytes) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_wav(data)
    assert "WAV" in caught.value.hint


def test_a_recording_over_the_limit_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(InvalidInputError, match=r"2 s, more than 1\."):
        read_wav(wav(b"\0\0" * 2 * RATE), max_seconds=1)


def test_a_tone_is_in_its_band_and_silence_is_even() -> None:
    bands = log_mel(tone(1.0).astype(np.float32))

    assert bands.shape == (80, 3000)
    assert bands[:, 50].argmax() == 11  # 440 Hz is mel 6.6 of 45.2, over 81 steps
    assert bands[:, 200:].max() == bands.min()
