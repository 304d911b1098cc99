"""Rows of a database as documents: what a query gives, each row by its first column."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from twofold.connectors.spool import Spool
from twofold.domain.errors import InvalidInputError, MissingExtraError, NotFoundError, first_line
from twofold.domain.types import DocumentInfo
from twofold.ingest.connector import Item
from twofold.ingest.document import content_hash
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped, source_name
from twofold.system.paths import real_path

if TYPE_CHECKING:
    import psycopg

TEXT_COLUMNS = ("text", "body", "content")
ROW_BATCH_SIZE = 500
SECONDS_TO_CONNECT = 20

Row = tuple[Sequence[str], Sequence[object]]
"""The columns' names and a row's values."""


class _Rows(ABC):
    """What a query gives: each row is a document, which is read while the query runs.

    The first column is the row's id. A column `title` is the document's title, the column `text` (or `body`, or
    `content`; without one the last) its text, as Markdown; all others are fields of its metadata.
    """

    def __init__(self, query: str) -> None:
        self._query = " ".join(query.split())
        self._spool = Spool()

    @property
    def root(self) -> str:
        """The database and the query."""
        return f"{self._database}#{self._query}"

    @property
    def origin(self) -> str:
        """`sql`."""
        return "sql"

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:  # noqa: ARG002
        """Yield the rows; a row's version is the hash of what it says.

        Raises NotFoundError for a database that is not there, InvalidInputError for a query that it refuses.
        """
        asked = content_hash(self._query.encode())[:8]  # rows of two queries may have one id
        for names, row in self._rows():
            source = f"{self._database}#{asked}/{source_name(str(row[0]).replace('/', '_'))}.md"
            data = _document(names, row)
            if len(data) > limits.file_bytes:
                yield Skipped(source, source, f"it is larger than the {limits.file_bytes:,} bytes allowed")
            else:
                self._spool.put(source, data)  # also what is as before: it is read again for other --meta fields
                yield Item(source, content_hash(data))

    def load(self, item: Item, limits: Limits) -> Source:
        """Return a row that was read while the query was run. Raises ReadError."""
        return Source(item.source, self._spool.take(item.source), limits)

    @property
    @abstractmethod
    def _database(self) -> str:
        """Return the database's name, without any password."""

    @abstractmethod
    def _rows(self) -> Iterator[Row]:
        """Yield the columns' names with each row."""


class SqliteConnector(_Rows):
    """What a query reads of a SQLite database file, which is opened for reading alone."""

    def __init__(self, path: str, query: str) -> None:
        super().__init__(query)
        self._path = path

    @property
    def _database(self) -> str:
        return f"sqlite:{source_name(real_path(self._path))}"

    def _rows(self) -> Iterator[Row]:
        if not Path(self._path).is_file():
            raise NotFoundError(
                f"There is no file {self._path}.", "Name a SQLite database: sqlite:/path/to.db#SELECT …"
            )
        try:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW
            with closing(apsw.Connection(str(Path(self._path).resolve()), flags=flags)) as connection:
                cursor = connection.execute(self._query)
                names = [name.lower() for name, *_ in cursor.get_description()]
                for row in cursor:
                    yield names, row
        except (apsw.Error, apsw.ExecutionCompleteError) as error:
            raise InvalidInputError(
                f"The query cannot be run: {error}.", "Try it with the `sqlite3` program."
            ) from error


class PostgresConnector(_Rows):
    """What a query reads of a PostgreSQL database, in a transaction that can write nothing.

    The address names no password: libpq takes it from `PGPASSWORD` or the password file.
    """

    def __init__(self, address: str, query: str) -> None:
        super().__init__(query)
        self._address = address

    @property
    def _database(self) -> str:
        known = self._parts()
        place = "".join((f"{known['user']}@" if "user" in known else "", known.get("host", "")))
        port = f":{known['port']}" if "port" in known else ""
        return source_name(f"postgresql://{place}{port}/{known.get('dbname', '')}")

    def _parts(self) -> dict[str, str]:
        """Return the parts of the address. Raises InvalidInputError for a malformed one, or one with a password."""
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            parts = {name: str(value) for name, value in conninfo_to_dict(self._address).items()}
        except ProgrammingError as error:
            raise InvalidInputError(
                "That is no address of a database.", "Write postgresql://user@host/database#SELECT …"
            ) from error
        if "password" in parts:
            raise InvalidInputError("An address names no password.", "Set PGPASSWORD, or write a password file.")
        return parts

    def _rows(self) -> Iterator[Row]:
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise MissingExtraError("Reading PostgreSQL needs psycopg.", "pip install 'twofold[postgres]'") from error
        try:
            connection = psycopg.connect(self._address, connect_timeout=SECONDS_TO_CONNECT)
        except psycopg.OperationalError as error:
            raise NotFoundError(
                f"The database cannot be reached: {first_line(error)}.", "Check the address, and whether it runs."
            ) from error
        with closing(connection):
            try:
                yield from self._run_query(connection)
            except psycopg.Error as error:
                raise InvalidInputError(
                    f"The query cannot be run: {first_line(error)}.", "Try it with `psql`."
                ) from error

    def _run_query(self, connection: "psycopg.Connection") -> Iterator[Row]:
        """Run the query with a cursor of the server, so that any number of rows takes little memory."""
        connection.read_only = True
        with connection.cursor(name="twofold") as cursor:
            cursor.itersize = ROW_BATCH_SIZE
            cursor.execute(self._query.encode())
            names = [column.name.lower() for column in cursor.description or ()]
            for row in cursor:
                yield names, row


def _document(names: Sequence[str], row: Sequence[object]) -> bytes:
    """Write a row as Markdown with front matter."""
    columns = dict(zip(names, row, strict=True))
    text = next((name for name in TEXT_COLUMNS if name in columns), names[-1])
    plain = {name: _plain(value) for name, value in columns.items() if name != text}
    front = "\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain.items() if value is not None)
    return f"---\n{front}\n---\n\n{columns[text] or ''}\n".encode()


def _plain(value: object) -> str | int | float | None:
    """Return what a field can hold of a column's value; None for what it cannot, such as bytes."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, datetime | date | time) else None
