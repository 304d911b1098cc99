"""Time the kernels against the memory's own speed, and print JSON: `python benchmarks/kernels.py [PASSAGES …]`.

For each size: postings with document frequencies as Zipf's law gives them, codes of 384 dimensions, bits, and scores.
Every line holds the milliseconds (the best of many, since neighbors on a machine only ever add) of the kernel in use,
of its numpy twin, and of merely reading the same bytes once: the limit that no scan can pass.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold import _kernels_numpy, _kernels_numpy_nearest, kernels
from twofold.text.bm25 import inverse_document_frequencies
from twofold.vectors.quantize import quantize
from twofold.vectors.rabitq import bit_codes, rotation, rounding_of
from twofold.vectors.scan import MARGIN, ROUNDING, Plane, rescored_count

DIMENSIONS = 384
K = 100
K1 = 1.2
QUERIES = {"rare": (900, 2000, 5000, 9000, 20_000), "typical": (8, 60, 300, 1500, 9000), "common": (1, 2, 4, 10, 40)}


class Line(NamedTuple):
    """One kernel at one size."""

    kernel: str
    passages: int
    bytes_read: int
    ms: float
    ms_numpy: float
    ms_reading: float

    def report(self) -> dict[str, object]:
        """Add the bandwidth reached, in GB/s, and its share of what reading alone reaches."""
        return self._asdict() | {
            "gb_per_second": round(self.bytes_read / self.ms / 1e6, 1),
            "share_of_reading": round(self.ms_reading / self.ms, 2),
        }


def best_ms(task: Callable[[], object], seconds: float = 0.5) -> float:
    """Time a task again and again for about so many seconds, after one run to warm up; give the best."""
    task()
    spans: list[float] = []
    while sum(spans) < seconds or len(spans) < 5:
        start = time.perf_counter()
        task()
        spans.append(time.perf_counter() - start)
    return round(min(spans) * 1e3, 4)


def reading_ms(*arrays: NDArray[np.generic]) -> float:
    """Time adding up the arrays' bytes as 64-bit numbers: one pass, as fast as memory gives them."""
    views = [array.reshape(-1).view(np.uint8) for array in arrays]
    words = [view[: len(view) // 8 * 8].view(np.uint64) for view in views]
    return best_ms(lambda: [word.sum() for word in words])


def bm25_lines(passages: int, random: np.random.Generator) -> Sequence[Line]:
    """Time BM25 over five terms whose ranks of frequency are given: df = half the passages / rank."""
    lines = []
    norms = K1 * (0.25 + 0.75 * random.lognormal(0.0, 0.5, passages))
    for name, ranks in QUERIES.items():
        sizes = np.array([max(passages // 2 // rank, 1) for rank in ranks], dtype=np.int64)
        slots = np.concatenate([np.flatnonzero(random.random(passages) < size / passages) for size in sizes])
        slots = slots.astype(np.uint32)
        ends = np.flatnonzero(np.append(slots[1:] <= slots[:-1], np.True_)).astype(np.int64) + 1
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        frequencies = random.geometric(0.6, len(slots)).astype(np.uint16)
        weights = inverse_document_frequencies(passages, ends - starts)
        keys = np.arange(passages, dtype=np.int64)
        question = (((slots, frequencies, starts, ends, norms, None, keys),), weights, K1, K)
        lines.append(
            Line(
                kernel=f"bm25_top, {name} terms, {len(slots)} postings",
                passages=passages,
                bytes_read=slots.nbytes + frequencies.nbytes,
                ms=best_ms(lambda question=question: kernels.bm25_top(*question)),  # type: ignore[misc]
                ms_numpy=best_ms(lambda question=question: _kernels_numpy.bm25_top(*question)),  # type: ignore[misc]
                ms_reading=reading_ms(slots, frequencies),
            )
        )
    return lines


def vector_lines(passages: int, random: np.random.Generator) -> Sequence[Line]:
    """Time the scan over eight bits, the nearest rows by bits first, and the cut at the k best."""
    rows = random.integers(-127, 128, (passages, DIMENSIONS), dtype=np.int8)
    search, twin, bits = nearest_tasks(passages, random)
    scores = random.normal(size=passages).astype(np.float32)
    tasks: Sequence[tuple[str, NDArray[np.generic], Callable[[], object], Callable[[], object]]] = (
        ("dots", rows, lambda: kernels.dots(rows[0], rows), lambda: _kernels_numpy.dots(rows[0], rows)),
        ("nearest_rows", bits, search, twin),
        (
            "top_scores",
            scores,
            lambda: kernels.top_scores(scores, None, K),
            lambda: _kernels_numpy.top_scores(scores, None, K),
        ),
    )
    return [
        Line(name, passages, read.nbytes, best_ms(ours), best_ms(theirs), reading_ms(read))
        for name, read, ours, theirs in tasks
    ]


def nearest_tasks(
    passages: int, random: np.random.Generator
) -> tuple[Callable[[], object], Callable[[], object], NDArray[np.uint64]]:
    """Return what finds the nearest of rows around a hundred directions, in C and in numpy, and their bits."""
    crowds = random.normal(size=(100, DIMENSIONS))
    drawn = crowds[random.integers(0, 100, passages)] + random.normal(size=(passages, DIMENSIONS))
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)
    query = vectors[0].astype(np.float32)
    bits = bit_codes(vectors)
    plane = Plane(vectors, quantize(vectors), bits, None)
    code, step, (compared,) = kernels.coded_query(query, rotation(DIMENSIONS), ((bits.center, bits.turned_center),))
    arguments = (
        query.astype(np.float64),
        code,
        step,
        K,
        rescored_count(K),
        ROUNDING,
        MARGIN,
    )
    parts = (plane.searched(compared),)

    def task(kernel: Callable[..., object]) -> Callable[[], object]:
        return lambda: kernel(*arguments, rounding_of(DIMENSIONS), parts, 1)

    return task(kernels.nearest_rows), task(_kernels_numpy_nearest.nearest_rows), bits.bits


def main() -> None:
    """Print what was measured."""
    random = np.random.default_rng(0)
    sizes = [int(size) for size in sys.argv[1:]] or [100_000, 1_000_000]
    lines = [line for size in sizes for line in (*bm25_lines(size, random), *vector_lines(size, random))]
    print(json.dumps({"kernels": kernels.KERNELS, "lines": [line.report() for line in lines]}, indent=1))


if __name__ == "__main__":
    main()
