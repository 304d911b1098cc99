"""A reranker that says what a test tells it to say."""

from collections.abc import Mapping, Sequence

import numpy as np

from twofold.domain.errors import ModelError
from twofold.domain.ports import RerankerIdentity, Scale
from twofold.domain.types import Scores
from twofold.models.score_scale import relevance_of


class Dictated:
    """Gives each text the score of the first name that occurs in it, 0 for none; fails once `last` calls are made.

    `asked` holds what it was asked, call by call.
    """

    def __init__(
        self,
        scores: Mapping[str, float],
        scale: Scale = Scale.RELEVANCE,
        last: int | None = None,
        name: str = "dictated",
    ) -> None:
        self.identity = RerankerIdentity(name, "1", scale)
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self._scores = scores
        self._last = last

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        if self._last is not None and len(self.asked) >= self._last:
            raise ModelError("the reranker is gone.", "Bring it back.")
        self.asked.append((query, tuple(texts)))
        found = [next((score for name, score in self._scores.items() if name in text), 0.0) for text in texts]
        return np.asarray(found, dtype=np.float64)

    def relevance(self, raw: Scores) -> Scores:
        return relevance_of(raw, self.identity.scale)

    def close(self) -> None:
        pass
