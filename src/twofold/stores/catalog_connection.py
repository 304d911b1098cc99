"""What the writer's and the readers' steps ask of a catalog's connection, whichever database keeps the catalog.

Statements are written for SQLite in what PostgreSQL understands as well; what each says in its own way is a method.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

SQLValue = None | int | float | str | bytes
STATE_QUERY = (
    "SELECT generation, layout, edition, coalesce(dimensions, 0), coalesce(chunks, 0), coalesce(words, 0),"
    " coalesce(pending, 0), access FROM state LEFT JOIN edition ON edition.id = state.edition"
)


class Rows(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any | None:  # noqa: ANN401  # a column's type is what the schema says
        """Return the next row, None after the last."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class CatalogConnection(Protocol):
    """A connection to a catalog."""

    def execute(self, statement: str, bindings: Sequence[SQLValue] = (), /) -> Rows:
        """Run one statement; `?` and `?1` stand for what is bound."""

    def executemany(self, statement: str, bindings: Iterable[Sequence[SQLValue]], /) -> object:
        """Run one statement for each row of values."""

    def among(self, values: Sequence[int] | Sequence[str], /) -> tuple[str, Any]:
        """Return SQL of a list to stand after `IN`, with one `?`, and what is bound to that."""

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[SQLValue]], /) -> None:
        """Add many rows to a table of ours."""

    def state_row(self) -> Any | None:  # noqa: ANN401  # as `fetchone`
        """Return what `STATE_QUERY` finds in the present transaction, None where the index has lost it."""

    def last_term(self) -> int:
        """Return the highest number that a term was given; 0 for none. Raises CorruptError for no number."""

    def terms_between(self, first: int, last: int, /) -> list[str]:
        """Return the terms of the numbers from `first` to `last`, by rising number."""

    def add_terms(self, last: int, terms: Sequence[str], /) -> None:
        """Add new terms with the numbers from `last + 1`."""

    def begin(self) -> bool:
        """Begin a transaction that writes, alone among writers. Return false inside of one: it goes on."""

    def commit(self) -> None:
        """End the transaction that `begin` began: all of it is durable when this returns."""

    def rollback(self) -> None:
        """End a transaction, if there is one, as if it had never been."""

    def restart(self) -> None:
        """Let a reader see the newest state: begin its transaction again. Outside of one, do nothing."""
