"""bm25s: BM25 of Lucene's kind with k1 1.2 and b 0.75, English stems and stop words, ten passages out."""

import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import bm25s
import Stemmer
from material import restore
from timing import latencies


def measure(_folder: Path, material: Path, count: int) -> Mapping[str, object]:
    """Index and time questions; tokenizing the question is part of them."""
    source = restore(material)
    texts = [text for batch in source.batches(count) for document in batch.documents for text in document]
    stemmer = Stemmer.Stemmer("english")
    started = time.perf_counter()
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    seconds = time.perf_counter() - started

    def ask(at: int) -> object:
        tokens = bm25s.tokenize([source.asked.texts[at]], stopwords="en", stemmer=stemmer, show_progress=False)
        keys = retriever.retrieve(tokens, k=10, show_progress=False)[0][0]
        return [texts[key] for key in keys]

    return {
        "version": version("bm25s"),
        "passages_a_second": round(count / seconds),
        "bm25_10": latencies(ask, len(source.asked.texts)),
    }
