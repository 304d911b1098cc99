"""Indexes whose cosines and BM25 scores can be worked out by hand."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from twofold import Index
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Metadata, Vectors

QUESTION = "zeta"
"""The one word whose repeats make BM25 scores: with b = 0 a passage that holds it t times has t / (t + k1), times a
constant that all share."""

COSINE_TOLERANCE = 5e-4
"""Vectors are stored as 16-bit floats: 11 bits, so a cosine near 1 is off by at most 2^-11."""


class Known:
    """Gives questions the first axis, and a passage the cosine of the first name that it begins with (0 for none).

    `questions` have cosines of their own with the first axis, on a plane that no passage lies in.
    """

    def __init__(self, cosines: Mapping[str, float], questions: Mapping[str, float] | None = None) -> None:
        self._cosines = dict(cosines)
        self._questions = dict(questions or {})
        self.asked: list[str] = []

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity("known", "1", 3)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        found = [next((one for name, one in self._cosines.items() if text.startswith(name)), 0.0) for text in texts]
        rows = [(one, sqrt(1.0 - one * one), 0.0) for one in found]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 3)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        found = [self._questions.get(text, 1.0) for text in texts]
        rows = [(one, 0.0, sqrt(1.0 - one * one)) for one in found]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 3)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        """Nothing is open."""


def exact_index(
    repeats: Mapping[str, int],
    cosines: Mapping[str, float],
    k1: float = 1.2,
    settings: Mapping[str, object] | None = None,
    metadata: Metadata | None = None,
) -> Index:
    """Make an index of one passage for each name in either map, with its repeats of `zeta` and its cosine.

    Nothing acts but the retrievers and the fusion: b is 0, and no feedback, reranker or gate is on.
    """
    quiet = {"analyzer": "simple", "search.bm25": {"k1": k1, "b": 0.0}, "prf": {"top_k": 0}}
    said = {**quiet, **(settings or {})}
    index = Index(":memory:", overrides=said, embedder=Known(cosines))
    for name in dict.fromkeys((*cosines, *repeats)):
        words = " ".join([QUESTION] * repeats.get(name, 0))
        index.add(f"{name}: {words}", source=name, metadata=metadata or {})
    return index
