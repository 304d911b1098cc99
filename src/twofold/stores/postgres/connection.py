"""One connection to a PostgreSQL database, with what the catalog's steps ask of it, and its failures as ours.

A session has no state of its own: every transaction names its schema, so that a pooler may stand in between.
"""

import errno
import os
import re
import selectors
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from twofold.domain.errors import (
    CorruptError,
    InvalidInputError,
    NotFoundError,
    StorageFullError,
    StoreError,
    TwofoldError,
    WriterBusyError,
)
from twofold.stores.catalog_connection import STATE_QUERY, SQLValue
from twofold.stores.local.past import tables_then
from twofold.stores.local.retained import NamedState
from twofold.stores.postgres.dialect import blob_columns, column_types, translated

LOCK_CLASS = 0x32464F4C  # of all our advisory locks; the second number is the index's, 0 for the list of indexes
CONNECT_SECONDS = 10
CHANNEL = "twofold"  # on which a change notifies of its index's number
_BYTEA, _NUMERIC = 17, 1700
_NAMES_ROWS = re.compile(r"\b(?:document|chunk)\b")


class DatabaseLostError(StoreError):
    """The connection to the database is gone."""


class Found:
    """The rows that a statement returned."""

    __slots__ = ("_rows",)

    def __init__(self, rows: list[Any]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> Any | None:  # noqa: ANN401  # as the protocol says
        """Return the next row, None after the last."""
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


class PostgresConnection:
    """A connection for one index, whose tables stand in the schema `twofold_N`; see `CatalogConnection`."""

    def __init__(self, dsn: str, number: int, wait_seconds: float) -> None:
        self._driver = connect(dsn)
        self._schema = schema_of(number)
        self._number = number
        self._wait = max(1, round(wait_seconds * 1000))
        self._state: tuple[Any | None] | None = None
        self._leaving = False

    @property
    def usable(self) -> bool:
        """Whether it stands outside of a transaction, or leaves one, ready for another."""
        outside = self._leaving or self._driver.info.transaction_status == TransactionStatus.IDLE
        return outside and not self._driver.closed

    def execute(self, statement: str, bindings: Sequence[SQLValue] = (), /) -> Found:
        """Run one statement; outside of a transaction one that reads, in one of its own."""
        if self.usable:
            self.begin_reading()
            try:
                return self.execute(statement, bindings)
            finally:
                self.rollback()
        with self._driver.cursor(binary=True) as cursor:
            cursor.execute(self._written(statement), list(map(_bound, bindings)))
            return Found(_decoded(cursor) if cursor.description else [])

    def executemany(self, statement: str, bindings: Iterable[Sequence[SQLValue]], /) -> None:
        """Run one statement for each row of values."""
        rows = [list(map(_bound, row)) for row in bindings]
        if rows:
            with self._driver.cursor() as cursor:
                cursor.executemany(translated(statement), rows)

    def among(self, values: Sequence[int] | Sequence[str], /) -> tuple[str, Any]:
        """Return SQL of a list to stand after `IN`, and what is bound to its `?`."""
        if values and isinstance(values[0], str):
            return "(SELECT unnest(?::bytea[]))", [str(one).encode("utf-8", "surrogatepass") for one in values]
        return "(SELECT unnest(?::bigint[]))", list(values)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[SQLValue]], /) -> None:
        """Add many rows to a table of ours, by a binary COPY."""
        types = [column_types()[table][column] for column in columns]
        query = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
        with self._driver.cursor() as cursor, cursor.copy(query) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row([_bound(value) for value in row])

    def state_row(self) -> Any | None:  # noqa: ANN401  # as the protocol says
        """Return the one row of state; a reader's came with the beginning of its transaction."""
        return self.execute(STATE_QUERY).fetchone() if self._state is None else self._state[0]

    def last_term(self) -> int:
        """Return the highest number that a term was given."""
        (last,) = self.execute("SELECT coalesce(max(id), 0) FROM term").fetchone() or (0,)
        return int(last)

    def terms_between(self, first: int, last: int, /) -> list[str]:
        """Return the terms of some numbers."""
        found = self.execute("SELECT text FROM term WHERE id BETWEEN ? AND ? ORDER BY id", (first, last))
        return [text for (text,) in found]

    def add_terms(self, last: int, terms: Sequence[str], /) -> None:
        """Add new terms with the numbers from `last + 1`."""
        self.insert("term", ("id", "text"), list(enumerate(terms, start=last + 1)))

    def begin_reading(self) -> None:
        """Begin a transaction that sees one state and writes nothing, and ask for that state in the same breath."""
        self._leave()
        with self._driver.cursor() as cursor:
            cursor.execute(
                f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self._search_path()}; {STATE_QUERY}", prepare=False
            )
            while cursor.nextset():
                pass
            self._state = (cursor.fetchone(),)

    def look(self) -> None:
        """Find out whether the server still answers."""
        self._leave()
        self._run("SELECT 1")

    def begin(self) -> bool:
        """Begin a transaction that writes, alone among the writers of this index."""
        if self._driver.info.transaction_status != TransactionStatus.IDLE:
            return False
        self._run(
            f"BEGIN ISOLATION LEVEL READ COMMITTED; {self._search_path()}; SET LOCAL lock_timeout TO {self._wait};"
            f" SELECT pg_advisory_xact_lock({LOCK_CLASS}, {self._number}); SET LOCAL lock_timeout TO DEFAULT;"
            " SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
        )
        return True

    def commit(self) -> None:
        """End the transaction, durable, and notify those who listen that the index has changed."""
        self._run(f"SELECT pg_notify('{CHANNEL}', '{self._number:d}'); COMMIT")

    def rollback(self) -> None:
        """End a transaction, if there is one, as if it had never been."""
        self._state = None
        with suppress(psycopg.Error):
            self._leave()
            self._driver.rollback()

    def release(self) -> None:
        """End a transaction, if there is one, without waiting for the server: its answer is read by the next use."""
        server = self._driver.pgconn
        if self._driver.closed or self._driver.info.transaction_status != TransactionStatus.INTRANS:
            self.rollback()
            return
        self._state = None
        with suppress(psycopg.Error):
            server.send_query(b"ROLLBACK")
            self._leaving = True
            server.flush()

    def _leave(self) -> None:
        """Read the server's answer to the end of the transaction before.

        It comes in two parts, and libpq would wait for either of them while no other thread can run.
        """
        if not self._leaving:
            return
        self._leaving, server = False, self._driver.pgconn
        with selectors.DefaultSelector() as selector:
            selector.register(server.socket, selectors.EVENT_READ)
            answered = False
            while not answered:
                while server.is_busy():
                    selector.select()
                    server.consume_input()
                answered = server.get_result() is None

    def restart(self) -> None:
        """Begin a reader's transaction again, to see the newest state."""
        if self._driver.info.transaction_status != TransactionStatus.IDLE:
            self.rollback()
            self.begin_reading()

    def close(self) -> None:
        """Close it."""
        with suppress(psycopg.Error):
            self._driver.close()

    def _written(self, statement: str) -> str:
        """Return a statement as this connection sends it."""
        return translated(statement)

    def _run(self, statements: str) -> None:
        self._driver.execute(statements, prepare=False)

    def _search_path(self) -> str:
        return f"SET LOCAL search_path TO {self._schema}, pg_temp"


class PastConnection(PostgresConnection):
    """A reader's connection on which `document` and `chunk` are the rows that a snapshot holds.

    They precede each statement: a transaction that only reads cannot make views, and nothing of a session
    outlives a transaction behind a pooler.
    """

    def __init__(self, dsn: str, number: int, wait_seconds: float, named: NamedState) -> None:
        super().__init__(dsn, number, wait_seconds)
        tables = (f"{table} AS NOT MATERIALIZED ({rows})" for table, rows in tables_then(named))
        self._then = f"WITH {', '.join(tables)} "

    def _written(self, statement: str) -> str:
        prepared = self._then + statement if _NAMES_ROWS.search(statement) else statement
        return translated(prepared.replace("main.", f"{self._schema}."))


def connect(dsn: str) -> psycopg.Connection[Any]:
    """Connect to a database. Raises StoreError, InvalidInputError; none repeats the address: it may hold a secret."""
    try:
        return psycopg.connect(
            dsn,
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=psycopg.RawCursor,
            connect_timeout=CONNECT_SECONDS,
            application_name="twofold",
            client_encoding="utf-8",
        )
    except psycopg.ProgrammingError:
        raise InvalidInputError(
            "That is not the address of a database.", "Write postgresql://user@host:5432/database?index=NAME."
        ) from None
    except psycopg.Error as error:
        raise ours(error) from None


def schema_of(number: int) -> str:
    """Return the schema that holds an index's tables: made of its number, never of its name."""
    return f"twofold_{number:d}"


@contextmanager
def failures() -> Iterator[None]:
    """Turn the database's failures into ours, with a remedy each."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise CorruptError("The index is damaged: a text of its catalog is not UTF-8.", _VERIFY) from error
    except psycopg.Error as error:
        raise ours(error) from error


_VERIFY = "Run `twofold index verify`; restore the database or sync into a new index."
_RETRY = "Run it again when the server answers; what was acknowledged is kept, and nothing is half done."
_GONE = ("The index is no longer in the database", "It was deleted; `twofold sync` makes a new one.")
_RESTORE = ("The database is damaged", "Restore it from a backup.")
_KINDS: tuple[tuple[type[psycopg.Error], type[TwofoldError], str, str], ...] = (
    (
        errors.LockNotAvailable,
        WriterBusyError,
        "Another process is writing to this index",
        "Wait until it has finished.",
    ),
    (errors.DiskFull, StorageFullError, "The database server has no room left", "Free some there, and run it again."),
    (errors.TooManyConnections, StoreError, "The database server is at its `max_connections`", "Use a pooler."),
    (errors.ReadOnlySqlTransaction, StoreError, "The database is a replica or read-only", "Write to its primary."),
    (errors.InsufficientPrivilege, StoreError, "The database user may not do this", "See docs/teams.md for grants."),
    (errors.UndefinedTable, NotFoundError, *_GONE),
    (errors.InvalidSchemaName, NotFoundError, *_GONE),
    (errors.ProgramLimitExceeded, InvalidInputError, "A path is too long for the database", "Shorten it."),
    (errors.DataCorrupted, CorruptError, *_RESTORE),
    (errors.IndexCorrupted, CorruptError, *_RESTORE),
    (psycopg.IntegrityError, CorruptError, "The index is damaged", _VERIFY),
    (psycopg.DataError, CorruptError, "The index is damaged", _VERIFY),
    (psycopg.OperationalError, DatabaseLostError, "The database cannot be reached", _RETRY),
)


def ours(error: psycopg.Error) -> TwofoldError:
    """Return the error that says what a failure of the database means."""
    reason = (error.diag.message_primary or str(error).strip() or type(error).__name__).splitlines()[-1].strip()
    refused = isinstance(error, errors.InternalError_) and os.strerror(errno.EFBIG) in reason  # it has no code
    for kind, made, what, hint in _KINDS:
        if isinstance(error, kind) or (refused and kind is errors.DiskFull):
            return made(f"{what}: {reason}.", hint)
    return StoreError(f"PostgreSQL failed: {reason}.", "Run `twofold index verify`.")


def _bound(value: Any) -> Any:  # noqa: ANN401  # what a statement is bound to
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _decoded(cursor: psycopg.Cursor[Any]) -> list[Any]:
    """Return rows with the texts that stand in `bytea`, and whole numbers for sums."""
    blobs, columns = blob_columns(), list(cursor.description or ())
    texts = [at for at, one in enumerate(columns) if one.type_code == _BYTEA and one.name not in blobs]
    sums = [at for at, one in enumerate(columns) if one.type_code == _NUMERIC]
    rows = cursor.fetchall()
    if not texts and not sums:
        return rows
    decoded = []
    for row in rows:
        values = list(row)
        for at in texts:
            if values[at] is not None:
                values[at] = values[at].decode()
        for at in sums:
            values[at] = int(values[at])
        decoded.append(tuple(values))
    return decoded
