"""A reranker without a model: the share of the question's words that a passage holds; for tests, and without a network.

It knows no meaning and no grammar. The same texts give the same score on every machine and in every run.
"""

from collections.abc import Sequence

import numpy as np

from twofold.domain.ports import RerankerIdentity, Scale
from twofold.domain.types import Scores
from twofold.models.embedders.hashing import words_of
from twofold.models.score_scale import relevance_of


class WordOverlap:
    """Scores by shared words: of a question's distinct words, how many occur in the passage, in [0, 1].

    "undo a commit" against "Undo the last commit": 2 of 3. A question without words scores 0.
    """

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on."""
        return RerankerIdentity("word-overlap", "1", Scale.RELEVANCE)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text: (len(texts),) in [0, 1], in the order given."""
        asked = frozenset(words_of(query))
        shared = [len(asked.intersection(words_of(text))) for text in texts]
        return np.asarray(shared, dtype=np.float64) / max(1, len(asked))

    def relevance(self, raw: Scores) -> Scores:
        """Leave the scores as they are: they are on [0, 1]."""
        return relevance_of(raw, self.identity.scale)

    def close(self) -> None:
        """Do nothing: there is nothing to free."""
