"""The catalog: opening SQLite as the local store needs it, and turning its failures into ours."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from twofold.domain.errors import (
    CorruptError,
    MismatchError,
    NotFoundError,
    StorageFullError,
    StoreError,
    TwofoldError,
    WriterBusyError,
)
from twofold.stores.catalog_connection import STATE_QUERY, CatalogConnection, Rows
from twofold.stores.local.checksums import PAGE_BYTES, SEAL_BYTES, PageDamagedError
from twofold.stores.local.durable import NO_ROOM, refusal
from twofold.stores.local.place import CATALOG_NAME
from twofold.stores.local.received import StepLimit, check_numbers, check_schema, harden, schema_text
from twofold.system.files import flush_folder

APPLICATION_ID = 0x32464F4C
FORMAT_VERSION = 5
BUSY_MILLISECONDS = 10_000
CACHE_KIBIBYTES = (
    16_384  # the upper pages of the indexes of a million passages, so that a look-up reads one page or two
)
EMPTY_STATE = "INSERT INTO state VALUES (1, 0, 0, 0, 0, 0)"
MAX_TERM_ID = 2**32 - 1
HINT = "Run `twofold index verify`; restore a copy or sync into a new index."
_DAMAGE = (  # the statements and the schema are ours: one that fails met rows that are not
    PageDamagedError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.SchemaChangeError,
    apsw.ConstraintError,
    apsw.SQLError,
    apsw.InterruptError,  # by the limit of steps
)
SQLiteValue = None | int | float | str | bytes


class LocalConnection(apsw.Connection):
    """A connection to a catalog in a file; see `CatalogConnection`."""

    def among(self, values: Sequence[int] | Sequence[str], /) -> tuple[str, SQLiteValue]:
        """Return SQL of a list to stand after `IN`, and what is bound to its `?`."""
        return "(SELECT value FROM json_each(?))", json.dumps(values)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[SQLiteValue]], /) -> None:
        """Add many rows to a table of ours."""
        query = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
        self.executemany(query, rows)

    def state_row(self) -> Any | None:  # noqa: ANN401  # as `fetchone`
        """Return the one row of state."""
        return self.execute(STATE_QUERY).fetchone()

    def last_term(self) -> int:
        """Return the last number that was given. Raises CorruptError for one that no term can have."""
        (last,) = self.execute("SELECT seq FROM sqlite_sequence WHERE name = 'term'").fetchone() or (0,)
        if not (isinstance(last, int) and 0 <= last <= MAX_TERM_ID):
            raise CorruptError(f"The index is damaged: its last term has the number {last}.", HINT)
        return last

    def terms_between(self, first: int, last: int, /) -> list[str]:
        """Return the terms of some numbers, read as one value: a row each takes five times as long."""
        query = "SELECT json_group_array(text) FROM (SELECT text FROM term WHERE id BETWEEN ? AND ? ORDER BY id)"
        ((texts,),) = self.execute(query, (first, last)).fetchall()
        read: list[str] = json.loads(str(texts))
        return read

    def add_terms(self, last: int, terms: Sequence[str], /) -> None:
        """Add new terms by one statement: one for each takes longer than all the rest of a passage."""
        query = "INSERT INTO term (id, text) SELECT ? + key, value FROM json_each(?) WHERE true ORDER BY key"
        self.execute(query, (last + 1, json.dumps(terms)))

    def begin(self) -> bool:
        """Begin a transaction that writes."""
        self.execute("BEGIN IMMEDIATE")
        return True

    def commit(self) -> None:
        """End a transaction, durable."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """End a transaction, if there is one, as if it had never been."""
        with suppress(apsw.Error):
            if self.in_transaction:
                self.execute("ROLLBACK")

    def restart(self) -> None:
        """Begin a reader's transaction again, to see the newest state."""
        if self.in_transaction:
            self.execute("ROLLBACK")
            self.execute("BEGIN")


def create_catalog(folder: Path, vfs: str) -> None:
    """Make an empty catalog, readable by its owner alone: it is there whole or not at all.

    The caller holds the writer's lock.
    """
    fresh = folder / f"{CATALOG_NAME}.new"
    try:
        for left_over in folder.glob(f"{fresh.name}*"):
            left_over.unlink()
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600))
        _fill_catalog(fresh, vfs)
        fresh.replace(folder / CATALOG_NAME)
        flush_folder(folder)
    except OSError as error:
        raise refusal(error, CATALOG_NAME) from error


def _fill_catalog(path: Path, vfs: str) -> None:
    with failures():
        connection = apsw.Connection(str(path), vfs=vfs)
    try:
        with failures(connection):
            connection.pragma("page_size", PAGE_BYTES)
            connection.reserve_bytes(reserve=SEAL_BYTES)
            connection.pragma("synchronous", "extra")  # without a log yet, `full` may leave the last step unflushed
            fill_catalog(connection)
            connection.pragma("journal_mode", "wal")
    finally:
        connection.close()


def fill_catalog(connection: apsw.Connection) -> None:
    """Make the tables of an empty catalog."""
    connection.execute("BEGIN")
    connection.execute(schema_text())
    connection.execute(EMPTY_STATE)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", FORMAT_VERSION)
    connection.execute("COMMIT")


def is_catalog(folder: Path) -> bool:
    """Return whether a folder holds a catalog."""
    return (folder / CATALOG_NAME).is_file()


def open_catalog(folder: Path, vfs: str, *, writing: bool) -> LocalConnection:
    """Open the catalog. Only the writer ever runs a checkpoint.

    Raises NotFoundError, CorruptError, or MismatchError for a format that this version does not know.
    """
    path = folder / CATALOG_NAME
    if not path.is_file():
        raise NotFoundError(f"There is no index in {folder}.", "Create one with `twofold sync PATH --index NAME`.")
    flags, name = apsw.SQLITE_OPEN_READWRITE, str(path)
    if not writing and _is_at_rest(path):
        flags, name = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, f"file:{quote(name)}?immutable=1"
    with failures():
        connection = LocalConnection(name, flags=flags, vfs=vfs)
    try:
        with failures(connection):
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            connection.wal_autocheckpoint(0)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.pragma("synchronous", "full")
            connection.pragma("journal_size_limit", 0)  # a log that was folded starts small again
            prepare(connection, lambda: _bytes_of(path), str(path), writing=writing)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: apsw.Connection, catalog_bytes: Callable[[], int], shown: str, *, writing: bool) -> None:
    """Set a connection to a catalog as every store needs it, and check whose catalog it is.

    Raises CorruptError, or MismatchError for a format that this version does not know.
    """
    harden(connection)
    StepLimit(connection, catalog_bytes)
    connection.pragma("foreign_keys", True)
    connection.pragma("cache_size", -CACHE_KIBIBYTES)
    connection.pragma("cell_size_check", True)
    connection.pragma("query_only", not writing)
    _check_format(connection, shown)
    check_schema(connection)
    check_numbers(connection)


def _is_at_rest(path: Path) -> bool:
    """Return whether a catalog has no log and cannot get one: SQLite would make one to read it."""
    return not path.with_name(f"{path.name}-wal").exists() and not os.access(path.parent, os.W_OK)


def _bytes_of(path: Path) -> int:
    """Return the size of the catalog with its log."""
    total = 0
    for one in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            total += one.stat().st_size
    return total


def _check_format(connection: apsw.Connection, shown: str) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise CorruptError(f"{shown} is not an index of twofold.", "Name another folder or another index.")
    version = connection.pragma("user_version")
    if version != FORMAT_VERSION:
        raise MismatchError(
            f"The index has format {version}; this twofold reads format {FORMAT_VERSION}.",
            "Use the version of twofold that wrote it, or create the index again.",
        )


def select(connection: CatalogConnection, query: str, bindings: Sequence[SQLiteValue] = ()) -> Rows:
    """Run a query with its parameters. The schema is strict, so a column's type is what the schema says."""
    return connection.execute(query, tuple(bindings))


@contextmanager
def failures(connection: apsw.Connection | None = None) -> Iterator[None]:
    """Turn SQLite's failures into ours, with a remedy each. The connection, where there is one, knows the system's."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise CorruptError("The index is damaged: a text of its catalog is not UTF-8.", HINT) from error
    except apsw.Error as error:
        raise _ours(error, connection) from error


def _ours(error: apsw.Error, connection: apsw.Connection | None) -> TwofoldError:
    if isinstance(error, _DAMAGE):
        said = "reading its catalog does not come to an end" if isinstance(error, apsw.InterruptError) else error
        return CorruptError(f"The index is damaged: {said}.", HINT)
    no_room = connection is not None and connection.system_errno in NO_ROOM
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and no_room):
        return _no_room()
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return WriterBusyError("The index is locked by another process.", "Wait until it has finished.")
    if isinstance(error, apsw.IOError):
        return StoreError(f"The disk failed: {error}.", "Check the disk; nothing acknowledged is lost.")
    return StoreError(f"SQLite failed: {error}.", "Run `twofold index verify`.")


def _no_room() -> StorageFullError:
    return StorageFullError(
        "There is no room left to write to the index; what was written before is intact.",
        "Free some space and run the command again.",
    )
