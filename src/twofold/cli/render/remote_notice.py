"""Telling people where their text goes: each other machine once a command, on standard error."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from twofold.cli.render.terminal import one_line, screen_on

SENDING = "twofold.sending"


class _Telling(logging.Handler):
    """Writes each line once."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line that was not written before."""
        line = record.getMessage()
        if line not in self._told:
            self._told.add(line)
            screen_on(sys.stderr).line(f"twofold: {one_line(line)}")
            sys.stderr.flush()


@contextmanager
def announced_remotes() -> Iterator[None]:
    """Print, until the block ends, to which other machines text is sent."""
    log, telling = logging.getLogger(SENDING), _Telling()
    before = log.level, log.propagate
    log.addHandler(telling)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(telling)
        log.setLevel(before[0])
        log.propagate = before[1]
