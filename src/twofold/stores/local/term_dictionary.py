"""Terms by number and numbers by term, remembered between questions: a number is given once and never changes."""

import json
from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import CorruptError
from twofold.stores.local.scoping import term_id

MAX_REMEMBERED = 32_768  # about 8 MB of them


class TermDictionary:
    """Looks terms up in the catalog, and remembers those found. Bears calls from several threads.

    It must be asked from reading connections alone: numbers given out in a transaction that fails are given out again.
    What was not found is not remembered, since it may come.
    """

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._ids: dict[str, int] = {}
        self._texts: dict[int, str] = {}

    def ids(self, connection: apsw.Connection, terms: Sequence[str]) -> NDArray[np.uint32]:
        """Return each term's number; 0, which has no postings, for one that no passage ever held."""
        known = self._ids
        found = [known.get(term) or self._look_up(connection, term) for term in terms]
        return np.array(found, dtype=np.uint32)

    def texts(self, connection: apsw.Connection, ids: Sequence[int]) -> Sequence[str]:
        """Return the terms of some numbers. Raises CorruptError for a number that was never given."""
        known = self._texts
        found = [known.get(one) for one in ids]
        missing = [one for one, text in zip(ids, found, strict=True) if text is None]
        if not missing:
            return found  # type: ignore[return-value]  # none is None
        query = "SELECT id, text FROM term WHERE id IN (SELECT value FROM json_each(?))"
        fresh = dict(connection.execute(query, (json.dumps(missing),)))
        if len(fresh) != len(set(missing)):
            raise CorruptError("The index has lost some of its terms.", "Restore a copy, or sync into a new index.")
        for one, text in fresh.items():
            self._remember(text, one)
        return [fresh[one] if text is None else text for one, text in zip(ids, found, strict=True)]

    def _look_up(self, connection: apsw.Connection, term: str) -> int:
        found = term_id(connection, term)
        if found:
            self._remember(term, found)
        return found

    def _remember(self, term: str, number: int) -> None:
        if len(self._ids) >= self._most:
            self._ids, self._texts = {}, {}  # anew, so that no other thread sees one without the other
        self._ids[term] = number
        self._texts[number] = term
