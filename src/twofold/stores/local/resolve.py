"""A query for BM25 made ready for a snapshot: looked up once, used by everything that the question asks for.

One with groups of terms, each scored as one term, is scored here; all others go through the kernels.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import GroupMember, Statistics, TermQuery
from twofold.kernels import NOWHERE, count_terms, mark
from twofold.stores.local.known_terms import KnownTerms
from twofold.stores.local.segment import Segment
from twofold.stores.local.snapshot import SegmentSnapshot
from twofold.stores.local.term_dictionary import EncodedTerms
from twofold.stores.local.tfidf import passage_norms
from twofold.text.bm25 import inverse_document_frequencies, with_groups
from twofold.text.phrases import count_in, squeeze
from twofold.text.tfidf import idfs_of, norm_of_query

NORMS_REMEMBERED = 4

NONE_MET: Final[Mapping[str, int]] = MappingProxyType({})

Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
Places = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedTerms:
    """A question's terms as a snapshot knows them.

    `idfs` say how rare each name in the question's `weights` is; `weights` (T,) are its weight in the question times
    that; `places` say where each part's terms have each of its `terms`, which are its names where it has no groups,
    `stretches` where each part's postings of it begin and end; `norms` are BM25's length norms of
    each part's slots, or, for TF-IDF, the lengths of passage and question multiplied.
    """

    idfs: tuple[float, ...]
    weights: Floats
    places: tuple[Places, ...]
    stretches: tuple[tuple[Offsets, Offsets], ...]
    norms: tuple[Floats, ...]


def resolve(
    snapshot: SegmentSnapshot, known: KnownTerms, query: TermQuery, met: Mapping[str, int] = NONE_MET
) -> ResolvedTerms:
    """Look a question's terms up, of which the numbers of those `met` are at hand."""
    terms = query.terms
    held, parts = _count(snapshot, numbers_of(snapshot, known, terms, met))
    places = tuple(part[0] for part in parts)
    stretches = tuple(part[1:] for part in parts)
    if query.scorer == "tfidf":
        statistics = with_groups(query, query.statistics or _counted(snapshot, terms, held))
        return _resolved_tfidf(snapshot, query, statistics, places, stretches)
    totals, holding = _totals_of(snapshot, query, held)
    idfs = inverse_document_frequencies(totals.chunks, holding)
    weights = np.fromiter(query.weights.values(), dtype=np.float64, count=len(idfs)) * idfs
    norms = _norms(snapshot, query, totals.average_length)
    return ResolvedTerms(tuple(idfs.tolist()), weights, places, stretches, norms)


def _totals_of(snapshot: SegmentSnapshot, query: TermQuery, held: Offsets) -> tuple[Statistics, Offsets]:
    """Return the collection's counts, and in how many passages each name of the query occurs.

    `held` says it of each of the query's terms.
    """
    if query.statistics is None and not query.groups:
        return Statistics(snapshot.state.chunks, snapshot.state.words, {}), held
    statistics = with_groups(query, query.statistics or _counted(snapshot, query.terms, held))
    frequencies = statistics.frequencies
    return statistics, np.array([frequencies.get(name, 0) for name in query.weights], dtype=np.int64)


def _resolved_tfidf(
    snapshot: SegmentSnapshot,
    query: TermQuery,
    statistics: Statistics,
    places: tuple[Places, ...],
    stretches: tuple[tuple[Offsets, Offsets], ...],
) -> ResolvedTerms:
    idfs = idfs_of(query, statistics)
    weights = np.array([weight * idf for weight, idf in zip(query.weights.values(), idfs, strict=True)])
    asked = norm_of_query(query, statistics) or math.inf  # no living passage holds any of the terms
    norms = tuple(asked * held for held in passage_norms(snapshot))
    return ResolvedTerms(idfs, weights, places, stretches, norms)


def statistics_of(snapshot: SegmentSnapshot, known: KnownTerms, terms: Sequence[str]) -> Statistics:
    """Count live passages, their words, and in how many of them each term occurs."""
    if not terms:
        return Statistics(snapshot.state.chunks, snapshot.state.words, {})
    return _counted(snapshot, terms, _count(snapshot, numbers_of(snapshot, known, terms))[0])


def document_frequencies(snapshot: SegmentSnapshot, ids: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Count in how many live passages each term occurs, by the terms' numbers."""
    return _count(snapshot, ids)[0]


def texts_of(snapshot: SegmentSnapshot, known: KnownTerms, ids: NDArray[np.uint32]) -> Sequence[str]:
    """Return the terms of some numbers. Raises LookupError for a number that no segment has."""
    numbers, held = ids.tolist(), known.texts
    texts = [held.get(one) for one in numbers]
    if None not in texts:
        return texts  # type: ignore[return-value]  # none is None
    fresh = _read_texts(snapshot, [one for one, text in zip(numbers, texts, strict=True) if text is None])
    known.add(fresh.items())
    return [fresh[one] if text is None else text for one, text in zip(numbers, texts, strict=True)]


def _read_texts(snapshot: SegmentSnapshot, numbers: Sequence[int]) -> dict[int, str]:
    ids = np.array(list(dict.fromkeys(numbers)), dtype=np.uint32)
    found: dict[int, str] = {}
    for part in snapshot.parts:
        dictionary = part.segment.dictionary
        for one, place in zip(ids.tolist(), part.segment.places_of(ids).tolist(), strict=True):
            if place != NOWHERE and one not in found:
                found[one] = dictionary.read(place)
    return found


def numbers_of(
    snapshot: SegmentSnapshot, known: KnownTerms, terms: Sequence[str], met: Mapping[str, int] = NONE_MET
) -> NDArray[np.uint32]:
    """Return the terms' numbers, `NOWHERE` for one that no segment holds; those not known are looked up by text.

    `met` has the numbers of terms that this view has met: many terms known are looked up slowly, as they lie anywhere.
    """
    ids = [met.get(term) for term in terms]
    if None in ids:
        ids = [known.ids.get(term) if number is None else number for term, number in zip(terms, ids, strict=True)]
    fresh = [term for term, number in zip(terms, ids, strict=True) if number is None]
    if fresh:
        read = _read_numbers(snapshot, fresh)
        known.add((number, term) for term, number in read.items())
        ids = [read.get(term, NOWHERE) if number is None else number for term, number in zip(terms, ids, strict=True)]
    return np.array(ids, dtype=np.uint32)


def _read_numbers(snapshot: SegmentSnapshot, terms: Sequence[str]) -> dict[str, int]:
    encoded, found = EncodedTerms.of(terms), dict[str, int]()
    for part in snapshot.parts:
        places = part.segment.dictionary.find(encoded)
        at = np.flatnonzero(places != NOWHERE)
        found.update(zip([terms[one] for one in at.tolist()], part.segment.terms[places[at]].tolist(), strict=True))
    return found


def _count(
    snapshot: SegmentSnapshot, ids: NDArray[np.uint32]
) -> tuple[Offsets, tuple[tuple[Places, Offsets, Offsets], ...]]:
    """Return how many living passages hold each term; of each part its place, and where its postings begin and end."""
    arrays = [(part.segment, part.live) for part in snapshot.parts]
    return count_terms(ids, tuple((one.terms, one.table, one.offsets, one.slots, live) for one, live in arrays))


def _counted(snapshot: SegmentSnapshot, terms: Sequence[str], holding: Offsets) -> Statistics:
    state = snapshot.state
    return Statistics(state.chunks, state.words, dict(zip(terms, holding.tolist(), strict=True)))


def _norms(snapshot: SegmentSnapshot, query: TermQuery, average: float) -> tuple[Floats, ...]:
    """Return BM25's length norm of every slot of every part; it is the same for many questions."""
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


def group_search(
    segment: Segment, query: TermQuery, terms: ResolvedTerms, place: int, mask: NDArray[np.uint8] | None
) -> tuple[Places, Floats]:
    """Return the slots of one part that hold any of the terms and are not masked, with their scores, in no order."""
    totals = np.zeros(len(segment))
    for weight, often in zip(terms.weights.tolist(), _dense(segment, query, terms, place), strict=True):
        held = np.flatnonzero(often)
        totals[held] += _parts(weight, often[held], terms.norms[place][held], query.k1)
    found = np.flatnonzero(totals if mask is None else totals * (mask != 0))
    return found.astype(np.uint32), totals[found]


def group_scores(frequencies: Floats, terms: ResolvedTerms, norms: Floats, k1: float) -> Floats:
    """Score some passages by how often each holds each name of the query, (passages, names)."""
    totals = np.zeros(len(frequencies))
    for weight, often in zip(terms.weights.tolist(), frequencies.T, strict=True):
        held = np.flatnonzero(often)
        totals[held] += _parts(weight, often[held], norms[held], k1)
    return totals


def _parts(weight: float, often: Floats, norms: Floats, k1: float) -> Floats:
    return weight * (often * (k1 + 1.0) / (often + norms))


def named_frequencies(segment: Segment, query: TermQuery, often: NDArray[np.uint16], slots: Places) -> Floats:
    """Return how often passages hold each name of the query, of how often they hold each of its terms."""
    columns = {term: often[:, at].astype(np.float64) for at, term in enumerate(query.terms)}
    made = np.zeros((len(slots), len(query.weights)))
    for at, name in enumerate(query.weights):
        if name not in query.groups:
            made[:, at] = columns[name]
            continue
        for member in query.groups[name]:
            made[:, at] += member.weight * _of_member(segment, member, columns, slots)
    return made


def _of_member(segment: Segment, member: GroupMember, columns: dict[str, Floats], slots: Places) -> Floats:
    if not member.phrase:
        return columns[member.terms[0]]
    together = np.flatnonzero(np.logical_and.reduce([columns[term] > 0 for term in member.terms]))
    counts = np.zeros(len(slots))
    counts[together] = _phrase_counts(segment, member.phrase, slots[together].tolist())
    return counts


def _dense(segment: Segment, query: TermQuery, terms: ResolvedTerms, place: int) -> Iterator[Floats]:
    """Yield for each name of the query how often every slot holds it."""
    starts, ends = terms.stretches[place]
    stretches = dict(zip(query.terms, zip(starts.tolist(), ends.tolist(), strict=True), strict=True))
    for name in query.weights:
        often = np.zeros(len(segment))
        for member in query.groups.get(name, (GroupMember((name,)),)):
            if member.phrase:
                held = _holding_all(segment, [stretches[term] for term in member.terms])
                often[held] += member.weight * _phrase_counts(segment, member.phrase, held.tolist())
            else:
                start, end = stretches[member.terms[0]]
                often[segment.slots[start:end]] += member.weight * segment.frequencies[start:end]
        yield often


def _holding_all(segment: Segment, stretches: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    held = np.ones(len(segment), dtype=np.uint8)
    for start, end in stretches:
        having = np.zeros(len(segment), dtype=np.uint8)
        mark(segment.slots, start, end, having)
        held &= having
    return np.flatnonzero(held)


def _phrase_counts(segment: Segment, phrase: str, slots: Sequence[int]) -> Floats:
    texts, offsets, wanted = segment.folded, segment.folded_offsets, squeeze(phrase)
    read = (texts[offsets[slot] : offsets[slot + 1]].tobytes().decode() for slot in slots)
    return np.array([count_in(wanted, text) for text in read], dtype=np.float64)
