"""What every engine is asked for alike: fill, search in each mode, filter, add and search, search from two threads.

An engine gives the numbers and texts of ten passages. Passage number n is the n-th of the material; its document is
n // 10. `shelf` is one of a hundred, `half` one of two, as in `material.entries_of`.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from material import PASSAGES_OF_A_DOCUMENT, Asked, Material, restore
from timing import latencies

K = 10
ADDED = 50
SECONDS_OF_ADDS = 10.0
ROUNDS = 3
SLOW_MS = 10.0  # a mode that takes longer is asked fewer questions, so that a run stays short
FEWER = 60
BUILT = "built.json"
MODES = ("bm25", "vector", "hybrid")

Hits = Sequence[tuple[int, str]]
"""Number and text of each passage, best first."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some passages, numbered on from `first`, with their vectors and the two fields that are filtered by."""

    first: int
    texts: Sequence[str]
    vectors: np.ndarray[Any, np.dtype[np.float32]]

    def fields(self) -> Iterator[tuple[int, str, np.ndarray[Any, np.dtype[np.float32]], int, bool]]:
        """Give number, text, vector, shelf and half of each."""
        for place, (text, vector) in enumerate(zip(self.texts, self.vectors, strict=True)):
            document = (self.first + place) // PASSAGES_OF_A_DOCUMENT
            yield self.first + place, text, vector, document * 37 % 100, document % 2 == 1


Task = Callable[[int], Hits]
"""Answers question number i."""


class Engine(Protocol):
    """One engine, as it is measured."""

    version: str

    def add(self, rows: Rows) -> None:
        """Take in passages; they may be found by the next search, or after `ready`."""

    def ready(self) -> None:
        """Finish what is to be built, once, after the filling."""

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give what it can do of `bm25`, `vector` and `hybrid`, the last of them filtered too."""

    def close(self) -> None:
        """Let go of all."""


class Opener(Protocol):
    """Opens an engine in a folder."""

    def __call__(self, folder: Path, *, built: bool) -> Engine:
        """Return it; `built` says that it was filled there before."""


def measured(opener: Opener, folder: Path, material: Path, count: int) -> Mapping[str, object]:
    """Time what an engine can do with `count` passages. Runs in a fresh process.

    One whose folder was filled before is asked only: its figures of filling are those of then.
    """
    source = restore(material)
    built = folder / BUILT
    before = json.loads(built.read_text()) if built.exists() else None
    folder.mkdir(parents=True, exist_ok=True)
    engine = opener(folder, built=before is not None)
    filled = before or _filled(engine, source, count, folder)
    found: dict[str, object] = {"version": engine.version, **filled}
    tasks = engine.tasks(source.asked)
    for name, task in tasks.items():
        found[name] = latencies(task, *_asked(task, len(source.asked.texts)))
    if "vector" in tasks:
        exact = np.load(material.with_name(f"exact-{count}.npy"))
        found["recall@10"] = _recall(tasks["vector"], exact)
    last = next(tasks[name] for name in reversed(MODES) if name in tasks)
    found["two_threads"] = two_threads(last, _asked(last, len(source.asked.texts))[0])
    if before is None:
        built.write_text(json.dumps(filled))
        found["search_after_add"] = after_adds(engine, last, source.asked, count)
    engine.close()
    return found


def _filled(engine: Engine, source: Material, count: int, folder: Path) -> Mapping[str, object]:
    """Fill an engine, and give what that took."""
    seconds = 0.0
    for batch in source.batches(count):
        texts = [text for document in batch.documents for text in document]
        rows = Rows(batch.first * PASSAGES_OF_A_DOCUMENT, texts, batch.vectors)
        started = time.perf_counter()
        engine.add(rows)
        seconds += time.perf_counter() - started
    started = time.perf_counter()
    engine.ready()
    readied = time.perf_counter() - started
    return {
        "passages_a_second": round(count / (seconds + readied)),
        "of_it_building_s": round(readied, 1),
        "disk_MB": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20, 1),
    }


def _asked(task: Task, questions: int) -> tuple[int, int]:
    """Give how many questions a mode is asked, and in how many rounds."""
    started = time.perf_counter()
    for at in range(10):
        task(at)
    slow = (time.perf_counter() - started) * 100.0 > SLOW_MS
    return (min(questions, FEWER), 2) if slow else (questions, ROUNDS)


def _recall(task: Task, exact: np.ndarray[Any, Any]) -> float:
    """Give the share of the ten nearest passages that are found, of the first questions."""
    rows = exact[: 4 * FEWER]
    hits = [{number for number, _ in task(at)} for at in range(len(rows))]
    return round(float(np.mean([len(set(row) & hit) / K for row, hit in zip(rows.tolist(), hits, strict=True)])), 4)


def exact_ranking(material: Path, count: int) -> None:
    """Keep the ten passages of the highest cosine for each question, compared in full, if it is not kept yet."""
    if material.with_name(f"exact-{count}.npy").exists():
        return
    source = restore(material)
    questions = source.asked.vectors
    best: np.ndarray[Any, Any] = np.empty((len(questions), 0))
    keys: np.ndarray[Any, Any] = np.empty((len(questions), 0), dtype=np.int64)
    for batch in source.vector_batches(count):
        scores = np.hstack([best, questions @ batch.vectors.T])
        first = batch.first * PASSAGES_OF_A_DOCUMENT
        here = np.broadcast_to(np.arange(first, first + len(batch.vectors)), (len(questions), len(batch.vectors)))
        numbers = np.hstack([keys, here])
        top = np.argsort(-scores, axis=1, kind="stable")[:, :K]
        best, keys = np.take_along_axis(scores, top, axis=1), np.take_along_axis(numbers, top, axis=1)
    np.save(material.with_name(f"exact-{count}.npy"), keys)


def two_threads(task: Task, questions: int) -> Mapping[str, float]:
    """Give queries a second of one thread, of two, and how many times as many these are."""
    rates = []
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(task, range(min(50, questions))))
            started = time.perf_counter()
            list(pool.map(task, range(questions)))
            rates.append(questions / (time.perf_counter() - started))
    return {"one": round(rates[0], 1), "two": round(rates[1], 1), "ratio": round(rates[1] / rates[0], 2)}


def after_adds(engine: Engine, task: Task, asked: Asked, count: int) -> Mapping[str, float]:
    """Add passages one by one and search after each: milliseconds of the add and of the search."""
    times: list[tuple[float, float]] = []
    ends = time.perf_counter() + SECONDS_OF_ADDS
    while len(times) < ADDED and (len(times) < 2 or time.perf_counter() < ends):
        at = len(times)
        rows = Rows(count + at, [f"A short note, number {at}: {asked.texts[at]}"], asked.vectors[at : at + 1])
        started = time.perf_counter()
        engine.add(rows)
        between = time.perf_counter()
        task(at)
        times.append((between - started, time.perf_counter() - between))
    add, search = np.percentile(times, 50, axis=0) * 1e3
    return {"add_p50": round(float(add), 3), "search_p50": round(float(search), 3)}
