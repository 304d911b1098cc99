"""Blending what a reranker read into the order that was there before.

The `n` candidates that were read are measured against each other alone, both what they had before and what the
reranker gave them: `(s - low) / (high - low)`, in [0, 1]. Then

    final = (1 - w) · fused' + w · read'

With w = 0 the order stays, with w = 1 the reranker replaces it. Candidates that were not read stand beneath, in the
order they had: their score is `(fused - low) / (high - low)` of the same constants, 0 or less, without any weight.
"""

from dataclasses import dataclass

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Ranking, Scores

NO_WIDTH = 1e-12
"""Scores that lie no further apart are alike."""


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the greatest score of the candidates that were read."""

    low: float
    high: float

    def place(self, scores: Scores) -> Scores:
        """Give `(s - low) / (high - low)`. Where both ends are one, the end itself becomes 1, what is below it less.

        >>> Span(2.0, 10.0).place(np.array([10.0, 4.0, 0.0])).tolist()
        [1.0, 0.25, -0.25]
        >>> Span(3.0, 3.0).place(np.array([3.0, 2.0])).tolist()
        [1.0, -1.0]
        """
        values = np.asarray(scores, dtype=np.float64)
        width = self.high - self.low
        if width > NO_WIDTH:
            return (values - self.low) / width
        return np.where(values >= self.low, 1.0, values - self.low)


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """An order, and what it was made of: of each fused candidate, in the fused order, its value, (n,) or fewer read."""

    ranking: Ranking
    fused_span: Span
    read_span: Span
    fused_values: Scores
    read_values: Scores


def blend(fused: Ranking, raw: Scores, weight: float) -> Blend:
    """Blend the raw scores of the first `len(raw)` candidates, at least one, into the order of all.

    Fused .9, .7, .5 and .3, logits -1, 3 and 1 for the first three, w = .5: fused' 1, .5, 0; read' 0, 1, .5; so
    .5, .75, .25, and the fourth, unread, (.3 - .5) / (.9 - .5) = -.5.

    >>> made = blend(Ranking.of([1, 2, 3, 4], [0.9, 0.7, 0.5, 0.3]), np.array([-1.0, 3.0, 1.0]), 0.5)
    >>> [(hit.key, round(hit.score, 6)) for hit in made.ranking]
    [(2, 0.75), (1, 0.5), (3, 0.25), (4, -0.5)]

    Raises InvalidInputError for a weight outside [0, 1].
    """
    if not 0.0 <= weight <= 1.0:
        raise InvalidInputError(f"the rerank weight must be from 0 to 1, not {weight}.", "Try 0.35.")
    read = len(raw)
    fused_span = _span_of(fused.scores[:read])
    read_span = _span_of(raw)
    fused_values = fused_span.place(fused.scores)
    read_values = read_span.place(raw)
    final = (1.0 - weight) * fused_values[:read] + weight * read_values
    fused_values[read:] = np.minimum(fused_values[read:], 0.0)
    order = np.argsort(-final, kind="stable")  # ties keep the fused order
    keys = np.concatenate([fused.keys[:read][order], fused.keys[read:]])
    scores = np.concatenate([final[order], fused_values[read:]])
    return Blend(Ranking(keys, scores), fused_span, read_span, fused_values, read_values)


def _span_of(scores: Scores) -> Span:
    return Span(float(np.min(scores)), float(np.max(scores)))
