"""The job object that a process of Windows puts itself into, to be limited: `docs/windows.md` says what it holds.

The structures are those of `JOBOBJECT_EXTENDED_LIMIT_INFORMATION` in Microsoft's `winnt.h`.
"""

import ctypes
from functools import lru_cache
from typing import Any, ClassVar

_WINDOWS: Any = ctypes  # of it, the names that only Windows has
AVAILABLE = hasattr(ctypes, "WinDLL")
EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
PROCESS_TIME = 0x0002
ACTIVE_PROCESSES = 0x0008
PROCESS_MEMORY = 0x0100
DIE_ON_EXCEPTION = 0x0400  # no window that asks what to do about a crash
TICKS_A_SECOND = 10_000_000


class _BasicLimits(ctypes.Structure):
    _fields_: ClassVar = [
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("min_working_set", ctypes.c_size_t),
        ("max_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    ]


class _ExtendedLimits(ctypes.Structure):
    _fields_: ClassVar = [
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    ]


@lru_cache(maxsize=1)
def _job() -> "tuple[Any, Any, _ExtendedLimits] | None":
    """Put this process into a new job object; None where the system has none. Raises OSError where it refuses."""
    if not AVAILABLE:
        return None
    kernel = _WINDOWS.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = kernel.GetCurrentProcess.restype = ctypes.c_void_p
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    if not kernel.AssignProcessToJobObject(job, ctypes.c_void_p(kernel.GetCurrentProcess())):
        raise _WINDOWS.WinError(_WINDOWS.get_last_error())
    return kernel, job, _ExtendedLimits()


def update(memory: int | None = None, cpu_seconds: int | None = None) -> bool:
    """Limit this process: no child, `memory` in bytes, `cpu_seconds` of user time in all. What is None stays.

    Return False where the system has no job objects. Raises OSError where it refuses.
    """
    made = _job()
    if made is None:
        return False
    kernel, job, limits = made
    limits.basic.flags |= ACTIVE_PROCESSES | DIE_ON_EXCEPTION
    limits.basic.active_processes = 1
    if memory is not None:
        limits.basic.flags |= PROCESS_MEMORY
        limits.process_memory = memory
    if cpu_seconds is not None:
        limits.basic.flags |= PROCESS_TIME
        limits.basic.process_time = cpu_seconds * TICKS_A_SECOND
    if not kernel.SetInformationJobObject(job, EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)):
        raise _WINDOWS.WinError(_WINDOWS.get_last_error())
    return True
