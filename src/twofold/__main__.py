"""Starts the command line: `python -m twofold`, and what the `twofold` script calls."""

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


if __name__ == "__main__":
    main()
