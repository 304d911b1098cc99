"""zvec: HNSW or flat over cosines and its full-text index, fused by rank; optimized before it is asked."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import zvec
from material import Asked

from peers.engine import Hits, K, Rows, Task

DIMENSIONS = 384


class Zvec:
    """A collection in a folder, its vectors under an index of a kind."""

    def __init__(self, folder: Path, index: object, *, built: bool) -> None:
        zvec.init(log_level=zvec.LogLevel.ERROR)
        words = zvec.FtsIndexParam(filters=["lowercase", "stemmer"])
        schema = zvec.CollectionSchema(
            name="passages",
            fields=[
                zvec.FieldSchema("text", zvec.DataType.STRING, index_param=words),
                zvec.FieldSchema("shelf", zvec.DataType.INT64, index_param=zvec.InvertIndexParam()),
                zvec.FieldSchema("half", zvec.DataType.BOOL, index_param=zvec.InvertIndexParam()),
            ],
            vectors=zvec.VectorSchema("dense", zvec.DataType.VECTOR_FP32, DIMENSIONS, index),
        )
        self.version = version("zvec")
        path = str(folder / "passages")
        self._collection = zvec.open(path) if built else zvec.create_and_open(path=path, schema=schema)

    def add(self, rows: Rows) -> None:
        """Insert, as many at once as it takes."""
        docs = [
            zvec.Doc(id=str(number), vectors={"dense": vector}, fields={"text": text, "shelf": shelf, "half": half})
            for number, text, vector, shelf, half in rows.fields()
        ]
        for start in range(0, len(docs), 500):
            self._collection.insert(docs[start : start + 500])

    def ready(self) -> None:
        """Build the indexes."""
        self._collection.optimize()
        self._collection.flush()

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give all modes."""
        reranker = zvec.RrfReRanker(rank_constant=60)

        def words(at: int) -> zvec.Query:
            return zvec.Query(field_name="text", fts=zvec.Fts(match_string=asked.texts[at]))

        def meaning(at: int) -> zvec.Query:
            return zvec.Query(field_name="dense", vector=asked.vectors[at])

        def ask(queries: object, only: str | None = None, reranker: object = None) -> Hits:
            found = self._collection.query(queries, topk=K, filter=only, output_fields=["text"], reranker=reranker)
            return [(int(doc.id), doc.field("text")) for doc in found]

        def hybrid(at: int, only: str | None = None) -> Hits:
            return ask([meaning(at), words(at)], only, reranker)

        return {
            "bm25": lambda at: ask(words(at)),
            "vector": lambda at: ask(meaning(at)),
            "hybrid": hybrid,
            "filter 1 %": lambda at: hybrid(at, "shelf = 7"),
            "filter 50 %": lambda at: hybrid(at, "half = true"),
        }

    def close(self) -> None:
        """Flush."""
        self._collection.flush()


def hnsw(folder: Path, *, built: bool) -> Zvec:
    """Open with a graph, of the default size."""
    return Zvec(folder, zvec.HnswIndexParam(metric_type=zvec.MetricType.COSINE), built=built)


def flat(folder: Path, *, built: bool) -> Zvec:
    """Open with exact comparison."""
    return Zvec(folder, zvec.FlatIndexParam(metric_type=zvec.MetricType.COSINE), built=built)
