"""Whether a segment's arrays fit each other, so that nothing that is looked up leads out of one of them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from twofold.stores.local.field_index import groups_of
from twofold.stores.local.term_dictionary import is_sound_dictionary
from twofold.vectors.rabitq import fine_numbers, fine_width, words_of

if TYPE_CHECKING:
    from twofold.stores.local.segment import Segment


def is_sound(segment: "Segment", covers: tuple[int, int], dimensions: int) -> bool:
    """Return whether a segment's arrays fit each other, so that nothing that is looked up leads out of one of them.

    Raises ValueError, TypeError or LookupError for arrays that cannot even be compared.
    """
    count = len(segment)
    flat = ("rows", "keys", "rising_keys", "key_order", "documents", "lengths", "scales")
    widths = {"vectors": dimensions, "codes": dimensions}
    if any(getattr(segment, name).shape != (count,) for name in flat):
        return False
    if any(getattr(segment, name).shape != (count, width) for name, width in widths.items()):
        return False
    if not _has_bits_of(segment, count, dimensions):
        return False
    rising = _rises(segment.rows, *covers) and _rises(segment.rising_keys, 0, 2**63 - 1) and _rises(segment.terms)
    if not rising or not np.array_equal(segment.keys[segment.key_order], segment.rising_keys):
        return False
    held = _leads_inside(segment.offsets, len(segment.terms), segment.slots, count)
    held = held and _leads_inside(segment.forward_offsets, count, segment.forward_places, len(segment.terms))
    held = held and is_sound_dictionary(segment.dictionary, len(segment.terms))
    held = held and _cuts(segment.folded_offsets, count, segment.folded)
    values = sum(group.beyond - group.first for _, _, group in groups_of(segment.columns))
    held = held and _leads_inside(segment.field_offsets, values, segment.field_slots, count)
    return held and _counts_fit(segment) and bool(np.isfinite(segment.scales).all())


def _counts_fit(segment: "Segment") -> bool:
    """Return whether postings and forward index have as many counts as entries, none of them 0, and are as long."""
    postings = len(segment.slots)
    if any(len(one) != postings for one in (segment.forward_places, segment.forward_frequencies, segment.frequencies)):
        return False
    return not postings or min(int(segment.frequencies.min()), int(segment.forward_frequencies.min())) > 0


def _has_bits_of(segment: "Segment", count: int, dimensions: int) -> bool:
    """Return whether the codes of one bit and of two are of every passage, or of none."""
    coded = len(segment.bit_scales)
    numbers = (segment.bit_scales, segment.bit_offsets, segment.bit_spreads)
    if coded not in {0, count} or any(one.shape != (coded,) or not np.isfinite(one).all() for one in numbers):
        return False
    if segment.bit_center.shape != (dimensions,) or segment.bits.shape != words_of(coded, dimensions):
        return False
    fitting = segment.fine_bits.shape == (coded, fine_width(dimensions))
    return fitting and bool(np.isfinite(fine_numbers(segment.fine_bits, dimensions)).all())


def _rises(values: NDArray[Any], least: int = 0, most: int = 2**63 - 1) -> bool:
    """Return whether numbers rise strictly between two bounds, both included."""
    if values.ndim != 1 or not len(values):
        return values.ndim == 1
    return least <= int(values[0]) and int(values[-1]) <= most and bool((values[1:] > values[:-1]).all())


def _leads_inside(offsets: NDArray[np.int64], lists: int, slots: NDArray[np.uint32], count: int) -> bool:
    """Return whether offsets cut an array of slots into that many lists, and every slot is one of `count`."""
    return _cuts(offsets, lists, slots) and (not len(slots) or int(slots.max()) < count)


def _cuts(offsets: NDArray[np.int64], lists: int, cut: NDArray[Any]) -> bool:
    """Return whether offsets cut an array into that many lists."""
    if offsets.shape != (lists + 1,) or offsets[0] != 0 or offsets[-1] != len(cut) or cut.ndim != 1:
        return False
    return bool((offsets[1:] >= offsets[:-1]).all())
