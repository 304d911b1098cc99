"""The passages' texts of a segment as phrases are looked for in them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.text.phrases import squeeze_all


class FoldedTexts(NamedTuple):
    """Texts of passages, folded by `phrases.squeeze`, one after the other, and their lengths in bytes."""

    texts: NDArray[np.uint8]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, texts: list[str]) -> "FoldedTexts":
        """Fold texts."""
        joined, lengths = squeeze_all(texts)
        return cls(np.frombuffer(joined, dtype=np.uint8), np.frombuffer(lengths, dtype=np.int64))

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Return where each begins, and where the last ends."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths, dtype=np.int64)])
