"""Rankings while vectors follow get better with every vector and are never worse than by words, through `Index`.

The documents, questions and judgements are some of SciFact's; the embedder is a made one, which knows what is judged,
so that the figures are the same on every machine. `benchmarks/partial_vectors.py` measures the same with a real model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from twofold import Index
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.evaluation.dataset import CorpusDocument, JudgedCollection, load
from twofold.evaluation.report import evaluate_run
from twofold.indexing.types import SyncProgress
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.parse import as_prose

QUESTIONS = 60
OTHERS = 300
LIKENESS = 0.15
"""How much of its questions a judged document's vector holds: alone, such vectors rank below BM25."""
FALLS_BY = 0.005
SHARES = (0, 25, 50, 75, 100)


class JudgedEmbedder(HashingEmbedder):
    """Hashes words, and moves the vector of a judged document towards its questions'."""

    def __init__(self, judged: JudgedCollection, documents: Mapping[str, CorpusDocument]) -> None:
        super().__init__()
        texts = {one.id: as_prose(one.text) for one in judged.queries}
        self._asked = {
            documents[name].text[:60]: [texts[query] for query, grades in judged.grades.items() if name in grades]
            for grades in judged.grades.values()
            for name in grades
            if name in documents
        }

    @property
    def identity(self) -> EmbedderIdentity:
        return replace(super().identity, name="judged")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed_passages(texts).copy()
        for row, text in enumerate(texts):
            questions = next((asked for start, asked in self._asked.items() if start in text), [])
            vectors[row] += LIKENESS * super().embed_passages(questions).sum(axis=0)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return super().embed_passages(texts)


def part_of(judged: JudgedCollection) -> tuple[JudgedCollection, dict[str, CorpusDocument]]:
    """Keep the first questions, the documents that are judged for them and some others."""
    queries = judged.queries[:QUESTIONS]
    grades = {one.id: judged.grades[one.id] for one in queries}
    wanted = {name for some in grades.values() for name in some}
    kept = [one for one in judged.documents if one.id in wanted]
    kept += [one for one in judged.documents if one.id not in wanted][:OTHERS]
    part = replace(judged, documents=tuple(kept), queries=queries, grades=grades)
    return part, {one.id: one for one in kept}


def quality(folder: Path, embedder: JudgedEmbedder, judged: JudgedCollection, mode: str) -> float:
    """Return nDCG@10 as another process would get it, which embeds nothing itself."""
    found = {}
    with Index(folder, embedder=embedder, create=False) as reader:
        for one in judged.queries:
            hits = reader.search(as_prose(one.text), mode=mode, k=20, settings={"search.pending_seconds": 0}).hits
            found[one.id] = list(dict.fromkeys(Path(hit.source).stem for hit in hits))
    scored = next(one for one in evaluate_run(found, judged) if one.metric == "nDCG@10")
    return sum(scored.values) / len(scored.values)


@pytest.fixture
def figures(shared: Path, tmp_path: Path) -> Mapping[int | str, float]:
    judged, documents = part_of(load(shared / "data" / "scifact"))
    embedder = JudgedEmbedder(judged, documents)
    (tmp_path / "docs").mkdir()
    for one in documents.values():
        (tmp_path / "docs" / f"{one.id}.txt").write_text(f"{one.title}\n\n{one.text}", encoding="utf-8")
    found: dict[int | str, float] = {}
    with Index(tmp_path / "kb", embedder=embedder, overrides={"batch": {"embed": 16}}) as index:
        waiting = index.sync(tmp_path / "docs", vectors="later").pending
        left = [(waiting * (100 - share) // 100, share) for share in SHARES[1:]]

        def look(progress: SyncProgress) -> None:
            while left and progress.pending <= left[0][0]:
                found[left.pop(0)[1]] = quality(tmp_path / "kb", embedder, judged, "hybrid")

        found["bm25"] = quality(tmp_path / "kb", embedder, judged, "bm25")
        found[0] = quality(tmp_path / "kb", embedder, judged, "hybrid")
        index.embed_pending(progress=look)
        found["vector"] = quality(tmp_path / "kb", embedder, judged, "vector")
    return found


def test_more_vectors_rank_better_and_never_below_words(figures: Mapping[int | str, float]) -> None:
    """No share of vectors loses .005 to the share before it or to BM25; none is BM25's own, and all are best."""
    shares = [figures[share] for share in SHARES]

    assert figures[0] == figures["bm25"]
    assert all(after > before - FALLS_BY for before, after in pairwise(shares)), figures
    assert min(shares) > figures["bm25"] - FALLS_BY, figures
    assert shares[-1] > figures["bm25"] + 4 * FALLS_BY, figures
    assert shares[-1] == max(shares), figures
