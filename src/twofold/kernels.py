"""The hot loops, in C where they were built and in numpy elsewhere; both give the same bits.

`KERNELS` says which of the two serves, for `twofold doctor`. The functions are described in `_kernels_numpy`, `Runs` in
`twofold.text.analyzer`, which does without it where no compiler was there, `shape_tokens` in
`twofold.ingest.enrich.shape`.
"""

from typing import TYPE_CHECKING, Literal

from twofold._kernels_numpy import NOWHERE, AskedPart, FeedbackArrays
from twofold._kernels_numpy_candidates import FoundRows
from twofold._kernels_numpy_nearest import SearchedRows

if TYPE_CHECKING:
    from twofold._analyzer import (
        Counts,
        Runs,
        are_unicode,
        number_terms,
        shape_tokens,
        squeeze_text,
        squeeze_texts,
        unknown_terms,
    )
else:
    try:
        from twofold._analyzer import (
            Counts,
            Runs,
            are_unicode,
            number_terms,
            shape_tokens,
            squeeze_text,
            squeeze_texts,
            unknown_terms,
        )
    except ImportError:
        from twofold._analyzer_python import are_unicode, number_terms, shape_tokens, unknown_terms

        Counts = Runs = squeeze_text = squeeze_texts = None

KERNELS: Literal["c", "numpy"]

try:
    from twofold._kernels import (
        bm25_at,
        bm25_top,
        coded_query,
        convex_values,
        cosines,
        count_terms,
        count_words,
        dots,
        edit_distances,
        falling,
        feedback_terms,
        filled,
        find_texts,
        idfs,
        letter_kinds,
        locate,
        mark,
        nearest_rows,
        occurrences,
        order_found,
        phrase_marks,
        scores_of,
        stretches,
        top_scores,
        turn_over,
        union_of,
    )

    KERNELS = "c"
except ImportError:
    from twofold._kernels_numpy import (
        bm25_at,
        bm25_top,
        cosines,
        count_terms,
        dots,
        find_texts,
        idfs,
        mark,
        occurrences,
        phrase_marks,
        stretches,
        top_scores,
        turn_over,
    )
    from twofold._kernels_numpy_candidates import falling, filled, locate, order_found, scores_of, union_of
    from twofold._kernels_numpy_nearest import coded_query, nearest_rows
    from twofold._kernels_text import count_words, edit_distances, letter_kinds

    if not TYPE_CHECKING:  # `twofold.ranking.fusion` and `twofold.search.prf` do without these
        convex_values = feedback_terms = None
    KERNELS = "numpy"

__all__ = [
    "KERNELS",
    "NOWHERE",
    "AskedPart",
    "Counts",
    "FeedbackArrays",
    "FoundRows",
    "Runs",
    "SearchedRows",
    "are_unicode",
    "bm25_at",
    "bm25_top",
    "coded_query",
    "convex_values",
    "cosines",
    "count_terms",
    "count_words",
    "dots",
    "edit_distances",
    "falling",
    "feedback_terms",
    "filled",
    "find_texts",
    "idfs",
    "letter_kinds",
    "locate",
    "mark",
    "nearest_rows",
    "number_terms",
    "occurrences",
    "order_found",
    "phrase_marks",
    "scores_of",
    "shape_tokens",
    "squeeze_text",
    "squeeze_texts",
    "stretches",
    "top_scores",
    "turn_over",
    "union_of",
    "unknown_terms",
]
