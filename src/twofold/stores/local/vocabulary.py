"""The writer's side of the catalog's terms: each has a number, given once and never again to another term."""

import json
from collections.abc import Mapping, Sequence

import apsw

from twofold.domain.errors import CorruptError, InvalidInputError
from twofold.kernels import number_terms, unknown_terms
from twofold.stores.local.catalog import HINT, select
from twofold.stores.local.scoping import storable

TERMS_REMEMBERED = 200_000  # some 30 MB
MAX_TERM_ID = 2**32 - 1


class Vocabulary:
    """Numbers of terms, with the most recent ones remembered. Forget them when a transaction failed that gave some."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def numbered(
        self, connection: apsw.Connection, documents: Sequence[Sequence[Mapping[str, int]]]
    ) -> list[list[bytes]]:
        """Return terms as (uint32 number, uint16 count) by rising number, and keep those that are new.

        Each document gives the counts of its passages. Raises InvalidInputError for a term that is not Unicode.
        """
        if len(self._known) > TERMS_REMEMBERED:
            self._known.clear()
        plain = [[one if isinstance(one, dict) else dict(one) for one in passages] for passages in documents]
        last = _last_number(connection)
        if len(self._known) != last:  # numbers have no gaps, so if all are remembered no other term has one
            asked = dict.fromkeys(
                term for passages in plain for counts in passages for term in unknown_terms(counts, self._known)
            )
            self._known |= _numbers_of(connection, list(asked))
        fresh: list[str] = []
        try:
            packed = [[number_terms(counts, self._known, last, fresh) for counts in passages] for passages in plain]
        except (ValueError, OverflowError) as error:
            raise CorruptError(f"The index is damaged: {error}.", HINT) from error
        if not storable("".join(fresh)):
            raise InvalidInputError("A passage has a term that is not Unicode.", "Clean its text first.")
        _keep(connection, last, fresh)
        return packed

    def forget(self) -> None:
        """Forget all: a transaction was rolled back."""
        self._known.clear()


def _last_number(connection: apsw.Connection) -> int:
    """Return the last number that was given. Raises CorruptError for one that no term can have."""
    (last,) = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'term'").fetchone() or (0,)
    if not (isinstance(last, int) and 0 <= last <= MAX_TERM_ID):
        raise CorruptError(f"The index is damaged: its last term has the number {last}.", HINT)
    return last


def _keep(connection: apsw.Connection, last: int, terms: Sequence[str]) -> None:
    """Write new terms with the numbers from `last + 1`."""
    if terms:  # by one statement: one for each takes longer than all the rest of a passage
        query = "INSERT INTO term (id, text) SELECT ? + key, value FROM json_each(?) WHERE true ORDER BY key"
        connection.execute(query, (last + 1, json.dumps(terms)))


def _numbers_of(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those terms that have one."""
    query = "SELECT text, id FROM term WHERE text IN (SELECT value FROM json_each(?))"
    return dict(select(connection, query, (json.dumps(terms),)))
