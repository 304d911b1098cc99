"""How much memory this process takes up, a warning where that is too much, and what can be done about it at once."""

import gc
import os
import sys
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1 << 20
LIMIT_MB = 8_192.0
STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What is resident in memory, in MB of 2^20 bytes, against a limit (checklist 72), 0 for none."""

    resident_mb: float
    limit_mb: float = LIMIT_MB

    @property
    def warning(self) -> str:
        """One line for people, empty while all is well: at the limit exactly all is."""
        if not self.limit_mb or self.resident_mb <= self.limit_mb:
            return ""
        return f"{self.resident_mb:,.0f} MB of memory are in use, more than the {self.limit_mb:,.0f} MB that were set."


def memory_use(limit_mb: float = LIMIT_MB) -> MemoryUse:
    """Look at this process now."""
    return MemoryUse(resident_bytes() / MEGABYTE, limit_mb)


def relieve(use: MemoryUse) -> bool:
    """Collect garbage where there is a warning, and say whether it was done. It stops all threads for a moment."""
    if use.warning:
        gc.collect()
    return bool(use.warning)


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
