"""Postings of one segment: which passages hold a term, and how often; built from passages, or merged from segments.

Turned over they are the forward index: which terms a passage holds.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.kernels import NOWHERE, stretches, turn_over

TermIds = NDArray[np.uint32]
Offsets = NDArray[np.int64]
Slots = NDArray[np.uint32]
Frequencies = NDArray[np.uint16]
Remap = NDArray[np.int64]

DROPPED = -1
DENSE = 2  # postings a term number, from which numbers are worth an array of their own


class TermsOfPassages(NamedTuple):
    """The distinct terms of passages and how often each occurs, in step, one passage after the other.

    Passage s has the next `sizes[s]` of them, in any order.
    """

    sizes: Offsets
    term_ids: TermIds
    frequencies: Frequencies


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Term `terms[i]` occurs in the passages `slots[offsets[i]:offsets[i + 1]]`, rising, `frequencies` times each.

    `terms` (t,) uint32 rises strictly, `offsets` (t + 1,) int64 starts at 0 and ends at the number of postings p,
    `slots` (p,) uint32, `frequencies` (p,) uint16. The arrays may be views of a mapped file.
    """

    terms: TermIds
    offsets: Offsets
    slots: Slots
    frequencies: Frequencies

    def stretches(self, places: Slots) -> tuple[Offsets, Offsets]:
        """Return where the postings of `terms[place]` start and end, int64; an empty stretch for `NOWHERE`.

        Raises ValueError for a place beyond the terms.
        """
        return stretches(self.offsets, places)

    def places_of(self, term_ids: TermIds) -> Slots:
        """Return where terms stand among `terms`; `NOWHERE` for one that is not there."""
        places = np.searchsorted(self.terms, term_ids).astype(np.uint32)
        places[places == len(self.terms)] = NOWHERE
        held = places != NOWHERE
        held[held] = self.terms[places[held]] == term_ids[held]
        places[~held] = NOWHERE
        return places

    def transposed(self, passages: int) -> "ForwardIndex":
        """Return the same by passage. Raises ValueError for a slot beyond that number of passages."""
        return ForwardIndex(*turn_over(self.offsets, self.slots, self.frequencies, passages))


@dataclass(frozen=True, slots=True, eq=False)
class ForwardIndex:
    """Passage s holds the terms `places[offsets[s]:offsets[s + 1]]`, rising, `frequencies` times each.

    A place is that of a term among the `terms` of the postings. `offsets` (n + 1,) int64, `places` (p,) uint32,
    `frequencies` (p,) uint16. The arrays may be views of a mapped file.
    """

    offsets: Offsets
    places: Slots
    frequencies: Frequencies


def build(passages: TermsOfPassages) -> Postings:
    """Turn passages, the slot of each its place among them, into postings.

    Where most numbers up to the highest are held, as in all but small segments, one pass puts each in its place.
    """
    highest = int(passages.term_ids.max(initial=0))
    if highest < DENSE * len(passages.term_ids):
        return _build_dense(passages, highest)
    slots = np.repeat(np.arange(len(passages.sizes), dtype=np.uint32), passages.sizes)
    order = _stable_order(passages.term_ids)
    return _directory(passages.term_ids[order], slots[order], passages.frequencies[order])


def _build_dense(passages: TermsOfPassages, highest: int) -> Postings:
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(passages.sizes, dtype=np.int64)])
    offsets, slots, frequencies = turn_over(
        starts, np.ascontiguousarray(passages.term_ids), np.ascontiguousarray(passages.frequencies), highest + 1
    )
    terms = np.flatnonzero(offsets[1:] > offsets[:-1])
    return Postings(terms.astype(np.uint32), np.append(offsets[terms], offsets[-1]), slots, frequencies)


def merge(parts: Sequence[Postings], remaps: Sequence[Remap]) -> Postings:
    """Merge segments' postings; see `merge_in_groups`, whose groups it puts together."""
    most = sum(len(part.slots) for part in parts)
    slots, frequencies = np.empty(most, dtype=np.uint32), np.empty(most, dtype=np.uint16)
    terms, sizes = [np.empty(0, np.uint32)], [np.zeros(1, np.int64)]
    held = 0
    for group in merge_in_groups(parts, remaps):  # each is put into its place at once: all of them are held once
        end = held + len(group.slots)
        slots[held:end], frequencies[held:end] = group.slots, group.frequencies
        terms.append(group.terms)
        sizes.append(np.diff(group.offsets))
        held = end
    return Postings(np.concatenate(terms), np.concatenate(sizes).cumsum(), slots[:held], frequencies[:held])


def merge_in_groups(
    parts: Sequence[Postings], remaps: Sequence[Remap], most_postings: int = 4_000_000
) -> Iterator[Postings]:
    """Merge segments' postings in groups of terms, by rising term, so that memory stays bounded by one group.

    `remaps[i][slot]` is the new slot of a slot of `parts[i]`, or `DROPPED` for a dead passage. The new slots of living
    passages rise within a part, and from part to part. A group holds at most `most_postings` postings before dropping,
    or one term. A term that lost all of its passages is left out. Memory: about 40 bytes a posting of a group.
    """
    terms = np.unique(np.concatenate([np.empty(0, np.uint32), *(part.terms for part in parts)]))
    lengths = np.zeros(len(terms), dtype=np.int64)
    for part in parts:
        lengths[np.searchsorted(terms, part.terms)] += np.diff(part.offsets)
    before = np.concatenate([np.zeros(1, np.int64), lengths]).cumsum()
    first = 0
    while first < len(terms):
        fitting = int(np.searchsorted(before, before[first] + most_postings, side="right")) - 1
        last = min(max(fitting, first + 1), len(terms))
        group = _merge_group(terms[first:last], parts, remaps)
        if len(group.terms):
            yield group
        first = last


class _Living(NamedTuple):
    """The postings of one part whose passages live, and how many each term of the group has of them."""

    sizes: Offsets
    slots: Slots
    frequencies: Frequencies


def _merge_group(terms: TermIds, parts: Sequence[Postings], remaps: Sequence[Remap]) -> Postings:
    """Put each term's postings of one part behind those of the part before: they are in order already."""
    living = [_living(terms, part, remap) for part, remap in zip(parts, remaps, strict=True)]
    sizes = sum((one.sizes for one in living), start=np.zeros(len(terms), dtype=np.int64))
    offsets = np.concatenate([np.zeros(1, np.int64), sizes]).cumsum()
    slots, frequencies = np.empty(offsets[-1], dtype=np.uint32), np.empty(offsets[-1], dtype=np.uint16)
    begins = offsets[:-1].copy()
    for one in living:
        shift = begins - (np.cumsum(one.sizes) - one.sizes)
        places = np.arange(len(one.slots)) + np.repeat(shift, one.sizes)
        slots[places], frequencies[places] = one.slots, one.frequencies
        begins += one.sizes
    held = sizes > 0
    return Postings(terms[held], np.append(offsets[:-1][held], offsets[-1]), slots, frequencies)


def _living(terms: TermIds, part: Postings, remap: Remap) -> _Living:
    low, high = np.searchsorted(part.terms, terms[0]), np.searchsorted(part.terms, terms[-1], side="right")
    start, end = part.offsets[low], part.offsets[high]
    moved, frequencies = remap[part.slots[start:end]], part.frequencies[start:end]
    alive = moved != DROPPED
    before = np.concatenate([np.zeros(1, np.int64), alive]).cumsum()
    sizes = np.zeros(len(terms), dtype=np.int64)
    sizes[np.searchsorted(terms, part.terms[low:high])] = np.diff(before[part.offsets[low : high + 1] - start])
    return _Living(sizes, moved[alive].astype(np.uint32), frequencies[alive])


def _directory(terms: TermIds, slots: Slots, frequencies: Frequencies) -> Postings:
    """Make the directory for postings that are already sorted by term."""
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(terms), 1), np.bool_), terms[1:] != terms[:-1]]))
    offsets = np.append(starts, len(terms)).astype(np.int64)
    return Postings(terms[starts], offsets, slots, frequencies)


def _stable_order(terms: TermIds) -> NDArray[np.intp]:
    """Sort by term, keeping the order of equal ones, in two passes of 16 bits: numpy sorts 16 bits in linear time."""
    order = np.argsort(terms.astype(np.uint16), kind="stable")
    upper = (terms >> np.uint32(16)).astype(np.uint16)
    if not len(upper) or not upper.any():
        return order
    return order[np.argsort(upper[order], kind="stable")]
