"""LanceDB: full text, exact vectors, and both fused by rank. Set LANCE_LOG=error to silence its warnings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from material import Asked

from peers.engine import Hits, K, Rows, Task

COLUMNS = ["number", "text"]


class LanceDb:
    """A table in a folder."""

    def __init__(self, folder: Path, *, built: bool) -> None:
        self.version = lancedb.__version__
        self._database = lancedb.connect(folder)
        self._table: Any = self._database.open_table("passages") if built else None
        self._waiting: list[pa.RecordBatch] = []

    def add(self, rows: Rows) -> None:
        """Append; the first ten thousand or so make the table."""
        numbers, texts, _, shelves, halves = zip(*rows.fields(), strict=True)
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.vectors.reshape(-1)), rows.vectors.shape[1])
        columns = [pa.array(numbers), pa.array(texts), vectors, pa.array(shelves), pa.array(halves)]
        batch = pa.RecordBatch.from_arrays(columns, ["number", "text", "vector", "shelf", "half"])
        if self._table is None:
            self._waiting.append(batch)
        else:
            self._table.add(pa.Table.from_batches([batch]))
            self._table.optimize()

    def ready(self) -> None:
        """Write the table and index its text with stems and stop words."""
        self._table = self._database.create_table("passages", pa.Table.from_batches(self._waiting))
        if hasattr(self._table, "create_fts_index"):
            self._table.create_fts_index("text", language="English", stem=True, remove_stop_words=True)
        else:
            self._table.create_index("text", config=FTS(language="English", stem=True, remove_stop_words=True))

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give all modes, vectors compared exactly."""
        reranker = RRFReranker()

        def hybrid(at: int, condition: str = "") -> Hits:
            query = self._table.search(query_type="hybrid").vector(asked.vectors[at]).text(asked.texts[at])
            query = query.where(condition, prefilter=True) if condition else query
            return _hits(query.metric("cosine").rerank(reranker).limit(K).to_list())

        def words(at: int) -> Hits:
            return _hits(
                self._table.search(asked.texts[at], query_type="fts").limit(K).select([*COLUMNS, "_score"]).to_list()
            )

        def meaning(at: int) -> Hits:
            query = self._table.search(asked.vectors[at]).metric("cosine").limit(K)
            return _hits(query.select([*COLUMNS, "_distance"]).to_list())

        return {
            "bm25": words,
            "vector": meaning,
            "hybrid": hybrid,
            "filter 1 %": lambda at: hybrid(at, "shelf = 7"),
            "filter 50 %": lambda at: hybrid(at, "half = true"),
        }

    def close(self) -> None:
        """Do nothing."""


def _hits(rows: list[Mapping[str, Any]]) -> Hits:
    return [(row["number"], row["text"]) for row in rows]
