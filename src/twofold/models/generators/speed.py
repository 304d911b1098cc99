"""How fast a model runs on this machine, measured once and kept next to its weights; and which model `local` is.

    seconds of an answer = READ / tokens read a second + WRITTEN / tokens written a second

Threads are measured, not counted: llama.cpp's spin while they wait for one another, and where others keep the cores
busy two write twenty times slower than one. `local` is Qwen2.5-Coder-1.5B where that answers within `PATIENCE`
seconds, else the 0.5B model; as long as only the small one is measured, the large one counts `LARGER` times its time.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from twofold.domain.errors import ModelError
from twofold.models.catalog.entries import QWEN_CODER, QWEN_CODER_SMALL
from twofold.models.catalog.files import folder_of, is_present
from twofold.models.catalog.types import ModelEntry
from twofold.models.generators.process import Launch, Running, end, start
from twofold.models.http import Timeouts, post_json

READ, WRITTEN = 700, 100
"""Tokens of a usual answer: a prompt of 1,200 whose rules are known already, and three sentences."""
PATIENCE = 30.0  # seconds
LARGER = 3.0
MAX_THREADS = 8
SPEED = "speed.json"
_ASKED, _WRITES = "The kiln reaches 1,060 degrees in seven hours and must cool before the door is opened. " * 8, 12
_MAX_RESPONSE_BYTES = 1 << 20  # bytes


class Speed(msgspec.Struct, frozen=True):
    """Tokens a second that a model reads and writes, with how many threads, on a machine with this number of cores."""

    threads: int
    read: float
    written: float
    cores: int

    @property
    def seconds(self) -> float:
        """How long a usual answer takes."""
        return READ / self.read + WRITTEN / self.written


class _Timings(msgspec.Struct, frozen=True):
    prompt_per_second: float
    predicted_per_second: float


class _Measured(msgspec.Struct, frozen=True):
    timings: _Timings


def default_local(cache: Path) -> ModelEntry:
    """Return the model that `local` is on this machine, by what was measured; the small one before that.

    >>> default_local(Path("/nonexistent")).name
    'qwen2.5-coder-0.5b'
    """
    large, small = (known_speed(entry, cache) for entry in (QWEN_CODER, QWEN_CODER_SMALL))
    if large is not None:
        return QWEN_CODER if large.seconds <= PATIENCE else QWEN_CODER_SMALL
    if small is not None:
        return QWEN_CODER if LARGER * small.seconds <= PATIENCE else QWEN_CODER_SMALL
    has_large_alone = is_present(QWEN_CODER, cache) and not is_present(QWEN_CODER_SMALL, cache)
    return QWEN_CODER if has_large_alone else QWEN_CODER_SMALL


def known_speed(entry: ModelEntry, cache: Path) -> Speed | None:
    """Return what was measured of a model on this machine; None where nothing was, or it had other cores."""
    try:
        speed = msgspec.json.decode((folder_of(entry, cache) / SPEED).read_bytes(), type=Speed)
    except (OSError, msgspec.DecodeError):
        return None
    return speed if speed.cores == cores() and min(speed.read, speed.written, speed.threads) > 0 else None


def cores() -> int:
    """Return how many processor cores this process may use."""
    return len(os.sched_getaffinity(0))


def measured(launch: Callable[[int], Launch], folder: Path) -> Speed:
    """Measure a model with one thread and with one a core; keep and return the faster. Raises ModelError."""
    most = min(cores(), MAX_THREADS)
    speed = min((_measured(launch(threads), threads) for threads in sorted({1, most})), key=lambda one: one.seconds)
    unfinished = folder / f"{SPEED}.{os.getpid()}"
    try:
        unfinished.write_bytes(msgspec.json.encode(speed))
        unfinished.replace(folder / SPEED)
    except OSError:  # a folder that is not ours: it is measured again next time
        unfinished.unlink(missing_ok=True)
    return speed


def _measured(launch: Launch, threads: int) -> Speed:
    running = start(launch)
    try:
        said = _timings(running, launch)
    finally:
        end(running)
    return Speed(threads, said.prompt_per_second, said.predicted_per_second, cores())


def _timings(running: Running, launch: Launch) -> _Timings:
    asked = {"prompt": _ASKED, "n_predict": _WRITES, "temperature": 0, "cache_prompt": False, "ignore_eos": True}
    credentials = {"Authorization": f"Bearer {running.key}"}
    url, body = f"{running.address}/completion", msgspec.json.encode(asked)
    try:
        said = msgspec.json.decode(
            post_json(url, body, credentials, Timeouts(silence=launch.seconds), _MAX_RESPONSE_BYTES), type=_Measured
        )
    except msgspec.DecodeError as error:
        raise ModelError(f"{launch.name} does not say how fast it is.") from error
    return said.timings
