"""The hot loops, in C where they were built and in numpy elsewhere; both give the same bits.

`KERNELS` says which of the two serves, for `twofold doctor`. The functions are described in `_kernels_numpy`.
"""

from typing import Literal

from twofold import _kernels_numpy

KERNELS: Literal["c", "numpy"]

try:
    from twofold import _kernels
except ImportError:
    KERNELS = "numpy"
    bm25_top = _kernels_numpy.bm25_top
    bm25_contributions = _kernels_numpy.bm25_contributions
    count_marked = _kernels_numpy.count_marked
    mark = _kernels_numpy.mark
    top_scores = _kernels_numpy.top_scores
    hamming_top = _kernels_numpy.hamming_top
    dots = _kernels_numpy.dots
else:
    KERNELS = "c"
    bm25_top = _kernels.bm25_top
    bm25_contributions = _kernels.bm25_contributions
    count_marked = _kernels.count_marked
    mark = _kernels.mark
    top_scores = _kernels.top_scores
    hamming_top = _kernels.hamming_top
    dots = _kernels.dots
