"""The weight of meaning, question by question: an arm that tells its candidates apart counts for more.

Each arm's values are normalised, its best candidate 1.0 (`twofold.ranking.fusion`). How far the middle candidate lies
below the best says how sharply the arm separates: an embedder that does not know the language finds everything about
equally near, and words that every passage holds tell nothing either.

    D = 1 - median(dense values),  L = 1 - median(lexical values),  over the candidates of both arms
    w = w0 · D / (w0 · D + (1 - w0) · L)

`w0` is the weight where both separate alike. No judgement is needed, and nothing about the collection is known.
The figures behind it: `docs/decisions/0090-balanced.md`.
"""

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Scores


def separation(values: Scores) -> float:
    """Say how far the middle candidate lies below the best: `max(values) - median(values)`, 0.0 for none.

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


def adaptive_weight(lexical: Scores, dense: Scores, dense_weight: float) -> float:
    """Give the dense weight of one question, in [0, 1], from the normalised values of its candidates, (n,) each.

    `dense_weight` is w0. Where neither arm tells its candidates apart, as with one candidate, it is the answer; 0 and 1
    stay what they are wherever the arm they name separates at all.

    Words separate by .8 and meaning by .2: .6 · .2 / (.6 · .2 + .4 · .8) = .12 / .44.

    >>> round(adaptive_weight(np.array([1.0, 0.2, 0.0]), np.array([0.7, 0.8, 1.0]), 0.6), 6)
    0.272727
    >>> adaptive_weight(np.array([1.0]), np.array([1.0]), 0.6)
    0.6

    Raises InvalidInputError for a weight outside [0, 1].
    """
    if not 0.0 <= dense_weight <= 1.0:
        raise InvalidInputError(f"the dense weight must be from 0 to 1, not {dense_weight}.", "Try 0.6.")
    meaning = dense_weight * separation(dense)
    words = (1.0 - dense_weight) * separation(lexical)
    return meaning / (meaning + words) if meaning + words > 0.0 else dense_weight
