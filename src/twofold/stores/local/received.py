"""What a catalog that came from elsewhere may not do: run its own SQL, or keep a statement busy without end.

The schema must be the one of `schema.sql`, word for word but for comments, so that no view, trigger or computed column
stands between a statement and the rows it names. What the rows hold is checked where it is read.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

import apsw

from twofold.domain.errors import CorruptError

# Every statement visits a row a few times at most, and no row is smaller than some ten bytes: a statement that takes
# more steps than this goes round in a circle of pages.
MIN_STEPS = 2_000_000
STEPS_PER_BYTE = 20
STEPS_BETWEEN_LOOKS = 100_000
MAX_NUMBER = 2**62  # of rows and changes: what is counted up from here still fits

_COMMENT = re.compile(r"--[^\n]*")
_OWN = ("sqlite_sequence", "sqlite_autoindex_")  # what SQLite makes by itself
_REMEDY = "It was made or changed by another program: use a copy that twofold wrote, or sync into a new index."

Schema = frozenset[tuple[str, str, str, str]]


def schema_text() -> str:
    """Return the statements that make an empty catalog."""
    return files("twofold.stores.local").joinpath("schema.sql").read_text(encoding="utf-8")


def harden(connection: apsw.Connection) -> None:
    """Let nothing that a catalog holds be run: no triggers, no views, no functions with effects in its schema."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.pragma("trusted_schema", False)


def check_schema(connection: apsw.Connection) -> None:
    """Compare a catalog's schema with the expected one. Raises CorruptError, which names what differs."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    found = _as_schema(rows)
    if found != expected_schema():
        odd = sorted({(kind, name) for kind, name, *_ in found ^ expected_schema()})
        named = ", ".join(f"{kind} {name!r}"[:80] for kind, name in odd[:3])
        raise CorruptError(f"The catalog of the index has a foreign schema: {named}.", _REMEDY)


@cache
def expected_schema() -> Schema:
    """Return the schema of an empty catalog."""
    made = apsw.Connection(":memory:")
    try:
        made.execute(schema_text())
        return _as_schema(made.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall())
    finally:
        made.close()


def _as_schema(rows: Sequence[Sequence[object]]) -> Schema:
    return frozenset((str(kind), str(name), str(table), _plain(sql)) for kind, name, table, sql in rows)


def _plain(sql: object) -> str:
    """Return a statement without comments and line ends; one with a zero byte, where SQLite stops, is left as it is."""
    text = "" if sql is None else str(sql)
    return text if "\0" in text else " ".join(_COMMENT.sub("", text).split())


def check_numbers(connection: apsw.Connection) -> None:
    """Refuse counters that cannot be counted up. Raises CorruptError."""
    counters = connection.execute(
        "SELECT generation, layout, edition, commits FROM state UNION ALL SELECT seq, 0, 0, 0 FROM sqlite_sequence"
    )
    for row in counters:
        if not all(isinstance(one, int) and 0 <= one < MAX_NUMBER for one in row):
            raise CorruptError("A counter of the index's catalog is out of range.", _REMEDY)


class StepLimit:
    """Ends a statement that takes more steps than a catalog of its size can ask for."""

    def __init__(self, connection: apsw.Connection, catalog_bytes: Callable[[], int]) -> None:
        self._catalog_bytes = catalog_bytes
        self._taken = 0
        connection.exec_trace = self._begin
        connection.set_progress_handler(self._look, STEPS_BETWEEN_LOOKS)

    def _begin(self, _cursor: object, _sql: str, _bindings: object) -> bool:
        self._taken = 0
        return True

    def _look(self) -> bool:
        """Return whether to interrupt the statement."""
        self._taken += STEPS_BETWEEN_LOOKS
        if self._taken <= MIN_STEPS:
            return False
        return self._taken > MIN_STEPS + STEPS_PER_BYTE * self._catalog_bytes()
