"""The hot loops, in C where they were built and in numpy elsewhere; both give the same bits.

`KERNELS` says which of the two serves, for `twofold doctor`. The functions are described in `_kernels_numpy`.
"""

from typing import Literal

KERNELS: Literal["c", "numpy"]

try:
    from twofold._kernels import (
        bit_scores,
        bm25_top,
        cosines,
        count_marked,
        dots,
        dots_at,
        mark,
        occurrences,
        top_scores,
    )

    KERNELS = "c"
except ImportError:
    from twofold._kernels_numpy import (
        bit_scores,
        bm25_top,
        cosines,
        count_marked,
        dots,
        dots_at,
        mark,
        occurrences,
        top_scores,
    )

    KERNELS = "numpy"

__all__ = [
    "KERNELS",
    "bit_scores",
    "bm25_top",
    "cosines",
    "count_marked",
    "dots",
    "dots_at",
    "mark",
    "occurrences",
    "top_scores",
]
