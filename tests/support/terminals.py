"""Commands run on a terminal of their own, and what was sent to it."""

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def on_a_terminal(folder: Path, surroundings: Mapping[str, str], *words: str) -> str:
    """Run a command that succeeds, with all three streams on one terminal, and return what was sent there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "twofold", *words]
    with subprocess.Popen(
        command, cwd=folder, env=dict(surroundings), stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        while piece := _piece(ours):
            seen += piece
        os.close(ours)
    assert process.returncode == 0, seen
    return seen.decode("utf-8").replace("\r\n", "\n")


def _piece(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # nobody writes to it any more
        return b""
