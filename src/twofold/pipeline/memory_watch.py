"""How much memory this process takes up; above a limit that is logged, and garbage is collected."""

import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1 << 20
LIMIT_MB = 8_192.0
PAUSE = 60.0
"""Seconds between two collections, since each of them stops all threads for a moment."""
STATM = Path("/proc/self/statm")
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What is resident in memory, in MB of 2^20 bytes, against a limit, 0 for none.

    `collections` is how often garbage was collected since more than the limit was in use.
    """

    resident_mb: float
    limit_mb: float = LIMIT_MB
    collections: int = 0

    @property
    def warning(self) -> str:
        """One line for people, empty while all is well: at the limit exactly all is."""
        if not self.limit_mb or self.resident_mb <= self.limit_mb:
            return ""
        return f"{self.resident_mb:,.0f} MB of memory are in use, more than the {self.limit_mb:,.0f} MB that were set."


class MemoryWatch:
    """Watches this process's memory on behalf of one index. Bears calls from several threads.

    Above `limit_mb` it logs a warning and collects garbage, at most once in `PAUSE` seconds.
    """

    def __init__(self, limit_mb: float = LIMIT_MB, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_mb = limit_mb
        self._clock = clock
        self._turn = threading.Lock()
        self._rests_until = -float("inf")
        self._collections = 0

    def look(self) -> None:
        """Look at the memory in use, and collect garbage where it is too much."""
        if not self._limit_mb:
            return
        use = MemoryUse(resident_bytes() / MEGABYTE, self._limit_mb)
        if use.warning and self._may_collect():
            LOG.warning("%s Garbage is collected; a smaller model or cache takes less.", use.warning)
            gc.collect()

    def use(self) -> MemoryUse:
        """Return what is in use now, and how often garbage was collected for it."""
        with self._turn:
            collections = self._collections
        return MemoryUse(resident_bytes() / MEGABYTE, self._limit_mb, collections)

    def _may_collect(self) -> bool:
        """Count a collection, unless another one was made a moment ago."""
        with self._turn:
            now = self._clock()
            if now < self._rests_until:
                return False
            self._rests_until = now + PAUSE
            self._collections += 1
            return True


def resident_bytes() -> int:
    """Give the resident set of this process; where there is no `/proc`, the largest that it ever was; else 0.

    Files mapped into memory count as far as they have been read: they are given back to whoever needs the room.
    """
    try:
        pages = int(STATM.read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return _peak_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")


def _peak_bytes() -> int:
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
