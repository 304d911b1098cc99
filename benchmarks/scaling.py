"""What an index of up to a billion passages would need, simulated from what was measured with up to a million.

`python benchmarks/scaling.py` prints the tables of docs/scaling.md. What one searcher takes is drawn from the
distributions that `growth.py` measured here, and what files cost is from `reading.py` (benchmarks/results). Nothing
here is a measurement of many machines: a query waits for the slowest searcher, and a hedged query asks a second copy
of those that have not answered by their 95th percentile.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

QUERIES = 20_000
AT_ONCE = 500  # queries drawn at once: memory stays small with a thousand searchers
SEED = 11
MILLION = 1_000_000
MEGABYTE = 1024 * 1024

RESULTS = Path(__file__).parent / "results"
GROWTH = json.loads((RESULTS / "growth.json").read_text(encoding="utf-8"))["sizes"]
READING = json.loads((RESULTS / "reading.json").read_text(encoding="utf-8"))["kinds"]
MEASURED = {int(size): np.array(figures["processor_ms"]) for size, figures in GROWTH.items()}
"""By passages: percentiles 0 to 100 of a hybrid query in milliseconds, without embedding it."""
LARGEST = GROWTH[str(MILLION)]
DISK_BYTES, MEMORY_BYTES = (LARGEST[name] * MEGABYTE / MILLION for name in ("disk_MB", "resident_MB"))  # a passage
INDEXED_A_SECOND = LARGEST["passages_a_second_of_processor_time"]
EMBEDDING_MS = 6.3  # docs/evaluation-speed.md
EMBEDDED_A_SECOND, EMBEDDING_CORES = 205, 2
NETWORK_MS = np.interp(np.arange(101), [0, 50, 95, 99, 100], [0.27, 0.3, 0.6, 1.5, 3.0])  # a round trip; assumed
ROUNDS = 10  # round trips of a hybrid query with feedback, one after the other; nine carry little work

CORE_HOUR, GIGABYTE_MONTH, THOUSAND_PUTS = 0.04, 0.023, 0.005  # US dollars; list prices of the kind, 2026
BLOCK_BYTES = 128 * 1024

Times = NDArray[np.float64]


def searcher(passages: float) -> Times:
    """Return the percentiles of one searcher: between what was measured, and above it in proportion to its median."""
    sizes, rows = list(MEASURED), np.array(list(MEASURED.values()))
    if passages <= sizes[-1]:
        return np.array([np.interp(passages, sizes, column) for column in rows.T])
    medians = rows[-2:, 50]
    more = (passages - sizes[-1]) / (sizes[-1] - sizes[-2]) * (medians[1] - medians[0])
    return rows[-1] * (1 + more / medians[1])


def drawing(times: Times, random: np.random.Generator) -> Callable[[tuple[int, ...]], Times]:
    """Return what draws from a distribution by its percentiles, straight lines in between."""
    places = np.linspace(0.0, 1.0, len(times))
    return lambda shape: np.interp(random.random(shape), places, times)


def simulate(passages: int, searchers: int, *, hedged: bool) -> tuple[float, float, float]:
    """Return p50 and p99 of a query in milliseconds, and the share of calls that were made twice."""
    random = np.random.default_rng(SEED)
    work, way = searcher(passages / searchers), NETWORK_MS * (searchers > 1)  # on one machine nothing travels
    draw, travel = drawing(work, random), drawing(way, random)
    limit = work[95] + way[95]
    seen, twice = [], 0
    for _ in range(QUERIES // AT_ONCE):
        shape = (AT_ONCE, searchers)
        taken = draw(shape) + travel(shape)
        if hedged:
            late = taken > limit
            twice += int(late.sum())
            taken = np.where(late, np.minimum(taken, limit + draw(shape) + travel(shape)), taken)
        others = sum(travel(shape).max(axis=1) for _ in range(ROUNDS - 1))
        seen.append(EMBEDDING_MS + others + taken.max(axis=1))
    all_of_them = np.concatenate(seen)
    p50, p99 = np.percentile(all_of_them, [50, 99])
    return float(p50), float(p99), twice / (QUERIES * searchers)


def measured() -> None:
    """Print what was measured."""
    print("| passages | segments | disk (GB) | memory (GB) | p50 (ms) | p95 | p99 | passages a second |")
    print("|---|---|---|---|---|---|---|---|")
    for size, figures in GROWTH.items():
        times = [f"{figures['processor_ms'][at]:.2f}" for at in (50, 95, 99)]
        sizes = [f"{figures[name] * MEGABYTE / 1e9:.2f}" for name in ("disk_MB", "resident_MB")]
        cells = [f"{int(size):,}", str(figures["segments"]), *sizes, *times]
        print("| " + " | ".join([*cells, f"{figures['passages_a_second_of_processor_time']:,}"]) + " |")
    print()


def growth() -> None:
    """Print what grows."""
    print("| passages | searchers | disk (GB) | memory (GB) | p50 (ms) | p99 (ms) | p99 hedged | CPU a query (s) |")
    print("|---|---|---|---|---|---|---|---|")
    for exponent in range(4, 10):
        passages = 10**exponent
        searchers = max(1, passages // MILLION)
        p50, p99, _ = simulate(passages, searchers, hedged=False)
        _, hedged, _ = simulate(passages, searchers, hedged=True)
        kept = GROWTH.get(str(passages))
        disk = kept["disk_MB"] * MEGABYTE / 1e9 if kept else passages * DISK_BYTES / 1e9
        memory = kept["resident_MB"] * MEGABYTE / 1e9 if kept else passages * MEMORY_BYTES / 1e9
        work = (EMBEDDING_MS + searchers * float(searcher(passages / searchers)[50])) / 1000
        cells = [f"{passages:,}", f"{searchers:,}", f"{disk:,.2f}", f"{memory:,.2f}"]
        print("| " + " | ".join([*cells, f"{p50:.1f}", f"{p99:.1f}", f"{hedged:.1f}", f"{work:.3f}"]) + " |")


def sizes() -> None:
    """Print what the size of a searcher changes."""
    print("\n| passages a searcher, of 100 million | searchers | p50 (ms) | p99 | p99 hedged | asked twice |")
    print("|---|---|---|---|---|---|")
    for each in (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000):
        searchers = 100 * MILLION // each
        p50, p99, _ = simulate(100 * MILLION, searchers, hedged=False)
        _, hedged, twice = simulate(100 * MILLION, searchers, hedged=True)
        print(f"| {each:,} | {searchers} | {p50:.1f} | {p99:.1f} | {hedged:.1f} | {twice:.1%} |")


def costs() -> None:
    """Print what a million costs."""
    reading = {
        kind: MILLION * (READING[kind]["reading_s"] + READING[kind]["cutting_s"]) / READING[kind]["passages"] / 3600
        for kind in ("html", "pdf")
    }
    embedding = MILLION / EMBEDDED_A_SECOND * EMBEDDING_CORES / 3600
    indexing = MILLION / INDEXED_A_SECOND / 3600
    storing = MILLION * DISK_BYTES / 1e9
    asking = MILLION * (EMBEDDING_MS + MEASURED[MILLION][50]) / 1000 / 3600
    puts = MILLION * DISK_BYTES / BLOCK_BYTES
    print("\n| a million | needs | costs (US$) |")
    print("|---|---|---|")
    print(f"| passages read from HTML | {reading['html']:.2f} core hours | {reading['html'] * CORE_HOUR:.3f} |")
    print(
        f"| passages read from short PDF files | {reading['pdf']:.1f} core hours | {reading['pdf'] * CORE_HOUR:.3f} |"
    )
    print(f"| passages embedded | {embedding:.2f} core hours | {embedding * CORE_HOUR:.3f} |")
    print(f"| passages analyzed and stored | {indexing:.2f} core hours | {indexing * CORE_HOUR:.3f} |")
    print(f"| passages kept in a bucket, a month | {storing:.1f} GB | {storing * GIGABYTE_MONTH:.3f} |")
    print(f"| passages written to a bucket once | {puts:,.0f} requests at most | {puts / 1000 * THOUSAND_PUTS:.3f} |")
    print(f"| hybrid queries of a million passages | {asking:.2f} core hours | {asking * CORE_HOUR:.3f} |")


if __name__ == "__main__":
    measured()
    growth()
    sizes()
    costs()
