"""LanceDB: full text and exact vector search, and both fused by rank, ten passages with their texts out."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import lancedb
import pyarrow as pa
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from material import Material, restore
from timing import latencies

ROUNDS = 2
QUESTIONS = 100


def measure(folder: Path, material: Path, count: int) -> Mapping[str, object]:
    """Fill a table, index its text, and time questions; vectors are compared exactly, as twofold does."""
    source = restore(material)
    started = time.perf_counter()
    table = lancedb.connect(folder).create_table("passages", rows(source, count))
    indexing(table)
    seconds = time.perf_counter() - started
    texts, vectors, reranker = source.asked.texts, source.asked.vectors, RRFReranker()
    tasks: Mapping[str, Callable[[int], object]] = {
        "bm25_10": lambda at: table.search(texts[at], query_type="fts").limit(10).select(["text"]).to_list(),
        "dense_10": lambda at: (
            table.search(vectors[at]).metric("cosine").limit(10).select(["text", "_distance"]).to_list()
        ),
        "hybrid_10": lambda at: (
            table.search(query_type="hybrid")
            .vector(vectors[at])
            .text(texts[at])
            .metric("cosine")
            .rerank(reranker)
            .limit(10)
            .to_list()
        ),
    }
    asked = min(QUESTIONS, len(texts))
    return {
        "version": lancedb.__version__,
        "passages_a_second_with_stitching": round(count / seconds),
        **{name: latencies(ask, asked, ROUNDS) for name, ask in tasks.items()},
        "disk_MB": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20, 1),
    }


def rows(source: Material, count: int) -> Iterator[pa.RecordBatch]:
    """Give the passages as Arrow wants them."""
    for batch in source.batches(count):
        texts = [text for document in batch.documents for text in document]
        width = batch.vectors.shape[1]
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.reshape(-1)), width)
        yield pa.RecordBatch.from_arrays([pa.array(texts), vectors], ["text", "vector"])


def indexing(table: lancedb.table.Table) -> None:
    """Index the text with stems and stop words, under whichever name this version has for it."""
    if hasattr(table, "create_fts_index"):
        table.create_fts_index("text", language="English", stem=True, remove_stop_words=True)
    else:
        table.create_index("text", config=FTS(language="English", stem=True, remove_stop_words=True))
