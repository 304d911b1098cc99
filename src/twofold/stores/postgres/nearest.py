"""The nearest passages of a question's vector, found in the database and scored by the kernel.

pgvector compares in half precision and in whatever order is fast; how far that can be from the kernel's score is
bounded, so every passage within the bound of the k-th is fetched, and scored again: the ranking is the kernel's.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from twofold.domain.ports import Scope
from twofold.domain.types import EMPTY_RANKING, Ranking, Vector
from twofold.kernels import cosines
from twofold.stores.local.serialization import finite_scores
from twofold.stores.local.snapshot import State
from twofold.stores.postgres.posting_rows import MAX_HALF_DIMENSIONS, PostingRows
from twofold.stores.postgres.server_rows import Condition, ServerRows

FETCH_BATCH_SIZE = 2_000  # vectors that are fetched at once where the kernel compares all
FLOAT32 = 2.0**-23
MARGIN = 1.01  # stored vectors are rounded to float16: a little longer than 1 at the most
Halves = NDArray[np.float16]

MAX_SEARCHED = 1_000  # pgvector's `hnsw.ef_search` goes no further
SEARCHED = 10  # neighbors the graph is searched for, for each one wanted: .995 of the ten best in 60,000, .88 with 2


class Nearest:
    """Searches the vectors of one view."""

    def __init__(self, rows: ServerRows, state: State, tables: PostingRows) -> None:
        self._rows, self._state, self._tables = rows, state, tables

    def search(self, vector: Vector, k: int, scope: Scope) -> Ranking:
        """Rank the k nearest passages by cosine."""
        half = vector.astype(np.float16)
        if not self._tables.vector or self._state.dimensions > MAX_HALF_DIMENSIONS or not np.isfinite(half).all():
            return self._all(vector, k, self._rows.found("chunk", scope))
        found = self._rows.found("near", scope)
        if self._state.edition in self._tables.graphs:
            ranking = self._by_graph(vector, half, k, found)
            if len(ranking) >= k:
                return ranking
        return self._exact(vector, half, k, found)

    def _by_graph(self, vector: Vector, half: Halves, k: int, found: Condition) -> Ranking:
        """Rank what a search of the graph comes to, which may miss some, and ends before it has found k."""
        most = 2 * k
        searched = min(max(SEARCHED * k, 100), MAX_SEARCHED)
        self._rows.select("SET LOCAL hnsw.iterative_scan TO strict_order")
        self._rows.select(f"SET LOCAL hnsw.ef_search TO {searched:d}")
        distance = self._distance(f"vector::{self._type}({self._state.dimensions:d})")
        query = (
            f"SELECT chunk.key, chunk.vector FROM (SELECT near.row FROM near WHERE edition = {self._state.edition:d}"  # noqa: S608
            f"{found.sql} ORDER BY {distance} LIMIT ?) AS best JOIN chunk ON chunk.row = best.row"
        )
        return self._scored(vector, k, self._rows.select(query, *found.bound, half.astype(float).tolist(), most))

    def _exact(self, vector: Vector, half: Halves, k: int, found: Condition) -> Ranking:
        query = (
            f"WITH compared AS MATERIALIZED (SELECT near.row, {self._distance('vector')} AS distance FROM near"  # noqa: S608
            f" WHERE edition = ?{found.sql}), cut AS (SELECT max(distance) AS distance FROM"
            " (SELECT distance FROM compared ORDER BY distance LIMIT ?) AS best)"
            " SELECT chunk.key, chunk.vector FROM cut, compared JOIN chunk ON chunk.row = compared.row"
            " WHERE compared.distance <= cut.distance + ?::float8"
        )
        bound = (half.astype(float).tolist(), self._state.edition, *found.bound, k, 2 * _error(vector, half))
        return self._scored(vector, k, self._rows.select(query, *bound))

    @property
    def _type(self) -> str:
        return f'"{self._tables.vector.replace(chr(34), chr(34) * 2)}".halfvec'

    def _distance(self, column: str) -> str:
        operator = self._type.replace(".halfvec", ".<#>")
        return f"{column} OPERATOR({operator}) ?::float8[]::real[]::{self._type}"

    def _scored(self, vector: Vector, k: int, rows: Iterable[tuple[int, bytes]]) -> Ranking:
        held = list(rows)
        if not held:
            return EMPTY_RANKING
        matrix = np.stack([self._rows.half(data) for _, data in held])
        scores = cosines(vector.astype(np.float64), matrix, np.arange(len(held), dtype=np.uint32))
        return Ranking.of([key for key, _ in held], finite_scores(scores), k)

    def _all(self, vector: Vector, k: int, found: Condition) -> Ranking:
        """Compare all with the kernel, some at once."""
        query = (
            f"SELECT chunk.row, key, vector FROM chunk WHERE edition = ? AND vector IS NOT NULL{found.sql}"  # noqa: S608
            " AND chunk.row > ? ORDER BY chunk.row LIMIT ?"
        )
        best, after = EMPTY_RANKING, 0
        while rows := list(self._rows.select(query, self._state.edition, *found.bound, after, FETCH_BATCH_SIZE)):
            some = self._scored(vector, k, [(key, data) for _, key, data in rows])
            joined = np.concatenate([best.keys, some.keys]), np.concatenate([best.scores, some.scores])
            best, after = Ranking.of(*joined, k), rows[-1][0]
        return best


def _error(vector: Vector, half: Halves) -> float:
    """Return how far pgvector's cosine of a stored vector can be from the kernel's, at the most."""
    exact, rounded = vector.astype(np.float64), half.astype(np.float64)
    lost = float(np.linalg.norm(exact - rounded))
    added = len(vector) * FLOAT32 * float(np.linalg.norm(rounded))
    return MARGIN * (lost + MARGIN * added) + 1e-12
