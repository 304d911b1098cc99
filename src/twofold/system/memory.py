"""How much memory this process holds, and giving back what it can."""

import mmap
import os
import sys
from pathlib import Path
from typing import Any

STATM = Path("/proc/self/statm")
_WORKING_SET = 2
"""The place of `WorkingSetSize` in `PROCESS_MEMORY_COUNTERS` of `psapi.h`, in words of 64 bits."""


def resident_bytes() -> int:
    """Return the resident set of this process; where the system tells only the largest that it ever was, that; else 0.

    Files mapped into memory count as far as they have been read: the system can take them back.
    """
    try:
        file = os.open(STATM, os.O_RDONLY)
        try:
            pages = int(os.read(file, 256).split()[1])
        finally:
            os.close(file)
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError, AttributeError):
        return _working_set() if os.name == "nt" else _peak_bytes()


def let_go(held: object) -> None:
    """Let the system take back a file's memory that an array, or a view of it, is mapped to; it is read when needed.

    Only what the file holds anyway is given back. Of what is not mapped, and where no system asks for it, nothing is.
    """
    while not isinstance(held, mmap.mmap):
        held = held.obj if isinstance(held, memoryview) else getattr(held, "base", None)
        if held is None:
            return
    if hasattr(mmap, "MADV_DONTNEED"):
        held.madvise(mmap.MADV_DONTNEED)


def _working_set() -> int:
    import ctypes

    windows: Any = ctypes
    kernel = windows.WinDLL("kernel32")
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    counters = (ctypes.c_uint64 * 9)()
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    found = kernel.K32GetProcessMemoryInfo(process, ctypes.byref(counters), ctypes.sizeof(counters))
    return counters[_WORKING_SET] if found else 0


def _peak_bytes() -> int:
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
