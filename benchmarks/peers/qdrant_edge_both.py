"""qdrant-edge: HNSW over cosines and its own BM25 vectors, fused by rank; all indexes are built before it is asked."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import qdrant_edge as edge
from material import Asked

from peers.engine import Hits, K, Rows, Task

DIMENSIONS = 384
CANDIDATES = 100
RRF_K = 60


class QdrantEdge:
    """A shard in a folder."""

    def __init__(self, folder: Path, *, built: bool) -> None:
        config = edge.EdgeConfig(
            vectors={"dense": edge.EdgeVectorParams(size=DIMENSIONS, distance=edge.Distance.Cosine)},
            sparse_vectors={"words": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        )
        self.version = version("qdrant-edge-py")
        self._words = edge.Bm25(edge.Bm25Config())
        self._shard = (edge.EdgeShard.load if built else edge.EdgeShard.create)(str(folder / "shard"), config)
        if built:
            return
        for field, kind in (("shelf", edge.PayloadSchemaType.Integer), ("half", edge.PayloadSchemaType.Bool)):
            self._shard.update(edge.UpdateOperation.create_field_index(field, kind))

    def add(self, rows: Rows) -> None:
        """Upsert."""
        points = [
            edge.Point(
                number,
                {"dense": vector.tolist(), "words": self._words.embed_document(text)},
                {"text": text, "shelf": shelf, "half": half},
            )
            for number, text, vector, shelf, half in rows.fields()
        ]
        self._shard.update(edge.UpdateOperation.upsert_points(points))

    def ready(self) -> None:
        """Build the graphs."""
        while self._shard.optimize():
            pass
        self._shard.flush()

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give all modes; making the question's BM25 vector is part of those that use it."""

        def ask(query: object, prefetches: object = None, only: object = None) -> Hits:
            request = edge.QueryRequest(K, query=query, prefetches=prefetches, with_payload=["text"], filter=only)
            return [(point.id, point.payload["text"]) for point in self._shard.query(request)]

        def words(at: int) -> object:
            return edge.Query.Nearest(self._words.embed_query(asked.texts[at]), "words")

        def meaning(at: int) -> object:
            return edge.Query.Nearest(asked.vectors[at].tolist(), "dense")

        def hybrid(at: int, only: object = None) -> Hits:
            both = [edge.Prefetch(CANDIDATES, query=one(at), filter=only) for one in (words, meaning)]
            return ask(edge.Fusion.Rrf(RRF_K), both, only)

        shelf, half = (
            edge.Filter(must=[edge.FieldCondition(key, match=edge.MatchValue(value))])
            for key, value in (("shelf", 7), ("half", True))
        )
        return {
            "bm25": lambda at: ask(words(at)),
            "vector": lambda at: ask(meaning(at)),
            "hybrid": hybrid,
            "filter 1 %": lambda at: hybrid(at, shelf),
            "filter 50 %": lambda at: hybrid(at, half),
        }

    def close(self) -> None:
        """Close the shard."""
        self._shard.close()
