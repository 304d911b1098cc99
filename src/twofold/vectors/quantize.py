"""Codes of unit vectors, eight bits a dimension. The float16 rows are the truth."""

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass

Halves = NDArray[np.float16]

ROW_BATCH_SIZE = 1_024  # so that what is computed of them stays in the cache
MAX_CODE = np.float32(127.0)


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Rows in eight bits: row i is about `values[i] · scales[i]`. `values` (n, d) int8, `scales` (n,) float32."""

    values: NDArray[np.int8]
    scales: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.values)


def quantize(vectors: Halves | NDArray[np.float32]) -> Codes:
    """Code each row (n, d) with a scale of its own, `max |x| / 127`; a row's codes depend on that row alone.

    Worked numbers: (0.6, -0.8) has the scale 0.8 / 127 = 0.0062992 and the codes (95, -127). A row of zeros has the
    scale 0. Raises ValueError for a value that is not finite.
    """
    values = np.empty(vectors.shape, dtype=np.int8)
    scales = np.empty(len(vectors), dtype=np.float32)
    for first in range(0, len(vectors), ROW_BATCH_SIZE):
        part = slice(first, first + ROW_BATCH_SIZE)
        rows = vectors[part].astype(np.float32)
        if not np.isfinite(rows).all():
            raise ValueError("a vector holds a value that is not finite")
        largest = np.abs(rows).max(axis=1, initial=0.0)
        scales[part] = largest / MAX_CODE
        rows *= (MAX_CODE / np.where(largest > 0.0, largest, MAX_CODE))[:, None]
        values[part] = np.rint(rows, out=rows)
    return Codes(values, scales)
