"""A scope as masks: which slots of each segment may be found at all, decided before anything is ranked."""

import logging
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not
from twofold.domain.ports import ALL, Scope
from twofold.domain.types import MAX_INTEGER, Clause, Scalar
from twofold.kernels import mark, phrase_marks
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.local.segment import Segment
from twofold.stores.local.serialization import MALFORMED, is_unicode
from twofold.stores.local.snapshot import OpenSegment, SegmentSnapshot, read_rows, segment_of
from twofold.stores.local.term_dictionary import EncodedTerms
from twofold.text.phrases import squeeze, stand_near, stands_in

Mask = NDArray[np.uint8]
Passing = NDArray[np.bool_]
Remembered = TypeVar("Remembered")

logger = logging.getLogger(__name__)

MAX_REMEMBERED = 16
FEW = 64
"""As many passages are read to count what stands in them word for word."""
MANY = 4096
"""As many are looked through at once for one that holds it, where more than these hold its terms."""


def masks_of(connection: CatalogConnection, snapshot: SegmentSnapshot, scope: Scope) -> tuple[Mask | None, ...]:
    """Return for each part of the snapshot what may be found, uint8 (n,); None where all of it may.

    A snapshot remembers the last few scopes, since the same filter is often asked again.
    """
    if scope == ALL:
        return tuple(part.live for part in snapshot.parts)
    name = repr(scope)  # by its spelling: 1 and True are equal keys and different conditions
    found = snapshot.masks.get(name)
    if found is None:
        found = tuple(_mask_of(connection, snapshot, part, (name, scope)) for part in snapshot.parts)
        _remember(snapshot.masks, name, found)
    return found


def count_within(
    connection: CatalogConnection, snapshot: SegmentSnapshot, scope: Scope, narrower: Sequence[Scope]
) -> list[int]:
    """Count for each of the narrower scopes the passages that are in it and in `scope`; only the latter is kept."""
    counts = [0] * len(narrower)
    for part, mask in zip(snapshot.parts, masks_of(connection, snapshot, scope), strict=True):
        among = np.ones(len(part.segment), dtype=np.uint8) if mask is None else (mask != 0).astype(np.uint8)
        for place, one in enumerate(narrower):
            counts[place] += int(np.count_nonzero(_compute(connection, snapshot, part, one, among)))
    return counts


def count_holding(snapshot: SegmentSnapshot, masks: Sequence[Mask | None], clauses: Sequence[Clause]) -> list[int]:
    """Count for each clause the passages that hold its terms, of those marked; 0 where none holds its words."""
    counts = [0] * len(clauses)
    encoded = EncodedTerms.of([term for clause in clauses for term in clause.terms])
    for part, mask in zip(snapshot.parts, masks, strict=True):
        starts, ends = part.segment.stretches(encoded)
        stretches = iter(zip(starts.tolist(), ends.tolist(), strict=True))
        for place, clause in enumerate(clauses):
            slots = _slots_holding(part.segment, [next(stretches) for _ in clause.terms], mask)
            counts[place] += _with_words(part.segment, slots, squeeze(clause.verbatim))
    return counts


def _slots_holding(segment: Segment, stretches: Sequence[tuple[int, int]], mask: Mask | None) -> NDArray[np.uint32]:
    """Return the slots of passages that hold every one of some terms, given by their stretches, of those marked."""
    if not stretches:
        held = np.arange(len(segment), dtype=np.uint32)
    else:
        first, *others = sorted(stretches, key=lambda stretch: stretch[1] - stretch[0])
        held = segment.slots[first[0] : first[1]]
        for start, end in others:
            held = held[np.isin(held, segment.slots[start:end], assume_unique=True)]
    return held if mask is None else held[mask[held] != 0]


def _with_words(segment: Segment, slots: NDArray[np.uint32], wanted: str) -> int:
    """Count the passages that hold folded words, of a few; of many return how many they are once one holds them."""
    texts, offsets, needle = segment.folded, segment.folded_offsets, wanted.encode("utf-8", "replace")
    found = 0
    for slot in slots[:FEW].tolist():
        text = texts[offsets[slot] : offsets[slot + 1]].tobytes()
        found += needle in text and stands_in(wanted, text.decode())
        if found and len(slots) > FEW:
            return len(slots)
    for at in range(FEW, len(slots), MANY):
        among = np.zeros(len(segment), dtype=np.uint8)
        among[slots[at : at + MANY]] = 1
        if _with_phrase(segment, wanted, among).any():
            return len(slots)
    return found


def _mask_of(
    connection: CatalogConnection, snapshot: SegmentSnapshot, part: OpenSegment, named: tuple[str, Scope]
) -> Mask:
    """Return what may be found of one part; a segment remembers it, so that a change elsewhere costs nothing."""
    name, scope = named
    passing = part.segment.passing.get(name)
    if passing is None:
        passing = _compute(connection, snapshot, part, scope)
        _remember(part.segment.passing, name, passing)
    return passing if part.live is None else passing & part.live


def _remember(known: dict[str, Remembered], name: str, found: Remembered) -> None:
    for oldest in list(known)[: 1 - MAX_REMEMBERED]:  # a copy: other threads ask as well
        known.pop(oldest, None)
    known[name] = found


def _compute(
    connection: CatalogConnection, snapshot: SegmentSnapshot, part: OpenSegment, scope: Scope, among: Mask | None = None
) -> Mask:
    mask = np.ones(len(part.segment), dtype=np.uint8) if among is None else among.copy()
    if scope.filter != MATCH_ALL:
        mask &= _passing_or_again(connection, snapshot, part, scope.filter)
    for clause in scope.required:
        mask &= _holding(part.segment, clause, mask)
    for clause in scope.excluded:
        mask &= 1 - _holding(part.segment, clause, mask)
    return mask


def _holding(segment: Segment, clause: Clause, among: Mask) -> Mask:
    """Mark the slots, among those marked, that hold a clause."""
    held = among.copy()
    starts, ends = segment.stretches(EncodedTerms.of(clause.terms))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        with_term = np.zeros(len(segment), dtype=np.uint8)
        mark(segment.slots, start, end, with_term)
        held &= with_term
    if clause.any_of and all(one == Clause(one.terms[:1]) for one in clause.any_of):  # what a pattern stands for
        among, held = held, np.zeros(len(segment), dtype=np.uint8)
        starts, ends = segment.stretches(EncodedTerms.of([one.terms[0] for one in clause.any_of]))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            mark(segment.slots, start, end, held)
        held &= among
    elif clause.any_of:
        held = np.logical_or.reduce([_holding(segment, one, held) for one in clause.any_of]).astype(np.uint8)
    wanted = squeeze(clause.verbatim)
    if not wanted:
        return held
    return _with_words_near(segment, wanted, clause.slop, held) if clause.slop else _with_phrase(segment, wanted, held)


def _with_words_near(segment: Segment, wanted: str, slop: int, among: Mask) -> Mask:
    """Mark the slots, among those marked, in whose folded text the words of a folded phrase stand close together."""
    texts, offsets, marks = segment.folded, segment.folded_offsets, np.zeros(len(among), dtype=np.uint8)
    for slot in np.flatnonzero(among).tolist():
        text = texts[offsets[slot] : offsets[slot + 1]].tobytes().decode()
        marks[slot] = stand_near(wanted, text, slop)
    return marks


def _with_phrase(segment: Segment, wanted: str, among: Mask) -> Mask:
    """Mark the slots, among those marked, whose folded text holds a folded phrase, word for word."""
    texts, offsets = segment.folded, segment.folded_offsets
    phrase = np.frombuffer(wanted.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    marks = phrase_marks(texts, offsets, among, phrase)
    for slot in np.flatnonzero(marks > 1).tolist():  # where more than ASCII must be looked at
        text = texts[offsets[slot] : offsets[slot + 1]].tobytes().decode()
        marks[slot] = stands_in(wanted, text)
    return marks


def storable(value: Scalar) -> bool:
    """Return whether the catalog could hold a value: no lone surrogates, no integers beyond 64 bits."""
    if isinstance(value, str):
        return is_unicode(value)
    return not isinstance(value, int) or abs(value) <= MAX_INTEGER


def _passing_or_again(
    connection: CatalogConnection, snapshot: SegmentSnapshot, part: OpenSegment, condition: Filter
) -> Passing:
    """Evaluate a filter; where a segment's fields turn out to be malformed, on ones made again from the catalog."""
    try:
        return _passing(part.segment, condition)
    except MALFORMED:
        logger.warning("Segment %s has malformed fields; they are made again.", part.name)
    rows = part.segment.rows
    again = read_rows(connection, snapshot.state.edition, (int(rows[0]) - 1, int(rows[-1])))
    made = segment_of(connection, again, snapshot.state.dimensions)
    found = np.zeros(len(rows), dtype=np.bool_)
    found[part.segment.slots_of_rows(made.rows[_passing(made, condition)])] = True
    return found


def _passing(segment: Segment, condition: Filter) -> Passing:
    """Evaluate a tree over all the slots of a segment at once."""
    if isinstance(condition, Not):
        return ~_passing(segment, condition.part)
    found = np.full(len(segment), isinstance(condition, And))
    if isinstance(condition, Condition):
        segment.lookup.mark(condition, found)
    else:
        join = np.logical_and if isinstance(condition, And) else np.logical_or
        for part in condition.parts:
            join(found, _passing(segment, part), out=found)
    return found
