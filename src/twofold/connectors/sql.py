"""Rows of a SQLite database as documents: what a query gives, each row by its first column."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import apsw

from twofold.connectors.spool import Spool
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.types import DocumentInfo
from twofold.ingest.connector import Item
from twofold.ingest.document import content_hash
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped, source_name

TEXT_COLUMNS = ("text", "body", "content")


class SqliteConnector:
    """What a query reads of a database file, which is opened for reading alone.

    The first column is the row's id. A column `title` is the document's title, the column `text` (or `body`, or
    `content`; without one the last) its text, as Markdown; all others are fields of its metadata.
    """

    def __init__(self, path: str, query: str) -> None:
        self._path = path
        self._query = query
        self._spool = Spool()

    @property
    def root(self) -> str:
        """The database and the query."""
        return f"{self._database}#{' '.join(self._query.split())}"

    @property
    def origin(self) -> str:
        """`sql`."""
        return "sql"

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:  # noqa: ARG002
        """Yield the rows; a row's version is the hash of what it says.

        Raises NotFoundError for a file that is not there, InvalidInputError for a query that it does not understand.
        """
        for identity, data in self._rows():
            source = f"{self._database}/{identity}.md"
            version = content_hash(data)
            if len(data) > limits.file_bytes:
                yield Skipped(source, source, f"it is larger than the {limits.file_bytes:,} bytes allowed")
            else:
                self._spool.put(source, data)  # also what is as before: it is read again for other --meta fields
                yield Item(source, version)

    def load(self, item: Item, limits: Limits) -> Source:
        """Return a row that was read while the query was run. Raises ReadError."""
        return Source(item.source, self._spool.take(item.source), limits)

    @property
    def _database(self) -> str:
        return f"sqlite:{source_name(str(Path(self._path).resolve()))}"

    def _rows(self) -> Iterator[tuple[str, bytes]]:
        if not Path(self._path).is_file():
            raise NotFoundError(f"{self._path}: no such file", "Name a SQLite database: sqlite:/path/to.db#SELECT …")
        try:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW
            with closing(apsw.Connection(str(Path(self._path).resolve()), flags=flags)) as connection:
                cursor = connection.execute(self._query)
                names = [name.lower() for name, *_ in cursor.get_description()]
                for row in cursor:
                    yield str(row[0]).replace("/", "_"), _document(names, row)
        except (apsw.Error, apsw.ExecutionCompleteError) as error:
            raise InvalidInputError(
                f"The query cannot be run: {error}.", "Try it with the `sqlite3` program."
            ) from error


def _document(names: list[str], row: tuple[object, ...]) -> bytes:
    """Write a row as Markdown with front matter."""
    columns = dict(zip(names, row, strict=True))
    text = next((name for name in TEXT_COLUMNS if name in columns), names[-1])
    fields = {name: value for name, value in columns.items() if name != text and isinstance(value, str | int | float)}
    front = "\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items())
    return f"---\n{front}\n---\n\n{columns[text] or ''}\n".encode()
