"""A query for BM25 made ready for a snapshot: looked up once, used by everything that the question asks for."""

import math
from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Statistics, TermQuery
from twofold.kernels import count_marked
from twofold.stores.local.snapshot import OpenSegment, SegmentSnapshot
from twofold.stores.local.term_dictionary import TermDictionary
from twofold.stores.local.tfidf import passage_norms
from twofold.text.bm25 import inverse_document_frequency
from twofold.text.tfidf import idfs_of, norm_of_query

NORMS_REMEMBERED = 4

Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedTerms:
    """A question's terms as a snapshot knows them.

    `idfs` say how rare each is; `weights` (T,) are its weight in the question times that; `stretches` say where each
    part's postings of each term begin and end; `norms` are BM25's length norms of each part's slots, or, for TF-IDF,
    the lengths of passage and question multiplied.
    """

    idfs: tuple[float, ...]
    weights: Floats
    stretches: tuple[tuple[Offsets, Offsets], ...]
    norms: tuple[Floats, ...]


def resolve(
    connection: apsw.Connection, known: TermDictionary, snapshot: SegmentSnapshot, query: TermQuery
) -> ResolvedTerms:
    """Look a question's terms up."""
    terms = tuple(query.weights)
    ids = known.ids(connection, terms)
    stretches = stretches_of(snapshot, ids)
    statistics = query.statistics or _counted(snapshot, terms, stretches)
    if query.scorer == "tfidf":
        return _resolved_tfidf(snapshot, query, statistics, stretches)
    idfs = tuple(inverse_document_frequency(statistics.chunks, statistics.frequencies.get(term, 0)) for term in terms)
    weights = [weight * idf for weight, idf in zip(query.weights.values(), idfs, strict=True)]
    norms = _norms(snapshot, query, statistics.average_length)
    return ResolvedTerms(idfs, np.array(weights, dtype=np.float64), stretches, norms)


def _resolved_tfidf(
    snapshot: SegmentSnapshot, query: TermQuery, statistics: Statistics, stretches: tuple[tuple[Offsets, Offsets], ...]
) -> ResolvedTerms:
    idfs = idfs_of(query, statistics)
    weights = np.array([weight * idf for weight, idf in zip(query.weights.values(), idfs, strict=True)])
    asked = norm_of_query(query, statistics) or math.inf  # no living passage holds any of the terms
    return ResolvedTerms(idfs, weights, stretches, tuple(asked * norms for norms in passage_norms(snapshot)))


def statistics_of(
    connection: apsw.Connection, known: TermDictionary, snapshot: SegmentSnapshot, terms: Sequence[str]
) -> Statistics:
    """Count live passages, their words, and in how many of them each term occurs."""
    return _counted(snapshot, terms, stretches_of(snapshot, known.ids(connection, terms)))


def added(often: NDArray[np.uint16], terms: ResolvedTerms, norms: Floats, k1: float) -> Floats:
    """Add up what each term adds to each slot, from the left: `often` (slots, terms) and `norms` (slots,) to scores.

    The formula of `twofold.text.bm25`, bit for bit.
    """
    times = often.astype(np.float64)
    with np.errstate(all="ignore"):
        parts = terms.weights * (times * (k1 + 1.0) / (times + norms[:, None]))
    parts[often == 0] = 0.0  # where the norm is 0 as well, it came out undefined
    return np.add.accumulate(parts, axis=1)[:, -1]


def stretches_of(snapshot: SegmentSnapshot, ids: NDArray[np.uint32]) -> tuple[tuple[Offsets, Offsets], ...]:
    """Return where each part's postings of each term begin and end."""
    return tuple(part.segment.postings.locate(ids) for part in snapshot.parts)


def _counted(
    snapshot: SegmentSnapshot, terms: Sequence[str], stretches: Sequence[tuple[Offsets, Offsets]]
) -> Statistics:
    frequencies = np.zeros(len(terms), dtype=np.int64)
    for part, (starts, ends) in zip(snapshot.parts, stretches, strict=True):
        frequencies += ends - starts
        if part.live is not None:
            frequencies -= _dead(part, part.live, starts, ends)
    state = snapshot.state
    return Statistics(state.chunks, state.words, dict(zip(terms, frequencies.tolist(), strict=True)))


def _dead(part: OpenSegment, live: NDArray[np.uint8], starts: Offsets, ends: Offsets) -> NDArray[np.int64]:
    """Count each term's postings whose passages are dead, so that a document frequency is exact."""
    dead = 1 - live
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return np.array([count_marked(part.segment.slots, start, end, dead) for start, end in pairs], dtype=np.int64)


def _norms(snapshot: SegmentSnapshot, query: TermQuery, average: float) -> tuple[Floats, ...]:
    """Give BM25's length norm of every slot of every part; it is the same for many questions."""
    name = (query.k1, query.b, average)
    known = snapshot.norms.get(name)
    if known is None:
        known = tuple(
            query.k1 * (1.0 - query.b + query.b * part.segment.lengths.astype(np.float64) / average)
            for part in snapshot.parts
        )
        for oldest in list(snapshot.norms)[: 1 - NORMS_REMEMBERED]:  # a copy: other threads ask as well
            snapshot.norms.pop(oldest, None)
        snapshot.norms[name] = known
    return known
