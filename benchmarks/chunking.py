"""What chunk size, overlap and strategy are worth: exact answer spans found, for the same text read.

    python benchmarks/chunking.py                          BM25, every configuration (a minute)
    python benchmarks/chunking.py --hybrid --cache DIR     and vectors, the chief ones (minutes each; kept in DIR)

chunking-eval (472 questions, 790 exact spans in five documents) is looked for in the folder that TWOFOLD_SHARED names,
else in `../shared`. All five documents are one collection. JSON on standard output, progress on standard error.

recall@k      share of the spans' characters in the first k passages
precision@k   share of the first k passages' characters that belong to a span
iou@k         characters found / (characters of the first k passages + characters missed), as in Smith & Troynikov,
              "Evaluating Chunking Strategies for Retrieval" (2024): a passage's repeated characters count again
recall@6000   recall in the first 6,000 characters read, about 1,300 tokens, the last passage cut: what a reader, or a
              model with so much room, gets; the only figure by which sizes can be compared
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from twofold.config.load import models_folder
from twofold.domain.ports import Embedder
from twofold.domain.types import Chunk, Document, Vectors
from twofold.ingest.chunking import ChunkPlan, Strategy, chunker_for
from twofold.ingest.readers.markdown import extract_markdown
from twofold.models.embedders.factory import open_embedder

SHARED = Path(os.environ.get("TWOFOLD_SHARED", Path(__file__).resolve().parents[1] / ".." / "shared"))
SIZES = (64, 128, 192, 256, 384, 512)
DEPTHS = (5, 10)
BUDGETS = (3000, 6000, 12000)
CANDIDATES = 100
HYBRID = [(Strategy.STRUCTURE, size, 0.0) for size in SIZES] + [
    (Strategy.STRUCTURE, 256, 0.15),
    (Strategy.FIXED, 256, 0.0),
    (Strategy.FIXED, 256, 0.15),
    (Strategy.SEMANTIC, 256, 0.0),
    (Strategy.STRUCTURE, 128, 0.15),
    (Strategy.FIXED, 128, 0.0),
]

Span = tuple[str, int, int]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the stretches of text that answer it, none overlapping."""

    text: str
    spans: Sequence[Span]


class Vectoriser:
    """Embeds texts, each once, and keeps the vectors of one call in one file."""

    def __init__(self, embedder: Embedder, cache: Path | None) -> None:
        self.embedder = embedder
        self.cache = cache

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, or take them from the cache."""
        if self.cache is None:
            return self.embedder.embed_passages(texts)
        digest = blake2b("\0".join(texts).encode(), digest_size=8, key=repr(self.embedder.identity).encode()[:64])
        file = self.cache / f"{digest.hexdigest()}.npy"
        if not file.exists():
            np.save(file, self.embedder.embed_passages(texts))
        found: Vectors = np.load(file, allow_pickle=False)
        return found


def main() -> None:
    """Run every configuration and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hybrid", action="store_true", help="also rank with vectors, for the chief configurations")
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    options = parser.parse_args()
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    embedder = open_embedder("bge-small-en-v1.5", cache=models_folder())
    vectoriser = Vectoriser(embedder, options.cache)
    documents, questions = read(SHARED / "data" / "chunking-eval")
    configurations = HYBRID if options.hybrid else all_configurations()
    rows: list[Mapping[str, object]] = []
    for strategy, size, overlap in configurations:
        plan = ChunkPlan(strategy, size=size, overlap=round(size * overlap), minimum=min(32, size // 2))
        rows.extend(measure_plan(plan, documents, questions, vectoriser, hybrid=options.hybrid))
    json.dump({"questions": len(questions), "rows": rows}, sys.stdout, indent=1)
    embedder.close()


def all_configurations() -> Iterable[tuple[Strategy, int, float]]:
    """Give what BM25 can rank without a single vector."""
    for strategy in (Strategy.STRUCTURE, Strategy.FIXED):
        for size in SIZES:
            for overlap in (0.0, 0.15):
                yield strategy, size, overlap


def read(folder: Path) -> tuple[Sequence[Document], Sequence[Question]]:
    """Read the documents with the Markdown reader, whose text must be the file's own, and the questions."""
    documents = []
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        extract = extract_markdown(row["text"])
        if extract.text != row["text"]:
            message = f"the reader changed the text of {row['_id']}: the spans would not fit"
            raise SystemExit(message)
        documents.append(Document(row["_id"], row["_id"], extract.text, extract.title, blocks=extract.blocks))
    questions = []
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        spans = merge((row["corpus_id"], one["start_index"], one["end_index"]) for one in row["references"])
        questions.append(Question(row["text"], spans))
    return documents, questions


def merge(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap, so that no character counts twice."""
    joined: list[Span] = []
    for document, start, end in sorted(spans):
        if joined and joined[-1][0] == document and start <= joined[-1][2]:
            joined[-1] = (document, joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((document, start, end))
    return joined


def measure_plan(
    plan: ChunkPlan,
    documents: Sequence[Document],
    questions: Sequence[Question],
    vectoriser: Vectoriser,
    *,
    hybrid: bool,
) -> Sequence[Mapping[str, object]]:
    """Cut, rank and measure; one row for each way of ranking."""
    began = time.perf_counter()
    chunker = chunker_for(plan, vectoriser.embedder.count_tokens, vectoriser.passages)
    chunks = [chunk for document in documents for chunk in chunker(document)]
    seconds = time.perf_counter() - began
    texts = [chunk.indexed_text for chunk in chunks]
    retrievers = {"bm25": rank_words(texts, questions)}
    if hybrid:
        vectors = vectoriser.passages(texts)
        asked = vectoriser.embedder.embed_queries([question.text for question in questions])
        retrievers["vector"] = (asked @ vectors.T).astype(np.float64)
        retrievers["hybrid"] = blend(retrievers["bm25"], retrievers["vector"])
    shape = {
        "plan": plan.describe(),
        **{name: value for name, value in asdict(plan).items() if name != "minimum"},
        "chunks": len(chunks),
        "mean_tokens": float(np.mean(vectoriser.embedder.count_tokens(texts))),
        "cut_seconds": round(seconds, 2),
    }
    rows = [{**shape, "mode": mode, **summarize(scores, chunks, questions)} for mode, scores in retrievers.items()]
    for row in rows:
        print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def rank_words(texts: Sequence[str], questions: Sequence[Question]) -> Scores:
    """Score every passage by BM25 (k1 1.2, b 0.75, English stems and stop words): (questions, passages)."""
    stemmer = Stemmer.Stemmer("english")
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    asked = bm25s.tokenize(
        [question.text for question in questions],
        stopwords="en",
        stemmer=stemmer,
        return_ids=False,
        show_progress=False,
    )
    return np.stack([np.asarray(retriever.get_scores(terms), dtype=np.float64) for terms in asked])


def blend(words: Scores, meaning: Scores) -> Scores:
    """Add both retrievers in equal parts, each min-max normalized over the union of both lists of a hundred."""
    blended = np.full(words.shape, -1.0)
    for row, (one, other) in enumerate(zip(words, meaning, strict=True)):
        depth = min(CANDIDATES, len(one))
        union = np.union1d(np.argsort(-one)[:depth], np.argsort(-other)[:depth])
        blended[row, union] = 0.5 * _spread(one[union]) + 0.5 * _spread(other[union])
    return blended


def _spread(scores: Scores) -> Scores:
    low, high = scores.min(), scores.max()
    spread: Scores = (scores - low) / (high - low or 1.0)
    return spread


def summarize(scores: Scores, chunks: Sequence[Chunk], questions: Sequence[Question]) -> Mapping[str, float]:
    """Average each figure over the questions; `±` is half of a 95 % interval."""
    figures: dict[str, list[float]] = {}
    for question, row in zip(questions, scores, strict=True):
        best = [chunks[at] for at in np.argsort(-row, kind="stable")[:CANDIDATES]]
        for name, value in figures_of(best, question).items():
            figures.setdefault(name, []).append(value)
    summary = {name: round(float(np.mean(values)), 4) for name, values in figures.items()}
    spread = np.std(figures["recall@6000"]) / np.sqrt(len(questions))
    return {**summary, "±recall@6000": round(float(1.96 * spread), 4)}


def figures_of(best: Sequence[Chunk], question: Question) -> Mapping[str, float]:
    """Give one question's figures."""
    wanted = sum(end - start for _, start, end in question.spans)
    figures = {}
    for depth in DEPTHS:
        read = [(chunk.document, chunk.start, chunk.end) for chunk in best[:depth]]
        found, length = overlap(merge(read), question.spans), sum(end - start for _, start, end in read)
        figures[f"recall@{depth}"] = found / wanted
        figures[f"precision@{depth}"] = found / length
        figures[f"iou@{depth}"] = found / (length + wanted - found)
    for budget in BUDGETS:
        figures[f"recall@{budget}"] = overlap(merge(within(best, budget)), question.spans) / wanted
    return figures


def within(best: Sequence[Chunk], budget: int) -> Iterable[Span]:
    """Give the stretches read with a budget of characters, the last one cut."""
    for chunk in best:
        if budget <= 0:
            return
        yield chunk.document, chunk.start, min(chunk.end, chunk.start + budget)
        budget -= chunk.end - chunk.start


def overlap(read: Sequence[Span], wanted: Sequence[Span]) -> int:
    """Count the characters that both have; neither overlaps itself."""
    return sum(
        max(0, min(end, stop) - max(start, begin))
        for document, start, end in read
        for other, begin, stop in wanted
        if document == other
    )


if __name__ == "__main__":
    main()
