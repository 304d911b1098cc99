"""TF-IDF over a snapshot: passages' norms from the postings, made when first asked for, and the best by them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.stores.local.segment import Segment
from twofold.stores.local.snapshot import OpenSegment, SegmentSnapshot
from twofold.text.postings import Frequencies, Offsets, Slots

Floats = NDArray[np.float64]
TermCounts = tuple[NDArray[np.uint32], NDArray[np.int64]]
"""Rising numbers of terms, and in how many passages each occurs."""


def passage_norms(snapshot: SegmentSnapshot) -> tuple[Floats, ...]:
    """Return the length of each slot's vector, for each part; kept with the snapshot once they are made.

    Making them reads every posting once: about half a second for 100,000 passages.
    """
    if not snapshot.tfidf_norms:
        make_norms(snapshot, snapshot.state.chunks, term_counts(snapshot))
    return snapshot.tfidf_norms[0]


def make_norms(snapshot: SegmentSnapshot, chunks: int, counted: TermCounts) -> None:
    """Make the passages' norms by the counts of a whole collection, of which this may be a share."""
    terms, holding = counted
    idfs = np.log((1.0 + chunks) / (1.0 + holding)) + 1.0
    places = [np.searchsorted(terms, part.segment.terms) for part in snapshot.parts]
    norms = tuple(_norms(part.segment, idfs[at]) for part, at in zip(snapshot.parts, places, strict=True))
    snapshot.tfidf_norms[:] = [norms]


def term_counts(snapshot: SegmentSnapshot) -> TermCounts:
    """Count in how many living passages each term occurs."""
    return added_counts([(part.segment.terms, _living(part)) for part in snapshot.parts])


def added_counts(counted: Sequence[TermCounts]) -> TermCounts:
    """Add up what several parts count."""
    terms = np.unique(np.concatenate([np.empty(0, np.uint32), *(one for one, _ in counted)]))
    holding = np.zeros(len(terms), dtype=np.int64)
    for some, often in counted:
        holding[np.searchsorted(terms, some)] += often
    return terms, holding


def _living(part: OpenSegment) -> NDArray[np.int64]:
    """Count in how many living passages each term of a part occurs."""
    held = part.segment
    if part.live is None or not len(held.terms):
        return np.diff(held.offsets)
    return np.add.reduceat(part.live[held.slots].astype(np.int64), held.offsets[:-1])


def _norms(segment: Segment, idfs: Floats) -> Floats:
    weighed = segment.frequencies * np.repeat(idfs, np.diff(segment.offsets))
    squares = np.bincount(segment.slots, weights=weighed * weighed, minlength=len(segment))
    return np.sqrt(squares)


def tfidf_top(  # noqa: PLR0913, PLR0917  # as `bm25_top`, which it stands in for
    slots: Slots,
    frequencies: Frequencies,
    starts: Offsets,
    ends: Offsets,
    weights: Floats,
    idfs: Floats,
    norms: Floats,
    allowed: NDArray[np.uint8] | None,
    k: int,
) -> tuple[Slots, Floats]:
    """Return the slots with the k best scores, and those of equal score with the last, and their scores.

    `norms` (n,) are the lengths of passage and question multiplied; `weights` and `idfs` (T,) are the question's.
    """
    scores = np.zeros(len(norms), dtype=np.float64)
    for start, end, weight, idf in zip(starts.tolist(), ends.tolist(), weights.tolist(), idfs.tolist(), strict=True):
        held = slots[start:end]
        scores[held] += weight * (frequencies[start:end] * idf / norms[held])
    if allowed is not None:
        scores[allowed == 0] = 0.0
    found = np.flatnonzero(scores > 0.0)
    if len(found) > k:
        least = np.partition(scores[found], -k)[-k]
        found = found[scores[found] >= least]
    return found.astype(np.uint32), scores[found]


def tfidf_added(often: NDArray[np.uint16], weights: Floats, idfs: Floats, norms: Floats) -> Floats:
    """Add up what each term adds to each slot, from the left: `often` (slots, terms), `norms` (slots,)."""
    with np.errstate(all="ignore"):
        parts = weights * (often.astype(np.float64) * idfs / norms[:, None])
    parts[often == 0] = 0.0
    return np.add.accumulate(parts, axis=1)[:, -1]
