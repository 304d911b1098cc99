"""From a reranker's raw scores to relevance in [0, 1], by the scale that the model declares."""

import numpy as np

from twofold.domain.ports import Scale
from twofold.domain.types import Scores
from twofold.ranking.normalize import clip, sigmoid


def relevance_of(raw: Scores, scale: Scale) -> Scores:
    """Bring raw scores onto [0, 1]: the sigmoid of a logit, `(1 + cosine) / 2`, relevance as it is.

    >>> relevance_of(np.array([9.15, 0.0, -4.32]), Scale.LOGIT).round(4).tolist()
    [0.9999, 0.5, 0.0131]
    >>> relevance_of(np.array([0.5]), Scale.COSINE).tolist()
    [0.75]
    """
    if scale is Scale.LOGIT:
        return sigmoid(raw)
    if scale is Scale.COSINE:
        return clip((1.0 + np.asarray(raw, dtype=np.float64)) / 2.0)
    return clip(raw)
