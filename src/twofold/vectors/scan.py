"""The nearest rows: codes rule out nearly all of them, and what is left is scored truly.

What is returned depends on rows and query alone, but for an error beyond `DEVIATIONS`, not on how rows are spread.
"""

import os
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.domain.types import Scores, Vector
from twofold.kernels import SearchedRows, coded_query, nearest_rows
from twofold.vectors.quantize import Codes, Halves
from twofold.vectors.rabitq import DEVIATIONS, BitCodes, rotation, rounding_of

Mask = NDArray[np.uint8]
Slots = NDArray[np.uint32]
Singles = NDArray[np.float32]

BITS_ABOVE = 20_000  # bits first, then codes, are faster than codes alone from about here
STEP = 12.0**-0.5  # the deviation of a rounding, in steps
ROUNDING = DEVIATIONS * STEP  # of a row's code and of the query's, in the root of the sum of their squared steps
MARGIN = 1e-4  # of a score, for sums in single precision; the least deviation of an estimate is a hundred times that
PARALLEL_FROM = 300_000  # rows that are scanned in two threads: below, one leaves the other processor to other queries


@cache
def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def has_idle_processor() -> bool:
    """Return whether a second thread would find a processor; where none is free, waiting for it takes longer."""
    return processors() > 1 and hasattr(os, "getloadavg") and os.getloadavg()[0] < processors()


class Near(NamedTuple):
    """Rows in no order, and their cosines: `slots` (m,) uint32, `scores` (m,) float64."""

    slots: Slots
    scores: Scores


class Plane(NamedTuple):
    """What is searched of one segment: its rows, in eight bits and in one, and which may be found (None: all).

    A segment of few rows has no bits.
    """

    vectors: Halves
    codes: Codes
    bits: BitCodes | None
    allowed: Mask | None

    def open_rows(self) -> int:
        """Count the rows that may be found."""
        return len(self.codes) if self.allowed is None else int(np.count_nonzero(self.allowed))

    def searched(self, compared: tuple[Singles, float, float] | None) -> SearchedRows:
        """Return the plane as the kernel takes it, with what its bits are compared with; None where they are not."""
        plain = (self.vectors, self.codes.values, self.codes.scales, self.allowed)
        held = self.bits
        if held is None or compared is None:
            return SearchedRows(*plain)
        apart, base, length = compared
        numbers = (held.scales, held.offsets, held.spreads)
        return SearchedRows(*plain, held.bits, *numbers, held.fine, apart, base, DEVIATIONS * length)


def nearest(query: Vector, planes: Sequence[Plane], k: int, *, alone: bool = False) -> Sequence[Near]:
    """Return for each segment the rows that are among the k nearest of all segments together, with their cosines.

    All rows as near as the k-th are among them. The rows with the best estimates are scored truly: the k-th best of
    these scores is one that the k nearest reach. Rows that cannot reach it are ruled out, by one bit a dimension and
    then by two where there are more than `BITS_ABOVE` rows that may be found, then by eight. With `alone`, when no
    other search is under way, a second thread helps where rows are many. Raises ValueError for k < 1.
    """
    by_bits = sum(plane.open_rows() for plane in planes) > BITS_ABOVE
    bits = [plane.bits for plane in planes if by_bits and plane.bits is not None]
    code, step, made = coded_query(
        np.ascontiguousarray(query, dtype=np.float32),
        rotation(len(query)) if bits else None,
        tuple((one.center, one.turned_center) for one in bits),
    )
    compared = iter(made)
    many = sum(len(plane.codes) for plane in planes) >= PARALLEL_FROM
    found = nearest_rows(
        query.astype(np.float64),
        code,
        step,
        k,
        rescored_count(k),
        ROUNDING,
        MARGIN,
        rounding_of(len(query)),
        tuple(plane.searched(None if plane.bits is None else next(compared, None)) for plane in planes),
        2 if alone and many and has_idle_processor() else 1,
    )
    return [Near(*one) for one in found]


def rescored_count(k: int) -> int:
    """Return how many of the best estimates are scored truly to know what the k nearest reach."""
    return 2 * k + 20


def exact_scores(query: Vector, vectors: Halves) -> Scores:
    """Return the cosine of each unit row with the query: float64 (m,), from float32 (d,) and float16 (m, d).

    Both are widened to float64, where each product is exact, filled up with zeros to a power of two of products, and
    the upper half added to the lower until one is left. The order is spelled out so that a row's score depends on that
    row alone, bit for bit, and neither on its neighbors nor on the processor.
    Worked number: query (0.6, 0.8) and row (1, 0) give 0.6000000238418579, the float32 nearest to 0.6.
    Raises ValueError when the widths differ.
    """
    if vectors.ndim != 2 or query.shape != vectors.shape[1:]:  # noqa: PLR2004
        raise ValueError(f"a query of shape {query.shape} does not fit vectors of shape {vectors.shape}")
    width = 1 << max(len(query) - 1, 0).bit_length()
    sums = np.zeros((len(vectors), width), dtype=np.float64)
    np.multiply(vectors, query.astype(np.float64), out=sums[:, : len(query)])
    while width > 1:
        width //= 2
        sums[:, :width] += sums[:, width : 2 * width]
    return sums[:, 0].copy()
