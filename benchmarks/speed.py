"""How fast a question is answered, a document added, an index opened; how much memory and disk it takes.

    python benchmarks/speed.py --memory DIR                          10,000 and 100,000 passages
    python benchmarks/speed.py --memory DIR --chunks 1000000         a million (an hour, 6 GB of disk)
    python benchmarks/speed.py --memory DIR --peers                  and six others instead, all alike, in one run
    python benchmarks/speed.py --peers --keep DIR                    the same; indexes built there before are only asked
    python benchmarks/speed.py --memory DIR --index INDEX            profiles alone, on an index of the default recipe

`--memory` is a folder where real vectors are kept between runs, by default below the system's temporary one;
`material.py` says what is measured on. Milliseconds: `p50` and `p99` over all calls, `calm_*` over the fastest of five
rounds of each question, `processor_p50` in processor time. `hybrid` is the whole search as the pipeline does it (parse,
both retrievers, completed scores, fusion, texts, trace) except the embedding of the question. The figures go into
benchmarks/results/<commit>.json.
"""

import argparse
import json
import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import psutil
from given import PrecomputedVectors
from material import Asked, Material, entries_of, gather, restore, save
from peers.engine import BUILT, exact_ranking, measured
from profiled import profiled
from remembered import MEMORY
from reporting import bytes_a_second, keep, machine
from timing import latencies

from twofold.domain.filters import MATCH_ALL, Condition, Filter, Operator
from twofold.domain.ports import IndexFingerprint, Scope
from twofold.domain.types import Chunk, Document, Entry, IndexedChunk, TermQuery, document_id
from twofold.indexing.components import IndexingComponents
from twofold.kernels import KERNELS
from twofold.search.pipeline import search
from twofold.search.plan import SearchPlan
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for

ADDED = 100
MEGABYTE = 1024 * 1024
FILTERS: Mapping[str, Filter] = {
    "1 %": Condition("shelf", Operator.EQ, 7),
    "50 %": Condition("half", Operator.EQ, value=True),
}

ENGINES: Mapping[str, tuple[str, str]] = {
    "twofold": ("twofold_itself", "Twofold"),
    "tantivy": ("tantivy_words", "Tantivy"),
    "bm25s": ("bm25s_words", "Bm25s"),
    "LanceDB": ("lancedb_both", "LanceDb"),
    "qdrant-edge": ("qdrant_edge_both", "QdrantEdge"),
    "zvec flat": ("zvec_both", "flat"),
    "zvec HNSW": ("zvec_both", "hnsw"),
}
"""What `--peers` measures: the module below `peers`, and what opens the engine there."""

Figures = Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """A store that is filled, and what to ask it."""

    store: LocalStore
    asked: Asked
    parts: IndexingComponents

    def searching(self, plan: SearchPlan) -> Callable[[int], object]:
        """Give a function that does the whole search of question i."""

        def ask(at: int) -> object:
            return search(self.parts, self.asked.texts[at], plan)

        return ask


def main() -> None:
    """Measure every size, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", default="10000,100000", help="sizes, with commas between them")
    parser.add_argument("--peers", action="store_true", help="measure twofold and six others alike instead")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep real vectors in this folder")
    parser.add_argument("--engines", default=",".join(ENGINES), help="which of them --peers measures, in this order")
    parser.add_argument("--material", type=Path, help="take the material of an earlier run from this file")
    parser.add_argument("--scratch", type=Path, help="build indexes below this folder instead of the system's")
    parser.add_argument("--keep", type=Path, help="keep material and peers' indexes in this folder for later runs")
    parser.add_argument("--index", type=Path, help="measure nothing but the profiles, on this index")
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    kept = options.keep / "material.npz" if options.keep else None
    known = kept if kept and kept.exists() else options.material
    material = restore(known) if known else gather(options.memory)
    if options.index:
        found = profiled(options.index, material.asked.texts)
        print(keep("profiles", {"machine": {**machine(), "kernels": KERNELS}, **found}, options.out))
        return
    with tempfile.TemporaryDirectory(prefix="twofold-speed-", dir=options.scratch) as scratch:
        sizes = measured_sizes(options, material, options.keep or Path(scratch))
    about = {**machine(), "kernels": KERNELS, "bytes_a_second": round(bytes_a_second())}
    print(keep("speed", {"machine": about, "vectors": material.resemblance(), "sizes": sizes}, options.out))


def measured_sizes(options: argparse.Namespace, material: Material, where: Path) -> Mapping[str, Figures]:
    """Measure every size below a folder."""
    where.mkdir(parents=True, exist_ok=True)
    if not (where / "material.npz").exists():
        save(material, where / "material.npz")
    sizes: dict[str, Figures] = {}
    for count in map(int, options.chunks.split(",")):
        folder = where / str(count)
        folder.mkdir(exist_ok=bool(options.keep))
        if options.peers:
            sizes[str(count)] = measure_peers(
                folder, count, options.engines.split(","), keep_indexes=bool(options.keep)
            )
        else:
            sizes[str(count)] = {"twofold": measure(folder, count, material.asked)}
    return sizes


def measure(folder: Path, count: int, asked: Asked) -> Figures:
    """Build in one fresh process, open in another, ask and add here."""
    index, material = folder / "twofold", folder.parent / "material.npz"
    figures: dict[str, object] = {"build": elsewhere(build, index, material, count)}
    say(count, figures)
    figures["disk_MB"] = round(sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / MEGABYTE, 1)
    figures["open"] = elsewhere(first_answer, index, material)
    say(count, figures["open"])
    analyzer, given = analyzer_for("english"), PrecomputedVectors(asked)
    store = LocalStore(index, create=False)
    bench = Bench(store, asked, IndexingComponents(store, given, analyzer, lambda _: (), "stitched"))
    figures["segments"] = store.info().segments
    for part in (retrievers, hybrids, filtered, adding, compacted):
        found = part(bench)
        say(count, found)
        figures.update(found)
    store.close()
    return figures


def say(count: int, found: object) -> None:
    """Show how far it is."""
    print(count, json.dumps(found), file=sys.stderr, flush=True)


def elsewhere(task: Callable[..., Figures], *arguments: object) -> Figures:
    """Run a task in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def resident() -> float:
    """Give this process's resident memory in megabytes, mapped files included."""
    return psutil.Process().memory_info().rss / MEGABYTE


def build(index: Path, material: Path, count: int) -> Figures:
    """Fill an index, a hundred documents a transaction: seconds apart for stitching, analyzing and storing."""
    source, analyzer = restore(material), analyzer_for("english")
    began, before = time.perf_counter(), resident()
    store = LocalStore(index)
    store.ensure_fingerprint(IndexFingerprint(PrecomputedVectors.identity, analyzer.describe(), "stitched"))
    analyzing = storing = busy = 0.0
    for batch in source.batches(count):
        started, began_busy = time.perf_counter(), time.process_time()
        entries = entries_of(batch, analyzer)
        analyzing += (between := time.perf_counter()) - started
        store.upsert(entries)
        storing += time.perf_counter() - between
        busy += time.process_time() - began_busy
    started, began_busy = time.perf_counter(), time.process_time()
    store.close()
    storing += time.perf_counter() - started
    busy += time.process_time() - began_busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "passages_a_second": round(count / (analyzing + storing)),
        "passages_a_second_of_processor_time": round(count / busy),
        "analysing_s": round(analyzing, 1),
        "storing_s": round(storing, 1),
        "wall_s": round(time.perf_counter() - began, 1),
        "peak_MB_beyond_start": round(peak - before),
    }


def first_answer(index: Path, material: Path) -> Figures:
    """Open an index and answer one question, then the others: seconds and megabytes beyond what was there before."""
    asked = restore(material).asked
    given, analyzer = PrecomputedVectors(asked), analyzer_for("english")
    before, started = resident(), time.perf_counter()
    store = LocalStore(index, create=False)
    bench = Bench(store, asked, IndexingComponents(store, given, analyzer, lambda _: (), "stitched"))
    ask = bench.searching(SearchPlan())
    ask(0)
    first, after_one = time.perf_counter() - started, resident()
    for at in range(len(asked.texts)):
        ask(at)
    figures = {
        "first_answer_ms": round(first * 1e3, 1),
        "resident_MB_after_one": round(after_one - before, 1),
        "resident_MB_after_all": round(resident() - before, 1),
    }
    store.close()
    return figures


def retrievers(bench: Bench) -> Figures:
    """Time each retriever alone, ten passages' keys out; for vectors also, what reading its bytes takes."""
    questions = [TermQuery(bench.parts.analyzer.query(text)) for text in bench.asked.texts]
    vectors = bench.asked.vectors
    with bench.store.view() as view:
        words = latencies(lambda at: view.search_bm25(questions[at], 10), len(questions))
        meaning = latencies(lambda at: view.search_vectors(vectors[at], 10), len(questions))
    chunks = bench.store.info().chunks
    scanned = chunks * vectors.shape[1]
    limit = {"bytes_of_codes": scanned, "reading_them_ms": round(scanned / bytes_a_second() * 1e3, 3)}
    return {"bm25_retriever": words, "vector_retriever": {**meaning, **limit}}


def hybrids(bench: Bench) -> Figures:
    """Time whole searches, without the embedding."""
    plans = {
        "hybrid_10": SearchPlan(k=10),
        "hybrid_20": SearchPlan(k=20),
        "bm25_10": SearchPlan(k=10, mode="bm25"),
        "vector_10": SearchPlan(k=10, mode="vector"),
    }
    return {name: latencies(bench.searching(plan), len(bench.asked.texts)) for name, plan in plans.items()}


def filtered(bench: Bench) -> Figures:
    """Time hybrid searches under filters: the first one, which evaluates the filter, and those that follow."""
    found: dict[str, object] = {}
    for name, condition in FILTERS.items():
        with bench.store.view() as view:
            started = time.perf_counter()
            view.search_bm25(TermQuery({"of": 1.0}), 1, Scope(condition))
            first = time.perf_counter() - started
        times = latencies(bench.searching(SearchPlan(filter=condition)), len(bench.asked.texts))
        found[f"filter {name}"] = {"first_ms": round(first * 1e3, 1), **times}
    assert FILTERS[name] != MATCH_ALL  # noqa: S101 - the last one filtered
    return found


def adding(bench: Bench) -> Figures:
    """Add small documents one by one, each durable, and search after each: milliseconds."""
    bench.store.ensure_fingerprint(
        IndexFingerprint(PrecomputedVectors.identity, bench.parts.analyzer.describe(), "stitched")
    )
    added, searched = [], []
    ask = bench.searching(SearchPlan())
    for number in range(ADDED):
        text = f"A short note, number {number}: {bench.asked.texts[number % len(bench.asked.texts)]}"
        identity = document_id(f"note {number}")
        vector = bench.asked.vectors[number % len(bench.asked.vectors)]
        started = time.perf_counter()
        terms = bench.parts.analyzer.counts(text)
        chunk = IndexedChunk(Chunk(identity, 0, text, 0, len(text)), terms, vector)
        bench.store.upsert([Entry(Document(identity, f"note {number}", text), (chunk,))])
        added.append(time.perf_counter() - started)
        started = time.perf_counter()
        ask(number % len(bench.asked.texts))
        searched.append(time.perf_counter() - started)
    return {"add_one": spread(added), "search_after_add": spread(searched)}


def compacted(bench: Bench) -> Figures:
    """Time hybrid searches once more when all segments are merged into one."""
    started = time.perf_counter()
    bench.store.compact()
    seconds = round(time.perf_counter() - started, 1)
    return {"compacting_s": seconds, "hybrid_10_compacted": hybrids(bench)["hybrid_10"]}


def spread(seconds: Sequence[float]) -> Figures:
    """Give p50 and p99 in milliseconds."""
    rising = sorted(seconds)
    return {name: round(rising[int(len(rising) * share)] * 1e3, 2) for name, share in (("p50", 0.5), ("p99", 0.99))}


def measure_peers(folder: Path, count: int, engines: Sequence[str], *, keep_indexes: bool) -> Figures:
    """Measure twofold and the others alike on the same passages, each in a fresh process."""
    material = folder.parent / "material.npz"
    elsewhere(exact_ranking, material, count)
    found: dict[str, object] = {}
    for name in engines:
        own = folder / name.replace(" ", "-")
        if not (own / BUILT).exists():
            shutil.rmtree(own, ignore_errors=True)  # of a run that was ended while it was filled
        found[name] = elsewhere(measured_peer, name, own, material, count)
        say(count, {name: found[name]})
        if not keep_indexes:
            shutil.rmtree(own, ignore_errors=True)
    return found


def measured_peer(name: str, folder: Path, material: Path, count: int) -> Figures:
    """Measure one engine; only here is it imported."""
    module, opener = ENGINES[name]
    return measured(getattr(import_module(f"peers.{module}"), opener), folder, material, count)


if __name__ == "__main__":
    main()
