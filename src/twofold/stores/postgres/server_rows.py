"""What a view that ranks in the database asks it: which passages may be found, where terms occur, and rows of a few."""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Viewer
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError
from twofold.domain.filters import MATCH_ALL, fields_of, matches
from twofold.domain.ports import ALL, Scope
from twofold.domain.types import Clause
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.serialization import (
    FIELD_COLUMNS,
    FieldsRow,
    read_document_fields,
    read_filter_fields,
    read_indexed_text,
    read_terms,
    reading,
)
from twofold.stores.local.snapshot import State
from twofold.stores.local.visibility import readable
from twofold.text.phrases import holds

MAX_REMEMBERED = 64
FIELDS_WIDTH = FIELD_COLUMNS.count(",") + 1

Rows = NDArray[np.int64]
Made = TypeVar("Made")


class CachedState:
    """What was worked out of one generation of an index, for all views of it. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[int, dict[Hashable, Any]] = (-1, {})

    def get(self, generation: int, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made of this generation under a name, made now if it was not."""
        known, held = self._held
        if known == generation and name in held:
            return cast("Made", held[name])
        made = make()
        with self._lock:
            if self._held[0] != generation:
                self._held = (generation, {})
            kept = self._held[1]
            while len(kept) >= MAX_REMEMBERED:
                kept.pop(next(iter(kept)))
            kept[name] = made
        return made


class Condition(NamedTuple):
    """SQL that begins with ` AND`, and what is bound to it."""

    sql: str
    bound: tuple[Any, ...]


NO_CONDITION = Condition("", ())


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A passage's row, its length in words, and its terms by rising number with how often each occurs."""

    row: int
    words: int
    ids: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]


class ServerRows:
    """Asks on one connection, inside one transaction, for what one viewer may see."""

    def __init__(
        self,
        connection: CatalogConnection,
        known: KnownTerms,
        remembered: CachedState,
        state: State,
        viewer: Viewer | None,
    ) -> None:
        self._connection, self._known, self._remembered = connection, known, remembered
        self._state, self._viewer = state, viewer
        self._passages: dict[int, Passage] = {}

    def cached(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was worked out of this generation for this viewer."""
        key = "" if self._viewer is None else self._viewer.key
        return self._remembered.get(self._state.generation, (self._state.edition, key, name), make)

    def select(self, query: str, *bound: Any) -> Iterator[Any]:  # noqa: ANN401  # what the client binds
        """Yield the rows of a query."""
        return iter(self._connection.execute(query, bound))

    @cached_property
    def _readable(self) -> tuple[int, ...]:
        return () if self._viewer is None else tuple(readable(self._connection, self._viewer))

    def seen(self, table: str) -> Condition:
        """Return the condition that the viewer may read the document of a table's row."""
        if self._viewer is None:
            return NO_CONDITION
        numbers = [number for number in self._readable if number]
        return Condition(
            f" AND EXISTS (SELECT 1 FROM document AS seen WHERE seen.row = {table}.document"  # noqa: S608  # our names
            " AND (seen.readers = ANY(?::bigint[]) OR (?::boolean AND seen.readers IS NULL)))",
            (numbers, len(numbers) < len(self._readable)),
        )

    def found(self, table: str, scope: Scope) -> Condition:
        """Return the condition that a table's row is of a passage that may be found."""
        seen = self.seen(table)
        if scope == ALL:
            return seen
        rows = self.rows_in(scope).tolist()
        return Condition(f"{seen.sql} AND {table}.row = ANY(?::bigint[])", (*seen.bound, rows))

    def rows_in(self, scope: Scope) -> Rows:
        """Return the rows of the passages that may be found, rising.

        Filters are held against the fields of all passages; what a scope comes to is remembered for a generation.
        """
        return self.cached(repr(scope), lambda: np.array(list(self._rows_in(scope)), dtype=np.int64))

    @reading("a passage")
    def _rows_in(self, scope: Scope) -> list[int]:
        clauses = (*scope.required, *scope.excluded)
        holding = self.holding(list(dict.fromkeys(term for one in clauses for term in _terms_of(one))))
        texts = ", header, chunk.text" if any(map(_has_words, clauses)) else ", '', ''"
        seen, among = self.seen("chunk"), NO_CONDITION
        needed = [holding[term] for one in scope.required for term in one.terms]
        if needed:
            among = Condition(" AND chunk.row = ANY(?::bigint[])", (list(set.intersection(*needed)),))
        query = (
            f"SELECT chunk.row, {FIELD_COLUMNS}{texts} FROM chunk JOIN document ON document.row = chunk.document"  # noqa: S608
            f" WHERE edition = ?{seen.sql}{among.sql} ORDER BY chunk.row"
        )
        found = []
        for row, *columns in self.select(query, self._state.edition, *seen.bound, *among.bound):
            fields = FieldsRow(*columns[:FIELDS_WIDTH])
            if scope.filter != MATCH_ALL and not _passes(scope, fields):
                continue
            held = dict.fromkeys((term for term, rows in holding.items() if row in rows), 1)
            text = read_indexed_text(fields.heading, *columns[FIELDS_WIDTH:])
            if all(holds(one, held, text) for one in scope.required) and not any(
                holds(one, held, text) for one in scope.excluded
            ):
                found.append(row)
        return found

    def holding(self, terms: Sequence[str]) -> Mapping[str, set[int]]:
        """Return for each term the rows of the passages that hold it."""
        numbers = dict(zip(terms, self.numbers(terms), strict=True))
        rows: dict[int, set[int]] = {number: set() for number in numbers.values() if number >= 0}
        query = "SELECT term, row FROM posting WHERE edition = ? AND term = ANY(?::bigint[])"
        for number, row in self.select(query, self._state.edition, list(rows)) if rows else ():
            rows[number].add(row)
        return {term: rows.get(number, set()) for term, number in numbers.items()}

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """Return the terms' numbers, -1 for one that the index has not."""
        fresh = [term for term in terms if term not in self._known.ids]
        if fresh:
            listed, bound = self._connection.among(fresh)
            found = self.select(f"SELECT id, text FROM term WHERE text IN {listed}", bound)  # noqa: S608
            self._known.add([(int(number), str(text)) for number, text in found])
        return [self._known.ids.get(term, -1) for term in terms]

    def texts(self, numbers: Sequence[int]) -> Sequence[str]:
        """Return the terms of some numbers. Raises LookupError for a number that none has."""
        fresh = [one for one in dict.fromkeys(numbers) if one not in self._known.texts]
        read: dict[int, str] = {}
        if fresh:
            found = self.select("SELECT id, text FROM term WHERE id = ANY(?::bigint[])", fresh)
            read = {int(number): str(text) for number, text in found}
            self._known.add(read.items())
        return [read[one] if one in read else self._known.texts[one] for one in numbers]

    def frequencies(self, numbers: Iterable[int], *, whole: bool = False) -> Mapping[int, int]:
        """Count the passages that hold each term, of those that the viewer may read, or with `whole` of all."""
        wanted = sorted({number for number in numbers if number >= 0})
        seen = NO_CONDITION if whole else self.seen("posting")
        query = (
            f"SELECT term, count(*) FROM posting WHERE edition = ? AND term = ANY(?::bigint[]){seen.sql} GROUP BY term"  # noqa: S608
        )
        return dict(self.select(query, self._state.edition, wanted, *seen.bound)) if wanted else {}

    def totals(self) -> tuple[int, int]:
        """Count the passages that the viewer may read, and their words."""
        if self._viewer is None:
            return self._state.chunks, self._state.words
        return self.cached("totals", self._totals)

    def _totals(self) -> tuple[int, int]:
        seen = self.seen("chunk")
        query = f"SELECT count(*), coalesce(sum(words), 0) FROM chunk WHERE edition = ?{seen.sql}"  # noqa: S608
        chunks, words = next(self.select(query, self._state.edition, *seen.bound))
        return int(chunks), int(words)

    def passages(self, keys: Sequence[int]) -> Mapping[int, Passage]:
        """Return those of some passages that the viewer may read."""
        fresh = [key for key in dict.fromkeys(keys) if key not in self._passages]
        if fresh:
            seen = self.seen("chunk")
            query = f"SELECT key, row, words, terms FROM chunk WHERE edition = ? AND key = ANY(?::bigint[]){seen.sql}"  # noqa: S608
            for key, row, words, terms in self.select(query, self._state.edition, fresh, *seen.bound):
                self._passages[key] = Passage(row, words, *read_terms(terms))
        return {key: self._passages[key] for key in keys if key in self._passages}

    def indexed_texts(self, keys: Sequence[int]) -> Mapping[int, str]:
        """Return what both retrievers see of some passages that the viewer may read."""
        seen = self.seen("chunk")
        query = f"SELECT key, heading, header, text FROM chunk WHERE edition = ? AND key = ANY(?::bigint[]){seen.sql}"  # noqa: S608
        return {
            key: read_indexed_text(*row) for key, *row in self.select(query, self._state.edition, keys, *seen.bound)
        }

    def vectors(self, keys: Sequence[int]) -> Mapping[int, NDArray[np.float16] | None]:
        """Return the stored vectors of passages that the viewer may read, None for one that waits for it."""
        seen = self.seen("chunk")
        query = f"SELECT key, vector FROM chunk WHERE edition = ? AND key = ANY(?::bigint[]){seen.sql}"  # noqa: S608
        found = self.select(query, self._state.edition, list(keys), *seen.bound)
        return {key: None if vector is None else self.half(vector) for key, vector in found}

    def half(self, data: bytes) -> NDArray[np.float16]:
        """Read a stored vector. Raises CorruptError for one of another width."""
        vector = np.frombuffer(data, dtype="<f2")
        if len(vector) != self._state.dimensions:
            raise CorruptError("The index is damaged: a vector has another width.", "Run `twofold index verify`.")
        return vector


def _terms_of(clause: Clause) -> Iterator[str]:
    yield from clause.terms
    for one in clause.any_of:
        yield from _terms_of(one)


def _has_words(clause: Clause) -> bool:
    return bool(clause.verbatim) or any(map(_has_words, clause.any_of))


def _passes(scope: Scope, fields: FieldsRow) -> bool:
    return matches(scope.filter, fields_of(read_document_fields(fields), read_filter_fields(fields)))
