"""Confidence in what was found, from relevances on an absolute scale; None where there is no such scale.

    confidence = 0.5 + 0.5 · mean(relevances of the top n)    in [0.5, 1.0] (checklist 80)

The relevances are absolute: they say what one passage is worth, whatever else was found. Stretching the top n between
their own least and greatest would make every mean look alike, and one passage alone have none (checklist C13). It is
reported, it bars nothing, and it is no probability.

A reranker gives relevances. Without one, some scores can serve: cosines of the dense arm, and log odds. BM25, sums of
ranks, and whatever was normalised by the question's own best score have no absolute scale: the best passage of a
question that nothing answers scores as high there as that of any other.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Scale
from twofold.domain.types import Scores
from twofold.ranking.normalise import clip, sigmoid

TOP: Final = 5
"""How many passages speak for a question."""

FUSED_SCALES: Final[Mapping[str, Scale]] = MappingProxyType({"semantic": Scale.COSINE, "log_odds": Scale.LOGIT})
"""The forms of fusion, and the modes of one arm alone, whose scores have an absolute scale; no other has one."""


def confidence(relevances: Sequence[float] | Scores, n: int = TOP) -> float | None:
    """Give the confidence in passages from their relevances, best first, (m,) in [0, 1]; fewer than n count as all.

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


def absolute(scores: Sequence[float] | Scores, scale: Scale | None) -> Scores | None:
    """Bring scores of an absolute scale onto [0, 1], in their order; None for none.

    A cosine below 0 counts as 0 (checklist 19), a logit as its probability, a relevance as it is. Unrelated passages
    have cosines above 0 in most models, so confidence from cosines compares questions under one model alone.

    >>> cosines, logits = absolute([0.8, -0.1], Scale.COSINE), absolute([0.0], Scale.LOGIT)
    >>> (cosines.tolist(), logits.tolist(), absolute([0.0328], FUSED_SCALES.get("rrf")))
    ([0.8, 0.0], [0.5], None)
    """
    values = np.asarray(scores, dtype=np.float64)
    if scale is None:
        return None
    return sigmoid(values) if scale is Scale.LOGIT else clip(values)


def confidence_of_fused(scores: Sequence[float] | Scores, form: str, n: int = TOP) -> float | None:
    """Give the confidence where nothing was reranked, from fused scores, best first, and the name of their form.

    None for every form that is not in `FUSED_SCALES`: no number is better than one without a meaning. With both arms
    fused otherwise, the cosines of the passages found, best first, may be given under `semantic`.

    >>> confidence_of_fused([0.8, 0.6], "semantic"), confidence_of_fused([0.0328, 0.0323], "rrf")
    (0.85, None)
    """
    relevances = absolute(scores, FUSED_SCALES.get(form))
    return None if relevances is None else confidence(relevances, n)
