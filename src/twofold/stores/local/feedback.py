"""What the terms of a snapshot's passages gain by feedback, in one call of the kernel.

`twofold.ranking.prf` has the formula and works it out where this returns None; both give the same bits.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from twofold.domain.types import FeedbackGains, Scores, TermQuery
from twofold.kernels import KERNELS, FeedbackArrays, feedback_terms
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.resolve import numbers_of, texts_of
from twofold.stores.local.snapshot import OpenSegment, SegmentSnapshot

ROUNDS = 2  # the second when terms that no query has met are judged


def feedback_gains(
    snapshot: SegmentSnapshot,
    known: KnownTerms,
    query: TermQuery,
    places: Sequence[tuple[int, int]],
    shares: Scores,
    terms: int,
) -> tuple[FeedbackGains, Mapping[str, int]] | None:
    """Return what the question's terms gain, and the others that gain; None without a compiler, or with groups.

    `places` are part and slot of the passages learnt from, and `shares` how much each counts, in step. With the
    gains come the numbers of all of these terms.
    """
    if KERNELS == "numpy" or query.groups or query.statistics is not None:
        return None
    arrays = tuple(map(_arrays, snapshot.parts))
    parts, slots = np.array(places, dtype=np.int64).reshape(-1, 2).T.copy()
    own = numbers_of(snapshot, known, query.terms)
    state = snapshot.state
    average = state.words / state.chunks if state.words else 1.0
    for _ in range(ROUNDS):
        found = feedback_terms(
            arrays, parts, slots, shares, known.marks, own, state.chunks, average, query.k1, query.b, terms
        )
        if isinstance(found, tuple):
            (gains, worth), (ids, texts) = found
            numbers = dict(zip((*query.terms, *texts), (*own.tolist(), *ids.tolist()), strict=True))
            return FeedbackGains(gains, texts, worth), numbers
        known.may_expand(found, lambda ids: texts_of(snapshot, known, ids))
    return None


def _arrays(part: OpenSegment) -> FeedbackArrays:
    """Return what feedback reads of a part: its terms and postings, its passages, and the terms' texts."""
    held = part.segment
    terms = (held.terms, held.table, held.offsets, held.slots, part.live)
    passages = (held.forward_offsets, held.forward_places, held.forward_frequencies, held.lengths)
    return (*terms, *passages, held.term_texts, held.term_offsets)
