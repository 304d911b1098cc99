"""The hot loops, in C where they were built and in numpy elsewhere; both give the same bits.

`KERNELS` says which of the two serves, for `twofold doctor`. The functions are described in `_kernels_numpy`.
"""

from typing import Literal

from twofold._kernels_numpy import NOWHERE

KERNELS: Literal["c", "numpy"]

try:
    from twofold._kernels import (
        bit_scores,
        bm25_at,
        bm25_top,
        cosines,
        count_marked,
        dots,
        dots_at,
        find_texts,
        mark,
        occurrences,
        top_scores,
        turn_over,
    )

    KERNELS = "c"
except ImportError:
    from twofold._kernels_numpy import (
        bit_scores,
        bm25_at,
        bm25_top,
        cosines,
        count_marked,
        dots,
        dots_at,
        find_texts,
        mark,
        occurrences,
        top_scores,
        turn_over,
    )

    KERNELS = "numpy"

__all__ = [
    "KERNELS",
    "NOWHERE",
    "bit_scores",
    "bm25_at",
    "bm25_top",
    "cosines",
    "count_marked",
    "dots",
    "dots_at",
    "find_texts",
    "mark",
    "occurrences",
    "top_scores",
    "turn_over",
]
