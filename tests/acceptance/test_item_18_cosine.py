"""Checklist 18: `dot(q, d) / (‖q‖ ‖d‖)`, falling, and the first k."""

import numpy as np
import pytest

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = ["git resets the index", "the index of a book", "water boils at sea level", "reset the clock", "a git commit"]
QUESTION = "how does git reset its index"
FLOAT16 = 0.001


def cosine(q: np.ndarray, d: np.ndarray) -> float:
    return float(np.dot(q, d) / (np.linalg.norm(q) * np.linalg.norm(d)))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_dense_arm_ranks_by_cosine(k: int) -> None:
    embedder = HashingEmbedder()
    query, passages = embedder.embed_queries([QUESTION])[0], embedder.embed_passages(TEXTS)
    expected = sorted((cosine(query, passage) for passage in passages), reverse=True)[:k]
    with Index(":memory:", embedder=embedder) as index:
        for number, text in enumerate(TEXTS):
            index.add(text, source=str(number))
        hits = index.search(QUESTION, mode="vector", k=k).hits

    assert [hit.score for hit in hits] == pytest.approx(expected, abs=FLOAT16)
    assert [cosine(query, passages[int(hit.source)]) for hit in hits] == pytest.approx(expected, abs=FLOAT16)
