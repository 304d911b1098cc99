"""What an index of up to a billion passages would need, simulated from what was measured with a million.

`python benchmarks/scaling.py` prints the tables of docs/scaling.md. Nothing here is a measurement of many machines: a
searcher's time is drawn from the distribution that one searcher has here, a query waits for the slowest of them, and a
hedged query asks a second copy of those that have not answered by their 95th percentile.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

QUERIES = 20_000
AT_ONCE = 500  # queries drawn at once: memory stays small with a thousand searchers
SEED = 11
MILLION = 1_000_000

# Milliseconds of a hybrid query by passages, without embedding it: p50, p95, p99, measured (docs/evaluation-speed.md);
# the p95 of 100,000 was not noted and lies on the straight line between the other two.
MEASURED = {100_000: (5.79, 13.1, 13.8), 1_000_000: (14.0, 14.9, 23.7)}
EMBEDDING_MS = 6.3
NETWORK_MS = (0.3, 0.6, 1.5)  # one round trip within a data center; assumed
ROUNDS = 2  # the statistics are summed, then both retrievers are asked
DISK_BYTES, MEMORY_BYTES = 7_300, 2_000  # a passage, measured with a million
EMBEDDED_A_SECOND, EMBEDDING_CORES = 205, 2
INDEXED_A_SECOND = 4_373

CORE_HOUR, GIGABYTE_MONTH, THOUSAND_PUTS = 0.04, 0.023, 0.005  # US dollars; list prices of the kind, 2026
BLOCK_BYTES = 128 * 1024


@dataclass(frozen=True)
class Times:
    """A distribution by its quantiles, straight lines in between; nothing is twice as slow as the 99th percentile."""

    p50: float
    p95: float
    p99: float

    def draw(self, random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw times."""
        places = [0.0, 0.5, 0.95, 0.99, 1.0]
        values = [0.9 * self.p50, self.p50, self.p95, self.p99, 2 * self.p99]
        return np.interp(random.random(shape), places, values)


def searcher(passages: float) -> Times:
    """Return how long one searcher takes: between what was measured, and above it in proportion to its median."""
    (small, below), (large, above) = MEASURED.items()
    share = max(0.0, (passages - small) / (large - small))
    if share > 1:
        grown = (below[0] + share * (above[0] - below[0])) / above[0]
        return Times(*(grown * one for one in above))
    return Times(*(one + share * (other - one) for one, other in zip(below, above, strict=True)))


def simulate(passages: int, searchers: int, *, hedged: bool) -> tuple[float, float, float]:
    """Return p50 and p99 of a query in milliseconds, and the share of calls that were made twice."""
    random = np.random.default_rng(SEED)
    times, network = searcher(passages / searchers), Times(*NETWORK_MS)
    limit = times.p95 + NETWORK_MS[1]
    seen, twice = [], 0
    for _ in range(QUERIES // AT_ONCE):
        shape = (AT_ONCE, searchers)
        taken = times.draw(random, shape) + network.draw(random, shape)
        if hedged:
            late = taken > limit
            twice += int(late.sum())
            again = limit + times.draw(random, shape) + network.draw(random, shape)
            taken = np.where(late, np.minimum(taken, again), taken)
        statistics = network.draw(random, shape).max(axis=1) * (ROUNDS - 1)
        seen.append(EMBEDDING_MS + statistics + taken.max(axis=1))
    all_of_them = np.concatenate(seen)
    p50, p99 = np.percentile(all_of_them, [50, 99])
    return float(p50), float(p99), twice / (QUERIES * searchers)


def growth() -> None:
    """Print what grows."""
    print("| passages | searchers | disk (GB) | memory (GB) | p50 (ms) | p99 (ms) | p99 hedged | CPU a query (s) |")
    print("|---|---|---|---|---|---|---|---|")
    for exponent in range(4, 10):
        passages = 10**exponent
        searchers = max(1, passages // MILLION)
        p50, p99, _ = simulate(passages, searchers, hedged=False)
        _, hedged, _ = simulate(passages, searchers, hedged=True)
        disk, memory = passages * DISK_BYTES / 1e9, passages * MEMORY_BYTES / 1e9
        work = (EMBEDDING_MS + searchers * searcher(passages / searchers).p50) / 1000
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
    embedding = MILLION / EMBEDDED_A_SECOND * EMBEDDING_CORES / 3600
    indexing = MILLION / INDEXED_A_SECOND / 3600
    storing = MILLION * DISK_BYTES / 1e9
    asking = MILLION * (EMBEDDING_MS + MEASURED[MILLION][0]) / 1000 / 3600
    puts = MILLION * DISK_BYTES / BLOCK_BYTES
    print("\n| a million | needs | costs (US$) |")
    print("|---|---|---|")
    print(f"| passages embedded | {embedding:.2f} core hours | {embedding * CORE_HOUR:.3f} |")
    print(f"| passages analyzed and stored | {indexing:.2f} core hours | {indexing * CORE_HOUR:.3f} |")
    print(f"| passages kept in a bucket, a month | {storing:.1f} GB | {storing * GIGABYTE_MONTH:.3f} |")
    print(f"| passages written to a bucket once | {puts:,.0f} requests at most | {puts / 1000 * THOUSAND_PUTS:.3f} |")
    print(f"| hybrid queries of a million passages | {asking:.2f} core hours | {asking * CORE_HOUR:.3f} |")


if __name__ == "__main__":
    growth()
    sizes()
    costs()
