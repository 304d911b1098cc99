"""TF-IDF over a snapshot: passages' norms from the postings, made when first asked for, and the best by them."""

import numpy as np
from numpy.typing import NDArray

from twofold.stores.local.segment import Segment
from twofold.stores.local.snapshot import OpenSegment, SegmentSnapshot
from twofold.text.postings import Frequencies, Offsets, Slots

Floats = NDArray[np.float64]


def passage_norms(snapshot: SegmentSnapshot) -> tuple[Floats, ...]:
    """Return the length of each slot's vector, for each part; kept with the snapshot once they are made.

    Making them reads every posting once: about half a second for 100,000 passages.
    """
    if not snapshot.tfidf_norms:
        terms = np.unique(np.concatenate([part.segment.terms for part in snapshot.parts]))
        holding = np.zeros(len(terms), dtype=np.int64)
        for part in snapshot.parts:
            holding[np.searchsorted(terms, part.segment.terms)] += _living(part)
        idfs = np.log((1.0 + snapshot.state.chunks) / (1.0 + holding)) + 1.0
        made = tuple(_norms(part.segment, idfs[np.searchsorted(terms, part.segment.terms)]) for part in snapshot.parts)
        snapshot.tfidf_norms.append(made)
    return snapshot.tfidf_norms[0]


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
