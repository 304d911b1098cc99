"""One bit a dimension, with a number that says how far the estimate may be off: RaBitQ.

After Gao and Long, *RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest
Neighbor Search* (SIGMOD 2024). A row is centered, rotated at random and reduced to the signs of its coordinates; the
query keeps four bits a coordinate. The inner product of the two estimates the cosine without bias, and its error is
normal with a deviation that is known for each row. So a scan over a twelfth of the bytes of the eight-bit codes finds
a few hundred or thousand rows that can be among the best, and only those are scored more closely.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Vector
from twofold.kernels import bit_scores, reaching

Words = NDArray[np.uint64]
Singles = NDArray[np.float32]
Halves = NDArray[np.float16]

LANES = 8  # rows whose words stand side by side, as the kernel reads them
WORD = 64
LEVELS = 15  # of a coordinate of the query, in four bits
ROW_BATCH_SIZE = 16_384
SEED = 2024
MIN_STEP = 1e-30  # of a query that is the center itself
DEVIATIONS = 4.0  # how many deviations an estimate may be off: 1 row in 30,000 is, and few of those matter


@dataclass(frozen=True, slots=True, eq=False)
class BitCodes:
    """Rows as bits: n rows of d dimensions, in blocks of 8.

    `center` (d,) is the rows' mean. `bits` (ceil(n / 8), 8 · ceil(d / 64)) holds word w of row r of a block at
    `8 · w + r`. The estimate of row i is `offsets[i] + scales[i] · inner`; `spreads[i]` times the length of the
    centered query is the deviation of its error. All three are (n,).
    """

    center: Singles
    bits: Words
    scales: Singles
    offsets: Singles
    spreads: Singles

    def __len__(self) -> int:
        return len(self.scales)

    def rows(self, bound: slice) -> "BitCodes":
        """Return some of the rows, which must begin with a block."""
        blocks = slice(bound.start // LANES, -(-bound.stop // LANES))
        numbers = (self.scales[bound], self.offsets[bound], self.spreads[bound])
        return BitCodes(self.center, self.bits[blocks], *numbers)


class Estimates(NamedTuple):
    """Estimated cosines of rows, (n,) float32, and what makes out by how much each may be too low: its slack.

    The slack of a row is `spread · by_spread + scale · by_scale`.
    """

    codes: BitCodes
    scores: Singles
    by_spread: float
    by_scale: float

    def reaching(self, least: float, allowed: NDArray[np.uint8] | None) -> NDArray[np.uint32]:
        """Return the allowed slots, rising, whose true cosine may be at least that."""
        held = self.codes
        return reaching(self.scores, held.spreads, held.scales, allowed, self.by_spread, self.by_scale, least)


@cache
def rotation(dimensions: int) -> Singles:
    """Return the random rotation that every code of a width uses: (d, D) float32, D = d rounded up to 64.

    The same on every machine but for rounding, which moves an estimate by far less than its own error.
    """
    width = -(-dimensions // WORD) * WORD
    drawn = np.random.default_rng(SEED).standard_normal((width, width))
    rotated, triangle = np.linalg.qr(drawn)
    return np.ascontiguousarray((rotated * np.sign(np.diag(triangle)))[:dimensions], dtype=np.float32)


def bit_codes(vectors: Halves) -> BitCodes:
    """Return the codes of rows (n, d), of any length; a row equal to the center is estimated exactly."""
    count, dimensions = vectors.shape
    turn = rotation(dimensions)
    center = _mean(vectors)
    words = turn.shape[1] // WORD
    bits = np.zeros((-(-count // LANES) * LANES, words), dtype=np.uint64)
    numbers = np.empty((3, count), dtype=np.float32)
    for part, rows in _parts(vectors):
        apart = rows - center
        turned: Singles = (apart @ turn).astype(np.float32, copy=False)
        bits[part] = np.packbits(turned > 0, axis=1, bitorder="little").view("<u8")
        numbers[:, part] = _numbers(apart, turned, center)
    blocks = bits.reshape(-1, LANES, words).transpose(0, 2, 1).reshape(-1, words * LANES)
    return BitCodes(center, np.ascontiguousarray(blocks), *np.ascontiguousarray(numbers))


def words_of(count: int, dimensions: int) -> tuple[int, int]:
    """Return the shape of the bits of `rows` rows."""
    return -(-count // LANES), -(-dimensions // WORD) * LANES


def estimate(query: Vector, codes: BitCodes) -> Estimates:
    """Return the estimated cosines of a query (d,) with all rows, and how much each may be too low.

    The slack is `DEVIATIONS` deviations of the row's error, that of rounding the query included.
    """
    apart = query.astype(np.float32) - codes.center
    # Not `@`: BLAS would share 10 µs of work out to threads, and wait for them where other work keeps the cores busy.
    turned = np.einsum("i,ij->j", apart, rotation(len(query)))
    low = float(turned.min())
    step = max((float(turned.max()) - low) / LEVELS, MIN_STEP)
    levels = np.rint((turned - low) / step).astype(np.uint8)
    width = len(levels)
    planes = np.concatenate(
        [np.packbits(levels >> plane & 1, bitorder="little").view("<u8") for plane in range(LEVELS.bit_length())]
    )
    base = float(codes.center.astype(np.float64) @ query)
    less = low * width + step * int(levels.sum(dtype=np.int64))
    scores = bit_scores(planes, codes.bits, codes.scales, codes.offsets, base, 2.0 * step, 2.0 * low, less)
    rounding = step * (width / 12.0) ** 0.5  # the deviation of a sum of roundings, each uniform over a step
    return Estimates(codes, scores, DEVIATIONS * float(np.linalg.norm(apart)), DEVIATIONS * rounding)


def _mean(vectors: Halves) -> Singles:
    total = np.zeros(vectors.shape[1], dtype=np.float64)
    for _, rows in _parts(vectors):
        total += rows.sum(axis=0, dtype=np.float64)
    return (total / max(len(vectors), 1)).astype(np.float32)


def _parts(vectors: Halves) -> Iterator[tuple[slice, Singles]]:
    for first in range(0, len(vectors), ROW_BATCH_SIZE):
        part = slice(first, min(first + ROW_BATCH_SIZE, len(vectors)))
        yield part, vectors[part].astype(np.float32)


def _numbers(apart: Singles, turned: Singles, center: Singles) -> Singles:
    """Return scales, offsets and spreads: (3, m).

    With r the row less the center and x = r turned, of D coordinates: its bits stand for the unit vector
    `±1 / sqrt(D)`, whose product with the unit x is `fit = sum |x| / (|r| sqrt(D))`. The estimate of r · q divides by
    it, `|r| / fit / sqrt(D)` times the signed sum; its deviation is `|r| sqrt(1 - fit²) / fit / sqrt(D - 1)` times |q|.
    """
    width = turned.shape[1]
    lengths = np.linalg.norm(apart, axis=1)
    safe = np.where(lengths > 0.0, lengths, 1.0)
    fit = np.abs(turned).sum(axis=1) / (safe * np.float32(width**0.5))
    fit = np.where(fit > 0.0, fit, 1.0)
    scales = lengths / fit / np.float32(width**0.5)
    spreads = lengths * np.sqrt(np.maximum(1.0 - fit * fit, 0.0)) / fit / np.float32((width - 1) ** 0.5)
    return np.stack([scales, apart @ center, spreads]).astype(np.float32)
