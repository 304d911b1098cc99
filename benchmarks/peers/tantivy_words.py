"""tantivy: BM25, English stems and stop words, ten passages with their texts out."""

import time
from collections.abc import Mapping
from pathlib import Path

import tantivy
from material import restore
from timing import latencies


def measure(folder: Path, material: Path, count: int) -> Mapping[str, object]:
    """Index, merge, and time questions: keys alone, and with texts."""
    source = restore(material)
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("body", stored=True, tokenizer_name="en_stem")
    schema.add_integer_field("number", stored=True, indexed=True)
    folder.mkdir()
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(256 * 1024 * 1024, 1)
    seconds = 0.0
    for batch in source.batches(count):
        texts = [text for document in batch.documents for text in document]
        started = time.perf_counter()
        for number, text in enumerate(texts):
            writer.add_document(tantivy.Document(body=text, number=batch.first * 10 + number))
        seconds += time.perf_counter() - started
    started = time.perf_counter()
    writer.commit()
    writer.wait_merging_threads()
    seconds += time.perf_counter() - started
    index.reload()
    searcher = index.searcher()
    queries = [index.parse_query_lenient(text, ["body"])[0] for text in source.asked.texts]

    def with_texts(at: int) -> object:
        hits = searcher.search(queries[at], 10).hits
        return [searcher.doc(address)["body"] for _, address in hits]

    return {
        "version": tantivy.__version__,
        "passages_a_second": round(count / seconds),
        "segments": searcher.num_segments,
        "bm25_retriever": latencies(lambda at: searcher.search(queries[at], 10), len(queries)),
        "bm25_10": latencies(with_texts, len(queries)),
        "disk_MB": round(sum(path.stat().st_size for path in folder.iterdir()) / 2**20, 1),
    }
