"""The lines that a server writes to standard error: plain text for people, or one JSON object a line for programs."""

import logging
import sys
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


def write_logs(*, verbose: bool, as_json: bool) -> None:
    """Send log lines to standard error: warnings and errors, and with `verbose` each request too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else logging.Formatter("%(message)s"))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler], force=True)
