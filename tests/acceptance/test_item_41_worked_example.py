"""Checklist 41: the worked example. A at 0.75 holds the code and B at 0.80 does not: 0.75 · 1.5 = 1.125 beats 0.80."""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
import pytest

from twofold import Index
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder

A, B = "ERR-12345 means that the disk is full.", "How to fix a full disk."
COSINES = {A: 0.75, B: 0.80}


class Placed(HashingEmbedder):
    """Puts each passage at its cosine from every question."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = COSINES[text]
            row[1] = sqrt(1.0 - COSINES[text] ** 2)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        rows[:, 0] = 1.0
        return rows


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=Placed()) as made:
        made.add(A, source="A")
        made.add(B, source="B")
        yield made


def found(index: Index, question: str) -> list[tuple[str, float]]:
    """Search by meaning as the orchestrator does, without its reranker, and return sources with scores."""
    settings = {"search.mode": "vector", "rerank.model": "none"}
    hits = index.search(question, profile="orchestrator", settings=settings).hits
    return [(hit.source, round(hit.score, 3)) for hit in hits]


def test_a_at_0_75_times_1_5_beats_b_at_0_80(index: Index) -> None:
    assert found(index, "Fix for ERR-12345?") == [("A", 1.125), ("B", 0.8)]


@pytest.mark.parametrize("question", ["How do I fix a full disk?", "Fix for ERR-12?", "Fix for ERR-99999?"])
def test_without_a_code_that_a_passage_holds_the_list_is_untouched(index: Index, question: str) -> None:
    assert found(index, question) == [("B", 0.8), ("A", 0.75)]
