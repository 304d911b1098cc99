"""Starts the command line: `python -m twofold`, and what the `twofold` script calls."""

import atexit
import gc
import os
import sys
from io import TextIOWrapper

from twofold import __version__
from twofold.cli.completion import answer


def main() -> None:
    """Run the command line.

    The version and the shell's completion are answered before any command is loaded: a shell waits for them at every
    press of a key. Nothing that is made while modules load is garbage, and looking for some a hundred times takes
    17 ms: it begins when the command does. No command multiplies matrices that are worth a thread, and numpy's
    library would start one for each core, in some 20 ms.
    """
    if sys.argv[1:] == ["--version"]:
        print(f"twofold {__version__}")  # noqa: T201  # as the command line prints it
        return
    if (found := answer(os.environ)) is not None:
        sys.stdout.write(found.text)
        sys.exit(found.code)
    if sys.platform == "win32":
        for stream in (sys.stdin, sys.stdout, sys.stderr):  # a pipe has the letters of one country there
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="replace" if stream is sys.stdin else "backslashreplace")
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from twofold.cli.app import main as run

    run()


def command() -> None:
    """Run the command line as all that a process does, and end the process when its output is out.

    What the interpreter does last is to free every object, one after the other: 20 ms, and 70 where a model is loaded.
    The system takes the memory back at once. Functions that are to be called at the end are called, and threads that
    are to be waited for are waited for.
    """
    try:
        main()
    except SystemExit as end:  # it holds the frames of the command, and so what would be freed
        if end.code is None or isinstance(end.code, int):
            _end(end.code or 0)
        raise
    _end(0)


def _end(code: int) -> None:
    """End the process; return where something is left to do that only the interpreter's own way of ending does."""
    threading = sys.modules.get("threading")
    waited = [] if threading is None else [one for one in threading.enumerate() if not one.daemon]
    if len(waited) > 1 or sys.flags.inspect or sys.gettrace() is not None or sys.getprofile() is not None:
        return
    atexit._run_exitfuncs()  # noqa: SLF001  # there is no public name
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # closed, gone, or never there: the interpreter says so
        return
    os._exit(code)


if __name__ == "__main__":
    command()
