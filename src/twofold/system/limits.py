"""Limits that a process sets itself before it reads what a stranger wrote: memory, processor time, files.

Linux and macOS have them in the kernel, by `setrlimit`. On Windows a job object holds memory and processor time and
allows no child process; open files and the sizes of written ones have no limit there.
"""

import math
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

LIMITED: tuple[str, ...]
"""What the system limits of a process: of "memory", "processor time" and "files"."""
End = Literal["cpu", "killed", ""]
_QUOTA_EXCEEDED = 1816  # the status of a process that its job object has ended for its processor time

try:
    import resource
except ImportError:
    if sys.platform == "win32" or not TYPE_CHECKING:
        from twofold.system import job_object

        LIMITED = ("memory", "processor time") if job_object.AVAILABLE else ()

        def limit_process(_open_files: int) -> None:
            """Allow no child process."""
            job_object.update()

        def limit_memory(most: int, at_first: int | None = None) -> None:
            """Limit the bytes of memory in all: to `most`, or to `at_first` until `raise_memory` is called."""
            job_object.update(memory=most if at_first is None else at_first)

        def raise_memory(most: int) -> None:
            """Allow the memory that was to be allowed at most."""
            job_object.update(memory=most)

        def limit_cpu(seconds: int) -> None:
            """Limit the seconds of processor time from now on."""
            job_object.update(cpu_seconds=math.ceil(os.times().user) + seconds)

else:
    LIMITED = ("memory", "processor time", "files")

    def limit_process(open_files: int) -> None:
        """Limit the open files, allow writing to none of them, and no core file."""
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, 0)
        _lower(resource.RLIMIT_NOFILE, open_files)

    def limit_memory(most: int, at_first: int | None = None) -> None:
        """Limit the bytes of memory in all: to `most`, or to `at_first` until `raise_memory` is called."""
        _lower(resource.RLIMIT_AS, most, at_first)

    def raise_memory(_most: int) -> None:
        """Allow the memory that was to be allowed at most."""
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    def limit_cpu(seconds: int) -> None:
        """Limit the seconds of processor time from now on."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        allowed = math.ceil(used.ru_utime + used.ru_stime) + seconds
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        if hard == resource.RLIM_INFINITY or allowed < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, hard))

    def _lower(what: int, limit: int, for_now: int | None = None) -> None:
        """Lower a limit for good; some systems refuse some of them, and then the others must do.

        With `for_now` that holds until the process itself raises it to `limit`.
        """
        _, hard = resource.getrlimit(what)
        new = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (new if for_now is None else min(for_now, new), new))


def why_ended(status: int) -> End:
    """Return why the system ended a process, from its status: its processor time, or else most likely its memory."""
    if status in (-getattr(signal, "SIGXCPU", -_QUOTA_EXCEEDED), _QUOTA_EXCEEDED):
        return "cpu"
    return "killed" if status == -getattr(signal, "SIGKILL", 0) != 0 else ""
