"""Starting a process that reads what a stranger wrote: with nothing of the user's environment, in no one's session."""

import os
import subprocess
import sys
from typing import TypedDict

_WANTED_BY_WINDOWS = ("SYSTEMROOT", "TEMP", "TMP")


class Apart(TypedDict, total=False):
    """Arguments of `Popen`."""

    start_new_session: bool
    creationflags: int


def apart() -> Apart:
    """Return what keeps a process out of reach of the keys that end its parent, and opens no window for it."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def bare_environment() -> dict[str, str]:
    """Return the environment of such a process.

    Threads and arenas of their own would eat the limit on address space before a file is opened.
    """
    kept = {name: os.environ[name] for name in _WANTED_BY_WINDOWS if os.name == "nt" and name in os.environ}
    return kept | {
        "PATH": os.defpath,
        "LC_ALL": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
    }
