"""From a model's output to unit vectors, and the checks that keep a broken model's output out of a collection."""

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import ModelError
from twofold.domain.types import Vectors
from twofold.models.entries import Pooling


def pool(hidden: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    """Make one vector of each text's token vectors: (texts, tokens, dimensions) to (texts, dimensions).

    `mask` (texts, tokens) is 1 at real tokens and 0 at padding. Mean of tokens [1, 3] and padding [9]: 2.
    """
    if pooling is Pooling.CLS:
        return hidden[:, 0]
    weights = mask.astype(np.float32)
    total: NDArray[np.float32] = np.einsum("btd,bt->bd", hidden, weights)
    mean: NDArray[np.float32] = total / np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    return mean


def unit_rows(raw: NDArray[np.floating], count: int, dimensions: int, model: str) -> Vectors:
    """Scale each row to length 1, as float32. Raises ModelError for a wrong shape, NaN, infinity or a zero vector."""
    if raw.shape != (count, dimensions):
        raise ModelError(
            f"{model} gave an array of shape {raw.shape} instead of {(count, dimensions)}.",
            "Check the model's name and its dimensions.",
        )
    wide = raw.astype(np.float64)
    if not np.isfinite(wide).all():
        raise ModelError(f"{model} gave a vector that is not all numbers.", "Fetch the model again, or use another.")
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not lengths.all():
        raise ModelError(f"{model} gave a zero vector, which has no direction.", "Use another model.")
    return np.asarray(wide / lengths, dtype=np.float32)
