"""How an index grows from ten thousand to a million passages: what `scaling.py` extrapolates from.

    python benchmarks/growth.py --keep DIR --out benchmarks/results/growth.json

One index is filled to each size in turn, as it would be in use: a hundred documents at a time, closed, not compacted.
Each size is filled in one fresh process and asked in another: every question three times, the whole hybrid search but
for embedding the question, each call's processor time and its time by the clock. Both are kept as percentiles 0 to 100,
the processor's for machines that do other work meanwhile. `--keep` is where the index stays, 9 GB of it with a million.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from given import PrecomputedVectors
from material import entries_of, gather, restore, save
from remembered import MEMORY
from reporting import machine
from speed import Bench, elsewhere, resident
from timing import WARM_UP

from twofold.domain.ports import IndexFingerprint
from twofold.indexing.components import IndexingComponents
from twofold.kernels import KERNELS
from twofold.search.plan import SearchPlan
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for

SIZES = (10_000, 100_000, 1_000_000)
ROUNDS = 3
MEGABYTE = 1024 * 1024

Figures = Mapping[str, object]


def main() -> None:
    """Fill and ask, size by size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="keep the index and its material in this folder")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep real vectors in this folder")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="sizes, rising, with commas between them")
    parser.add_argument("--out", type=Path, required=True, help="write to this file")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    index, material = options.keep / "index", options.keep / "material.npz"
    if not material.exists():
        save(gather(options.memory), material)
    sizes: dict[str, Figures] = {}
    for before, count in pairwise((0, *map(int, options.sizes.split(",")))):
        filled = elsewhere(fill, index, material, before, count)
        disk = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
        sizes[str(count)] = {**filled, "disk_MB": round(disk / MEGABYTE, 1), **elsewhere(ask, index, material)}
        print(count, json.dumps({**sizes[str(count)], "processor_ms": 0, "wall_ms": 0}), file=sys.stderr, flush=True)
        about = {"machine": {**machine(), "kernels": KERNELS}, "sizes": sizes}
        options.out.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def fill(index: Path, material: Path, before: int, count: int) -> Figures:
    """Fill an index up to so many passages."""
    source, analyzer = restore(material), analyzer_for("english")
    store = LocalStore(index)
    store.ensure_fingerprint(IndexFingerprint(PrecomputedVectors.identity, analyzer.describe(), "stitched"))
    busy = 0.0
    for batch in source.batches(count, before):
        began = time.process_time()
        store.upsert(entries_of(batch, analyzer))
        busy += time.process_time() - began
    began = time.process_time()
    store.close()
    busy += time.process_time() - began
    return {
        "passages_a_second_of_processor_time": round((count - before) / busy),
        "peak_MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def ask(index: Path, material: Path) -> Figures:
    """Open an index and ask all questions; megabytes are beyond what was there before it was opened."""
    asked, analyzer = restore(material).asked, analyzer_for("english")
    before = resident()
    store = LocalStore(index, create=False)
    parts = IndexingComponents(store, PrecomputedVectors(asked), analyzer, lambda _: (), "stitched")
    call = Bench(store, asked, parts).searching(SearchPlan())
    for at in range(WARM_UP):
        call(at)
    times = np.empty((ROUNDS, len(asked.texts), 2))
    for turn in range(ROUNDS):
        for at in range(len(asked.texts)):
            busy, began = time.process_time(), time.perf_counter()
            call(at)
            times[turn, at] = time.process_time() - busy, time.perf_counter() - began
    processor, wall = (percentiles(times[:, :, which]) for which in (0, 1))
    figures = {"segments": store.info().segments, "resident_MB": round(resident() - before, 1)}
    store.close()
    return {**figures, "processor_ms": processor, "wall_ms": wall}


def percentiles(seconds: np.ndarray) -> list[float]:
    """Return the percentiles 0 to 100 in milliseconds."""
    return [round(float(one) * 1e3, 3) for one in np.percentile(seconds, np.arange(101))]


if __name__ == "__main__":
    main()
