"""Log-mel spectrograms as Whisper was trained on: 80 bands, a column each hundredth of a second."""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twofold.models.transcribers.wave_file import RATE, Samples

SECONDS: Final = 30
COLUMNS: Final = 3_000
BANDS: Final = 80
_WINDOW, _HOP = 400, 160
_LINEAR_TO, _MEL_AT_LINEAR = 1_000.0, 15.0
_LOG_STEP = np.log(6.4) / 27.0
_HIGHEST = 8_000.0


def log_mel(sound: Samples) -> NDArray[np.float32]:
    """Return (80, 3000) of up to 30 seconds, silence behind what is shorter."""
    padded = np.zeros(SECONDS * RATE, dtype=np.float32)
    padded[: len(sound)] = sound[: len(padded)]
    framed = np.pad(padded, _WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(framed, _WINDOW)[::_HOP][:COLUMNS]
    window = np.hanning(_WINDOW + 1)[:-1].astype(np.float32)
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    bands = np.log10(np.maximum(power @ _filters().T, 1e-10))
    bands = np.maximum(bands, bands.max() - 8.0)
    return np.ascontiguousarray(((bands + 4.0) / 4.0).T, dtype=np.float32)


@cache
def _filters() -> NDArray[np.float64]:
    """Return (80, 201): triangles on Slaney's mel scale, each of area one."""
    edges = _hertz(np.linspace(0.0, _mel(_HIGHEST), BANDS + 2))
    places = np.linspace(0.0, RATE / 2, _WINDOW // 2 + 1)
    slopes = edges[:, None] - places[None, :]
    widths = np.diff(edges)
    rising, falling = -slopes[:-2] / widths[:-1, None], slopes[2:] / widths[1:, None]
    triangles: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    return triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None]


def _mel(hertz: float) -> float:
    return float(_MEL_AT_LINEAR + np.log(hertz / _LINEAR_TO) / _LOG_STEP)


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = mels * (_LINEAR_TO / _MEL_AT_LINEAR)
    return np.where(mels < _MEL_AT_LINEAR, linear, _LINEAR_TO * np.exp(_LOG_STEP * (mels - _MEL_AT_LINEAR)))
