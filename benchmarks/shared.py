"""An index in PostgreSQL next to the same one in a folder: searches, new readers, writing, several processes at once.

    python benchmarks/shared.py postgresql://user@host/database --chunks 100000

The database is a server of yours; the index `benchmark` is made in it and dropped at the end. Vectors are drawn and not
made by a model, since where they lie is what is measured. Both stores are asked in turns, so that what else the
machine does meets both. The figures go into benchmarks/results/<commit>.json.
"""

import argparse
import json
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from given import PrecomputedVectors
from material import Asked, Material, entries_of, real_sentences
from reporting import keep, machine

from twofold.domain.ports import IndexFingerprint, Store
from twofold.indexing.components import IndexingComponents
from twofold.indexing.migrate import migrate
from twofold.search.pipeline import search
from twofold.search.plan import SearchPlan
from twofold.stores.database_address import address_of, with_index
from twofold.stores.local.store import LocalStore
from twofold.stores.postgres.store import PostgresStore
from twofold.text.analyzers import analyzer_for

QUESTIONS = 100
ROUNDS = 5
SECONDS = 10.0
DIMENSIONS = PrecomputedVectors.identity.dimensions


def main() -> None:
    """Fill both, then measure one thing after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", help="the address of a database")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    where = with_index(options.database, "benchmark")
    with tempfile.TemporaryDirectory(prefix="twofold-shared-") as scratch:
        try:
            figures = measured(where, Path(scratch), options.chunks)
        finally:
            PostgresStore.drop(address_of(where), 10.0)
    print(keep("shared", {"machine": machine(), "chunks": options.chunks, **figures}, options.out))


def measured(where: str, scratch: Path, count: int) -> Mapping[str, object]:
    """Measure below a folder."""
    local, cache = LocalStore(scratch / "local"), scratch / "cache"
    shared = PostgresStore(address_of(where), cache=cache)
    figures: dict[str, object] = {}

    def told(**found: object) -> None:
        print(json.dumps(found), file=sys.stderr, flush=True)
        figures.update(found)

    analyzer = analyzer_for("english")
    for store in (local, shared):
        store.ensure_fingerprint(IndexFingerprint(PrecomputedVectors.identity, analyzer.describe(), "stitched"))
    seconds = {"local": 0.0, "postgresql": 0.0}
    for batch in made_of(count).batches(count):
        entries = entries_of(batch, analyzer)
        for name, store in (("local", local), ("postgresql", shared)):
            began = time.perf_counter()
            store.upsert(entries)
            seconds[name] += time.perf_counter() - began
    told(stored_a_second={name: round(count / spent) for name, spent in seconds.items()})
    local.close()
    shared.close()
    told(first_answer_ms={"empty cache": elsewhere(first_answer, where, scratch / "other")})
    told(again_ms={"warm cache": elsewhere(first_answer, where, scratch / "other")})
    local, shared = LocalStore(scratch / "local"), PostgresStore(address_of(where), cache=cache)
    told(**both(local, shared))
    for readers in (2, 4, 8):
        told(**{f"{readers} readers and a writer": crowd(where, cache, readers)})
    began = time.perf_counter()
    again = LocalStore(scratch / "copied")
    migrate(shared, again, lambda _done, _total: None)
    told(migrated_a_second=round(count / (time.perf_counter() - began)))
    for store in (local, shared, again):
        store.close()
    return figures


def made_of(count: int) -> Material:
    """Return material with drawn vectors."""
    drawn = np.random.default_rng(count)
    vectors = drawn.standard_normal((4_000 + QUESTIONS, DIMENSIONS)).astype(np.float32) + 0.6
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sentences = real_sentences()
    asked = (re.findall(r"[a-z]+", sentences[at].lower())[:12] for at in drawn.integers(len(sentences), size=QUESTIONS))
    texts = [" ".join(words) for words in asked]  # no operators
    return Material(vectors[QUESTIONS:], Asked(texts, vectors[:QUESTIONS]), sentences)


def asking(store: Store, asked: Asked) -> Callable[[int], object]:
    """Give a function that does the whole hybrid search of question i."""
    parts = IndexingComponents(store, PrecomputedVectors(asked), analyzer_for("english"), lambda _: (), "stitched")
    plan = SearchPlan(k=10)
    return lambda at: [(hit.chunk_id, hit.score, hit.text) for hit in search(parts, asked.texts[at], plan).hits]


def both(local: Store, shared: Store) -> Mapping[str, object]:
    """Ask both every question, in turns; the fastest of some rounds is what other processes disturb least."""
    asked = made_of(1).asked
    asks = {"local": asking(local, asked), "postgresql": asking(shared, asked)}
    differ = sum(asks["local"](at) != asks["postgresql"](at) for at in range(QUESTIONS))
    taken: dict[str, np.ndarray] = {name: np.empty((ROUNDS, QUESTIONS)) for name in asks}
    for turn in range(ROUNDS):
        for at in range(QUESTIONS):
            for name, ask in asks.items():
                began = time.perf_counter()
                ask(at)
                taken[name][turn, at] = 1e3 * (time.perf_counter() - began)
    figures = {
        name: {"p50": round(float(np.median(one)), 2), "calm_p50": round(float(np.median(one.min(axis=0))), 2)}
        for name, one in taken.items()
    }
    ratio = figures["postgresql"]["calm_p50"] / figures["local"]["calm_p50"]
    return {"hybrid_ms": figures, "ratio": round(ratio, 2), "questions_that_differ": differ}


def elsewhere(task: Callable[..., float], *arguments: object) -> float:
    """Run a task in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def first_answer(where: str, cache: Path) -> float:
    """Open the index and answer once; in milliseconds, without what Python loads."""
    asked = made_of(1).asked
    began = time.perf_counter()
    store = PostgresStore(address_of(where), create=False, cache=cache)
    asking(store, asked)(0)
    taken = 1e3 * (time.perf_counter() - began)
    store.close()
    return round(taken, 1)


def crowd(where: str, cache: Path, readers: int) -> Mapping[str, float]:
    """Let some processes ask for a while, and one write."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(readers + 1, mp_context=context) as pool:
        begin = time.time() + 10.0
        written = pool.submit(writing, where, cache, begin)
        found = list(pool.map(partial(reading, where, cache), [begin] * readers))
        return {
            "answers_a_second": round(sum(len(one) for one in found) / SECONDS, 1),
            "p50_ms": round(statistics.median(taken for one in found for taken in one), 2),
            "documents_written_a_second": round(written.result() / SECONDS, 1),
        }


def reading(where: str, cache: Path, begin: float) -> list[float]:
    """Ask from a moment on; milliseconds of each question."""
    store = PostgresStore(address_of(where), create=False, cache=cache)
    ask, taken = asking(store, made_of(1).asked), []
    ask(0)
    time.sleep(max(0.0, begin - time.time()))
    end = time.time() + SECONDS
    while time.time() < end:
        began = time.perf_counter()
        ask(len(taken) % QUESTIONS)
        taken.append(1e3 * (time.perf_counter() - began))
    store.close()
    return taken


def writing(where: str, cache: Path, begin: float) -> int:
    """Write documents of ten passages from a moment on; count them."""
    store = PostgresStore(address_of(where), create=False, cache=cache)
    batch = next(iter(made_of(7).batches(1_000)))
    entries, written = entries_of(batch, analyzer_for("english")), 0
    time.sleep(max(0.0, begin - time.time()))
    end = time.time() + SECONDS
    while time.time() < end:
        store.upsert([entries[written % len(entries)]])
        written += 1
    store.close()
    return written


if __name__ == "__main__":
    main()
