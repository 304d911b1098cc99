"""The lines that a server writes to standard error: plain text for people, or one JSON object a line for programs."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec

FIELDS = ("method", "route", "status", "milliseconds", "token")
"""What a line about a request may hold in addition to its text. Never a question, a path, or a name of a document."""


class JsonFormatter(logging.Formatter):
    """Writes `{"time": …, "level": …, "logger": …, "message": …}`, and for a request its parts as fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON. Tracebacks are left out, because they may quote documents."""
        said: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        said |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        return msgspec.json.encode(said).decode()


@contextmanager
def logs_written(*, verbose: bool, as_json: bool) -> Iterator[None]:
    """Send log lines to standard error until the block ends: warnings and errors, and with `verbose` requests too.

    Afterwards the root logger is as it was, so that a program that ran the command in its own process keeps its own
    handlers and finds none that writes to a stream that is closed.
    """
    root, handler = logging.getLogger(), logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else logging.Formatter("%(message)s"))
    level, handlers = root.level, root.handlers
    root.handlers = [handler]
    root.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
