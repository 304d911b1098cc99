"""A real twofold server as a process of its own, that a test may kill and start again."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(home: Path, port: int = 0, *settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the server with these settings until the block ends, and give the process and its address."""
    options = [one for setting in ("embedder=hashing", "offline=true", *settings) for one in ("--set", setting)]
    command = [sys.executable, "-m", "twofold", *options, "serve", "--port", str(port)]
    environment = {**os.environ, "TWOFOLD_HOME": str(home)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            yield process, _address_of(process)
        finally:
            process.kill()


def _address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://[\d.]+:\d+", line):
            return found[0]
    message = "the server ended before it said where it is"
    raise AssertionError(message)
