"""One bit a dimension, then a second, with numbers that say how far the estimate may be off: RaBitQ.

After Gao and Long, *RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest
Neighbor Search* (SIGMOD 2024). A row is centered, rotated at random and reduced to the signs of its coordinates; the
query keeps four bits a coordinate. The inner product of the two estimates the cosine without bias, and its error is
normal with a deviation that is known for each row. So a scan over a twelfth of the bytes of the eight-bit codes finds
a few hundred or thousand rows that can be among the best, and only those are scored more closely: by a second bit of
each dimension first, which halves the error (Gao et al., *Practical and Asymptotically Optimal Quantization of
High-Dimensional Vectors in Euclidean Space for Approximate Nearest Neighbor Search*, SIGMOD 2025).
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Vector

Words = NDArray[np.uint64]
Singles = NDArray[np.float32]
Halves = NDArray[np.float16]

LANES = 8  # rows whose words stand side by side, as the kernel reads them
WORD = 64
ROW_BATCH_SIZE = 1_024  # so that what is computed of them stays in the cache
SEED = 2024
LINE = 8  # words of a cache line
NUMBERS = 4  # a row's own for both bits, two to a word
LEVEL_STEP = np.float32(0.9957)  # the best distance of four levels for a normal distribution (Max, 1960)
DEVIATIONS = 4.0  # how many deviations an estimate may be off: 1 row in 30,000 is, and few of those matter


@dataclass(frozen=True, slots=True, eq=False)
class BitCodes:
    """Rows as bits: n rows of d dimensions, in blocks of 8.

    `center` (d,) is the rows' mean. `bits` (ceil(n / 8), 8 · ceil(d / 64)) holds word w of row r of a block at
    `8 · w + r`. The estimate of row i is `offsets[i] + scales[i] · inner`; `spreads[i]` times the length of the
    centered query is the deviation of its error. All three are (n,). `turned_center` is the center under `rotation`.

    `fine` (n, `fine_width(d)`) has for each row its second bits, ceil(d / 64) words, and four float32: with both bits
    the estimate is `offset + scale · (inner + inner of the second bits / 2)`, `length` takes the place of `scales` in
    what the query's rounding adds to the error, and then come `spread` and `offset`; the rest is 0.
    """

    center: Singles
    turned_center: Singles
    bits: Words
    scales: Singles
    offsets: Singles
    spreads: Singles
    fine: Words

    def __len__(self) -> int:
        return len(self.scales)


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
    if not count:
        return _no_codes(dimensions)
    turn = rotation(dimensions)
    center = _mean(vectors)
    words = turn.shape[1] // WORD
    bits = np.zeros((-(-count // LANES) * LANES, words), dtype=np.uint64)
    numbers = np.empty((3, count), dtype=np.float32)
    fine = np.zeros((count, fine_width(dimensions)), dtype=np.uint64)
    for part, rows in _parts(vectors):
        apart = rows - center
        placed: Singles = (apart @ turn).astype(np.float32, copy=False)
        bits[part] = np.packbits(placed > 0, axis=1, bitorder="little").view("<u8")
        numbers[:, part] = _numbers(apart, placed, center)
        fine[part] = _fine(apart, placed, numbers[1, part])
    blocks = bits.reshape(-1, LANES, words).transpose(0, 2, 1).reshape(-1, words * LANES)
    scales, offsets, spreads = np.ascontiguousarray(numbers)
    return BitCodes(center, rotated(center), np.ascontiguousarray(blocks), scales, offsets, spreads, fine)


def _no_codes(dimensions: int) -> BitCodes:
    """Return the codes of no rows, for which no rotation is made: that would take most of opening a small index."""
    nothing = np.empty(0, dtype=np.float32)
    center = np.zeros(dimensions, dtype=np.float32)
    turned_center = np.zeros(-(-dimensions // WORD) * WORD, dtype=np.float32)
    bits = np.zeros((0, len(turned_center) // WORD * LANES), np.uint64)
    fine = np.zeros((0, fine_width(dimensions)), np.uint64)
    return BitCodes(center, turned_center, bits, nothing, nothing, nothing, fine)


def rotated(vector: Vector) -> Singles:
    """Return a vector (d,) under `rotation`: (D,) float32."""
    # Not `@`: BLAS would share 10 µs of work out to threads, and wait for them where other work keeps the cores busy.
    made: Singles = np.einsum("i,ij->j", vector.astype(np.float32), rotation(len(vector)))
    return made


def words_of(count: int, dimensions: int) -> tuple[int, int]:
    """Return the shape of the bits of `rows` rows."""
    return -(-count // LANES), -(-dimensions // WORD) * LANES


def fine_width(dimensions: int) -> int:
    """Return how many words a row has in `BitCodes.fine`: whole cache lines, so that a row is in as few as can be."""
    return -(-(-(-dimensions // WORD) + NUMBERS // 2) // LINE) * LINE


def fine_numbers(fine: Words, dimensions: int) -> Singles:
    """Return the scale, length, spread and offset of each row of `BitCodes.fine`: (n, 4)."""
    words = -(-dimensions // WORD)
    return np.ascontiguousarray(fine[:, words : words + NUMBERS // 2]).view(np.float32)


def rounding_of(dimensions: int) -> float:
    """Return how many levels' steps the sum of a query's roundings may be off, each uniform over a step.

    It is independent of the error of a row's code, so the deviation of both is the root of the sum of their squares.
    """
    return DEVIATIONS * math.sqrt(-(-dimensions // WORD) * WORD / 12.0)


def _mean(vectors: Halves) -> Singles:
    total = np.zeros(vectors.shape[1], dtype=np.float64)
    for _, rows in _parts(vectors):
        total += rows.sum(axis=0, dtype=np.float64)
    return (total / max(len(vectors), 1)).astype(np.float32)


def _parts(vectors: Halves) -> Iterator[tuple[slice, Singles]]:
    for first in range(0, len(vectors), ROW_BATCH_SIZE):
        part = slice(first, min(first + ROW_BATCH_SIZE, len(vectors)))
        yield part, vectors[part].astype(np.float32)


def _numbers(apart: Singles, placed: Singles, center: Singles) -> Singles:
    """Return scales, offsets and spreads: (3, m).

    With r the row less the center and x = r rotated (`placed`), of D coordinates: its bits stand for the unit vector
    `±1 / sqrt(D)`, whose product with the unit x is `fit = sum |x| / (|r| sqrt(D))`. The estimate of r · q divides by
    it, `|r| / fit / sqrt(D)` times the signed sum; its deviation is `|r| sqrt(1 - fit²) / fit / sqrt(D - 1)` times |q|.
    """
    width = placed.shape[1]
    lengths = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    safe = np.where(lengths > 0.0, lengths, 1.0)
    fit = np.abs(placed).sum(axis=1) / (safe * np.float32(width**0.5))
    fit = np.where(fit > 0.0, fit, 1.0)
    scales = lengths / fit / np.float32(width**0.5)
    spreads = lengths * np.sqrt(np.maximum(1.0 - fit * fit, 0.0)) / fit / np.float32((width - 1) ** 0.5)
    return np.stack([scales, apart @ center, spreads]).astype(np.float32)


def _fine(apart: Singles, placed: Singles, offsets: Singles) -> Words:
    """Return rows of `BitCodes.fine`: (m, words).

    A coordinate of x is taken for the nearest of four levels, `±1/2` and `±3/2` steps: the second bit is 1 for the
    greater one of each sign's two. The rows of levels y take the place of the signs in `_numbers`: with the fit
    `x · y / (|x| |y|)` the scale is `|r| / (fit |y|)`, the length `|r| / fit / sqrt(D)`, the spread as there.
    """
    width = placed.shape[1]
    root = np.float32(width**0.5)
    lengths = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    sizes = np.abs(placed)
    outer = sizes > (lengths * (LEVEL_STEP / root))[:, None]
    levels = np.sqrt(np.float32(width / 4) + np.float32(2.0) * outer.sum(axis=1, dtype=np.float32))
    product = (sizes * (outer + np.float32(0.5))).sum(axis=1)
    fit = product / (np.where(lengths > 0.0, lengths, 1.0) * levels)
    fit = np.minimum(np.where(fit > 0.0, fit, 1.0), 1.0)
    long = lengths / fit
    spreads = long * np.sqrt(1.0 - fit * fit) / np.float32((width - 1) ** 0.5)
    made = np.zeros((len(placed), fine_width(apart.shape[1])), dtype=np.uint64)
    words = width // WORD
    made[:, :words] = np.packbits((placed > 0) == outer, axis=1, bitorder="little").view("<u8")
    made[:, words : words + NUMBERS // 2] = (
        np.stack([long / levels, long / root, spreads, offsets], axis=1).astype(np.float32).view("<u8")
    )
    return made
