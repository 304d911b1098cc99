"""Blending what a reranker read into the order that was there before.

    final = (1 - w) · fused' + w · relevance

`relevance` is the reranker's own word, in [0, 1], as it stands: where it finds nothing relevant it moves nothing.
`fused'` measures the candidates that were read against each other alone, `(fused - low) / (high - low)`, in [0, 1].
With w = 0 the order stays, with w = 1 the reranker replaces it. Candidates that were not read stand beneath, in the
order they had: their score is `fused'` by the same constants, 0 or less, without any weight.
"""

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Ranking, Scores

NO_WIDTH = 1e-12
"""Scores that lie no further apart are alike."""


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the greatest fused score of the candidates that were read."""

    low: float
    high: float

    def place(self, scores: Scores) -> Scores:
        """Return `(s - low) / (high - low)`. Where both ends are one, the end itself becomes 1, what is below it less.

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
    """An order, and `fused'` of each candidate, (n,) in the fused order, with the constants it was made by."""

    ranking: Ranking
    span: Span
    fused_values: Scores


def blend(fused: Ranking, relevance: Scores, weight: float) -> Blend:
    """Blend the relevance of the first `len(relevance)` candidates, at least one, into the order of all.

    Fused .9, .7, .5 and .3, relevance .2, .9 and .1 for the first three, w = .5: fused' 1, .5 and 0; so
    .6, .7, .05, and the fourth, unread, (.3 - .5) / (.9 - .5) = -.5.

    >>> made = blend(Ranking.of([1, 2, 3, 4], [0.9, 0.7, 0.5, 0.3]), np.array([0.2, 0.9, 0.1]), 0.5)
    >>> [(hit.key, round(hit.score, 6)) for hit in made.ranking]
    [(2, 0.7), (1, 0.6), (3, 0.05), (4, -0.5)]

    Raises InvalidInputError for a weight outside [0, 1].
    """
    if not 0.0 <= weight <= 1.0:
        raise InvalidInputError(f"the rerank weight must be from 0 to 1, not {weight}.", "Try 0.2.")
    read = len(relevance)
    span = Span(float(fused.scores[read - 1]), float(fused.scores[0]))
    values = span.place(fused.scores)
    values[read:] = np.minimum(values[read:], 0.0)
    final = (1.0 - weight) * values[:read] + weight * relevance
    order = np.argsort(-final, kind="stable")  # ties keep the fused order
    keys = np.concatenate([fused.keys[:read][order], fused.keys[read:]])
    return Blend(Ranking(keys, np.concatenate([final[order], values[read:]])), span, values)
