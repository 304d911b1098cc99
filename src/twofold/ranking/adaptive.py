"""The vector weight of one question, from how its candidates' scores are spread.

    weight / (1 - weight) = w0 / (1 - w0) · separation(vector) / separation(bm25) · exp(SLOPE · (USUAL - lead))

A retriever that tells its candidates apart counts for more. BM25's lead is how far its best passage lies above the
fifth, as a share of the best: where five passages hold a question's words about equally well, words decide little.
"""

import math
from typing import Final

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Scores

FIFTH: Final = 5
USUAL: Final = 0.5
SLOPE: Final = 1.2
"""Chosen on eight collections (docs/decisions/0117): from .8 to 2, and from .43 to .5, little differs."""

UNKNOWN: Final = 0.6
FAMILIAR: Final = 0.95
SMALL: Final = 1_000
"""Chosen on questions of one language to documents of another, and of the same (docs/decisions/0169)."""


@dataclass(frozen=True, slots=True)
class KnownWords:
    """How much of a question's words an index of `words` words has, in [0, 1] each.

    `indexed` is the share of the question's words that any passage holds, `together` the share, a word by
    weight · idf, that BM25's best passage holds.
    """

    indexed: float
    together: float
    words: int

    @property
    def share(self) -> float:
        """What is left of BM25's weight, in [0, 1]: less where the shares sum up to less than .95, least up to .6.

        Of a question in a language that no passage is in, names and numbers are known alone, and no passage holds many
        of them. In a large index chance knows more words, and holds fewer of them in one passage. In a small one words
        are unknown that belong there: up to 1,000 words all of the weight is left, of 2,000 half of it at least.

        >>> KnownWords(1.0, 0.4, 4_000).share, KnownWords(0.2, 0.1, 4_000).share, KnownWords(0.2, 0.1, 900).share
        (1.0, 0.25, 1.0)
        >>> round(KnownWords(0.6, 0.175, 4_000).share, 4)
        0.625
        """
        foreign = min(1.0, max(0.0, (FAMILIAR - self.indexed - self.together) / (FAMILIAR - UNKNOWN)))
        return 1.0 - foreign * max(0.0, 1.0 - SMALL / max(self.words, 1))


def lead(bm25: Scores) -> float:
    """Return how far the best of some normalized BM25 scores lies above the fifth; the usual lead for fewer than five.

    >>> lead(np.array([1.0, 0.9, 0.8, 0.4, 0.3, 0.0])), lead(np.array([1.0, 0.0]))
    (0.7, 0.5)
    """
    if len(bm25) < FIFTH:
        return USUAL
    rising = np.partition(np.asarray(bm25, dtype=np.float64), len(bm25) - FIFTH)
    return float(rising[-FIFTH:].max() - rising[-FIFTH])


def separation(values: Scores) -> float:
    """Return how far the middle candidate lies below the best: `max(values) - median(values)`, 0.0 for none.

    Of an even number the upper of the two in the middle is taken.

    >>> separation(np.array([1.0, 0.25, 0.0]))
    0.75
    >>> separation(np.array([1.0, 0.5, 0.25, 0.25]))
    0.5
    """
    if not len(values):
        return 0.0
    rising = np.sort(np.asarray(values, dtype=np.float64))
    return float(rising[-1] - rising[len(rising) // 2])


def adaptive_weight(bm25: Scores, vector: Scores, vector_weight: float) -> float:
    """Return the vector weight of one question, in [0, 1], from the normalized values of its candidates, (n,) each.

    `vector_weight` is w0. Where neither retriever tells its candidates apart, as with one candidate, it is the answer;
    0 and 1 stay what they are wherever the retriever they name separates at all.

    Words separate by .8 and meaning by .2: .6 · .2 / (.6 · .2 + .4 · .8) = .12 / .44.

    >>> round(adaptive_weight(np.array([1.0, 0.2, 0.0]), np.array([0.7, 0.8, 1.0]), 0.6), 6)
    0.272727
    >>> adaptive_weight(np.array([1.0]), np.array([1.0]), 0.6)
    0.6

    Raises InvalidInputError for a weight outside [0, 1].
    """
    check_weight(vector_weight)
    meaning = vector_weight * separation(vector) * math.exp(SLOPE * (USUAL - lead(bm25)))
    words = (1.0 - vector_weight) * separation(bm25)
    return meaning / (meaning + words) if meaning + words > 0.0 else vector_weight


def check_weight(vector_weight: float) -> None:
    """Raise InvalidInputError for a weight outside [0, 1]."""
    if not 0.0 <= vector_weight <= 1.0:
        raise InvalidInputError(f"the vector weight must be from 0 to 1, not {vector_weight}.", "Try 0.6.")
