"""The writer's side of the catalog's terms: each has a number, given once and never again to another term."""

import os
from collections.abc import Mapping, Sequence

from twofold.domain.errors import CorruptError, InvalidInputError
from twofold.kernels import Counts, number_terms, unknown_terms
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.catalog import HINT
from twofold.stores.local.scoping import storable

TERMS_REMEMBERED = 200_000  # some 30 MB
COUNTED = (dict,) if Counts is None else (dict, Counts)


class Vocabulary:
    """Numbers of terms, with the most recent ones remembered. Forget them when a transaction failed that gave some.

    The analyzer's records of terms remember numbers too, under the vocabulary's name, which no other ever has.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._name = _new_name()

    def numbered(
        self, connection: CatalogConnection, documents: Sequence[Sequence[Mapping[str, int]]]
    ) -> list[list[bytes]]:
        """Return terms as (uint32 number, uint16 count) by rising number, and keep those that are new.

        Each document gives the counts of its passages. Raises InvalidInputError for a term that is not Unicode.
        """
        if len(self._known) > TERMS_REMEMBERED:
            self._known.clear()
        plain = [[one if isinstance(one, COUNTED) else dict(one) for one in passages] for passages in documents]
        last = connection.last_term()
        if len(self._known) != last:  # numbers have no gaps, so if all are remembered no other term has one
            asked = dict.fromkeys(
                term
                for passages in plain
                for counts in passages
                for term in unknown_terms(counts, self._known, self._name)
            )
            self._known |= _numbers_of(connection, list(asked))
        fresh: list[str] = []
        try:
            packed = [
                [number_terms(counts, self._known, last, fresh, self._name) for counts in passages]
                for passages in plain
            ]
        except (ValueError, OverflowError) as error:
            raise CorruptError(f"The index is damaged: {error}.", HINT) from error
        if not storable("".join(fresh)):
            raise InvalidInputError("A passage has a term that is not Unicode.", "Clean its text first.")
        if fresh:
            connection.add_terms(last, fresh)
        return packed

    def forget(self) -> None:
        """Forget all: a transaction was rolled back."""
        self._known.clear()
        self._name = _new_name()


def _new_name() -> int:
    return int.from_bytes(os.urandom(8)) | 1


def _numbers_of(connection: CatalogConnection, terms: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those terms that have one."""
    if not terms:
        return {}
    listed, bound = connection.among(terms)
    return dict(connection.execute(f"SELECT text, id FROM term WHERE text IN {listed}", (bound,)))  # noqa: S608
