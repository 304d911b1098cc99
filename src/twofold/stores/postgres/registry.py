"""The list of the indexes in a database: names and numbers. A name is a value and never part of a statement."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import errors

from twofold.domain.errors import InvalidInputError, MismatchError, NotFoundError
from twofold.stores.database_address import Address, address_of, with_index
from twofold.stores.local.catalog import EMPTY_STATE, FORMAT_VERSION
from twofold.stores.postgres.connection import LOCK_CLASS, connect, failures, schema_of
from twofold.stores.postgres.dialect import schema_statements

MAKING = ".making-"

_LIST = """
CREATE SCHEMA IF NOT EXISTS twofold;
CREATE TABLE IF NOT EXISTS twofold.indexes (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name   bytea NOT NULL UNIQUE,
  format bigint NOT NULL
);
"""


def number_of(address: Address, *, create: bool) -> int:
    """Return the number of an index, which is made if need be.

    Raises NotFoundError, MismatchError for another format, StoreError.
    """
    with failures(), connect(address.dsn) as database:
        number = _found(database, address.index)
        if number is None and create:
            number = _created(database, address.index)
    if number is None:
        raise NotFoundError(f"There is no index {address.shown}.", "Make it with `twofold sync PATH --index URL`.")
    return number


def index_names(address: Address) -> Sequence[str]:
    """List the indexes of a database by name."""
    with failures(), connect(address.dsn) as database:
        if not _has_list(database):
            return []
        rows = database.execute("SELECT name FROM twofold.indexes ORDER BY name").fetchall()
    names = [bytes(name).decode() for (name,) in rows]
    return [name for name in names if not name.startswith(MAKING)]


def index_numbers(database: psycopg.Connection[Any]) -> Mapping[str, int]:
    """Return the number of each index in a database."""
    if not _has_list(database):
        return {}
    rows = database.execute("SELECT name, id FROM twofold.indexes").fetchall()
    return {bytes(name).decode(): int(number) for name, number in rows}


def unfinished(address: Address) -> Address:
    """Return where an index is filled before it gets its name."""
    return address_of(with_index(address.dsn, MAKING + address.index))


def name_index(address: Address) -> None:
    """Publish an index that was filled at `unfinished` under its name. Raises InvalidInputError if that is taken."""
    number = number_of(unfinished(address), create=False)
    with failures(), connect(address.dsn) as database:
        try:
            database.execute("UPDATE twofold.indexes SET name = $1 WHERE id = $2", [address.index.encode(), number])
        except errors.UniqueViolation:
            raise name_taken(address) from None


def name_taken(address: Address) -> InvalidInputError:
    """Return the error for a name that another index has."""
    return InvalidInputError(f"There is an index {address.shown} already.", "Choose another name.")


def drop_index(address: Address, wait_seconds: float) -> None:
    """Delete an index for good. Raises NotFoundError, WriterBusyError while it is used."""
    number = number_of(address, create=False)
    with failures(), connect(address.dsn) as database, database.transaction():
        _locked(database, number, wait_seconds)
        database.execute(f"DROP SCHEMA IF EXISTS {schema_of(number)} CASCADE")
        database.execute("DELETE FROM twofold.indexes WHERE id = $1", [number])


def _has_list(database: psycopg.Connection[Any]) -> bool:
    row = database.execute("SELECT to_regclass('twofold.indexes') IS NOT NULL").fetchone()
    return bool(row and row[0])


def _found(database: psycopg.Connection[Any], name: str) -> int | None:
    if not _has_list(database):
        return None
    query = "SELECT id, format FROM twofold.indexes WHERE name = $1"
    row = database.execute(query, [name.encode("utf-8", "surrogatepass")]).fetchone()
    if row is None:
        return None
    number, version = row
    if version != FORMAT_VERSION:
        raise MismatchError(
            f"The index has format {version}; this twofold reads format {FORMAT_VERSION}.",
            "Use the version of twofold that wrote it, or sync into a new index.",
        )
    return int(number)


def _created(database: psycopg.Connection[Any], name: str) -> int:
    """Make an empty index: it is there whole or not at all. Of two that make it one finds it made."""
    with database.transaction():
        _locked(database, 0, 60.0)
        database.execute(_LIST, prepare=False)
        number = _found(database, name)
        if number is not None:
            return number
        query = "INSERT INTO twofold.indexes (name, format) VALUES ($1, $2) RETURNING id"
        row = database.execute(query, [name.encode(), FORMAT_VERSION]).fetchone()
        (number,) = row or (0,)
        schema = schema_of(number)
        database.execute(f"CREATE SCHEMA {schema}; SET LOCAL search_path TO {schema}, pg_temp")
        database.execute(schema_statements())
        database.execute(EMPTY_STATE)
        return int(number)


def _locked(database: psycopg.Connection[Any], number: int, wait_seconds: float) -> None:
    milliseconds = max(1, round(wait_seconds * 1000))
    database.execute(f"SET LOCAL lock_timeout TO {milliseconds:d}")
    database.execute(f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, {number:d})")
