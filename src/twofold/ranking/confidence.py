"""Confidence in what was found, from relevances on an absolute scale; None where there is no such scale.

    confidence = 0.5 + 0.5 · mean(relevances of the top n)    in [0.5, 1.0]

The relevances are absolute: they say what one passage is worth, whatever else was found. Stretching the top n between
their own least and greatest would make every mean look alike, and one passage alone have none. It is
reported, it bars nothing, and it is no probability.

Only a reranker gives relevances. BM25, sums of ranks, and whatever was normalized by the question's own best score have
no absolute scale: the best passage of a question that nothing answers scores as high there as that of any other.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Scores

TOP: Final = 5
"""How many passages speak for a question."""


def confidence(relevances: Sequence[float] | Scores, n: int = TOP) -> float | None:
    """Return the confidence in passages from their relevances, best first, (m,) in [0, 1]; fewer than n count as all.

    None where there is no passage. 1, 0.75 and 0.5 are 0.75 in the mean:

    >>> confidence([1.0, 0.75, 0.5]), confidence([0.5]), confidence([0.5, 0.25], n=1), confidence([])
    (0.875, 0.75, 0.75, None)

    Raises InvalidInputError for an n below 1, and for a relevance outside [0, 1]: it is on another scale.
    """
    if n < 1:
        raise InvalidInputError(f"confidence needs at least 1 passage, not {n}.", "The usual value is 5.")
    top = np.asarray(relevances, dtype=np.float64)[:n]
    if not len(top):
        return None
    if not ((top >= 0.0) & (top <= 1.0)).all():
        raise InvalidInputError("confidence is taken of relevances from 0 to 1.", "Bring the scores onto that scale.")
    return 0.5 + 0.5 * float(top.mean())
