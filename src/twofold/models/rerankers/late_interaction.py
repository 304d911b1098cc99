"""Late interaction: a reranker over a model that gives a vector for each token, by the sum of best matches (ColBERT).

Any model of token vectors will do. An embedder of the catalog is one: its hidden states before they become one vector.
It was not trained for this; `docs/decisions/0072-late-interaction.md` has what it gives.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from twofold.domain.errors import ModelError
from twofold.domain.ports import RerankerIdentity, Scale
from twofold.domain.types import Scores, Vectors
from twofold.models.score_scale import relevance_of


class TokenEmbedder(Protocol):
    """Turns a text into one unit vector a token. Safe to use from several threads."""

    def embed_tokens(self, texts: Sequence[str]) -> Sequence[Vectors]:
        """Embed texts: for each (tokens, dimensions) float32, rows of length 1; any width, the same for all."""

    def close(self) -> None:
        """Free the model."""


class LateInteraction:
    """Reranks by `max_similarity`; its scores are cosines. `identity` names the model of the token vectors."""

    def __init__(self, model: TokenEmbedder, identity: RerankerIdentity) -> None:
        self._model = model
        self._identity = identity

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on."""
        return self._identity

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text. Raises ModelError when the model gives no vectors, or such of several widths."""
        if not texts:
            return np.empty(0, dtype=np.float64)
        question, *passages = self._model.embed_tokens([query, *texts])
        widths = {vectors.shape[1] for vectors in (question, *passages)}
        if len(widths) != 1 or not len(question):
            raise ModelError(f"{self._identity.name} gave no vectors that can be compared.", "Use another model.")
        return np.array([max_similarity(question, passage) for passage in passages], dtype=np.float64)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1]."""
        return relevance_of(raw, Scale.COSINE)

    def close(self) -> None:
        """Free the model."""
        self._model.close()


def max_similarity(question: Vectors, passage: Vectors) -> float:
    """Return the mean over the question's tokens of the best cosine with any token of the passage; -1 for no token.

    MaxSim of Khattab and Zaharia, "ColBERT", 2020, divided by the number of the question's tokens, so that it lies in
    [-1, 1] whatever the length. One token met exactly and one at 0.6: (1 + 0.6) / 2.

    >>> question = np.array([[1, 0], [0, 1]], dtype=np.float32)
    >>> round(max_similarity(question, np.array([[1, 0], [0.8, 0.6]], dtype=np.float32)), 6)
    0.8
    """
    if not len(passage):
        return -1.0
    best = (question @ passage.T).max(axis=1)
    return float(np.clip(best.astype(np.float64).mean(), -1.0, 1.0))
