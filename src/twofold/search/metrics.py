"""Metrics kept while running: how many questions, how fast, from memory, failed or degraded; and where time went.

Every question counts once, whatever became of it. Room is bounded: means are of all questions, percentiles of the last
thousand that had the stage.
"""

import gc
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from twofold.domain.dataclass import dataclass
from twofold.system.memory import resident_bytes

MEGABYTE = 1 << 20
LIMIT_MB = 8_192.0
COLLECT_PAUSE_SECONDS = 60.0
"""Seconds between two collections, since each of them stops all threads for a moment."""
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What is resident in memory, in MB of 2^20 bytes, against a limit, 0 for none.

    `collections` is how often garbage was collected since more than the limit was in use.
    """

    resident_mb: float
    limit_mb: float = LIMIT_MB
    collections: int = 0

    @property
    def warning(self) -> str:
        """One line for people, empty while all is well: at the limit exactly all is."""
        if not self.limit_mb or self.resident_mb <= self.limit_mb:
            return ""
        return f"{self.resident_mb:,.0f} MB of memory are in use, more than the {self.limit_mb:,.0f} MB that were set."


class MemoryWatch:
    """Watches this process's memory on behalf of one index. Safe to use from several threads.

    Above `limit_mb` it logs a warning and collects garbage, at most once in `COLLECT_PAUSE_SECONDS` seconds.
    """

    def __init__(self, limit_mb: float = LIMIT_MB, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_mb = limit_mb
        self._clock = clock
        self._turn = threading.Lock()
        self._rests_until = -float("inf")
        self._collections = 0

    def look(self) -> None:
        """Look at the memory in use, and collect garbage where it is too much."""
        if not self._limit_mb:
            return
        use = MemoryUse(resident_bytes() / MEGABYTE, self._limit_mb)
        if use.warning and self._may_collect():
            LOG.warning("%s Garbage is collected; a smaller model or cache takes less.", use.warning)
            gc.collect()

    def use(self) -> MemoryUse:
        """Return what is in use now, and how often garbage was collected for it."""
        with self._turn:
            collections = self._collections
        return MemoryUse(resident_bytes() / MEGABYTE, self._limit_mb, collections)

    def _may_collect(self) -> bool:
        """Count a collection, unless another one was made a moment ago."""
        with self._turn:
            now = self._clock()
            if now < self._rests_until:
                return False
            self._rests_until = now + COLLECT_PAUSE_SECONDS
            self._collections += 1
            return True


WINDOW_SIZE = 1_000
MAX_NAMES = 64
OTHERS = "other"
TOTAL = "total"
BOUNDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Times:
    """How long something took, in milliseconds: mean of all `count`, median and 95th percentile of the last 1,000."""

    count: int = 0
    mean_ms: float = 0.0
    p50_ms: float = 0.0
    p95_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many candidates a search had, and how many its filter and its reranking left."""

    documents_retrieved: int = 0
    documents_after_filter: int = 0
    documents_after_rerank: int = 0

    def plus(self, more: "DocumentCounts") -> "DocumentCounts":
        """Add up."""
        return DocumentCounts(
            self.documents_retrieved + more.documents_retrieved,
            self.documents_after_filter + more.documents_after_filter,
            self.documents_after_rerank + more.documents_after_rerank,
        )


NO_COUNTS = DocumentCounts()


@dataclass(frozen=True, slots=True)
class Histogram:
    """How numbers in [0, 1] are spread: `at_most[i]` of `count` were at most `BOUNDS[i]`; `total` is their sum."""

    count: int = 0
    total: float = 0.0
    at_most: tuple[int, ...] = (0,) * len(BOUNDS)

    def plus(self, number: float | None) -> "Histogram":
        """Add one, where there is one.

        >>> Histogram().plus(0.83)
        Histogram(count=1, total=0.83, at_most=(0, 0, 0, 0, 0, 0, 0, 0, 1, 1))
        """
        if number is None:
            return self
        at_most = (held + (number <= bound) for held, bound in zip(self.at_most, BOUNDS, strict=True))
        return Histogram(self.count + 1, self.total + number, tuple(at_most))


NONE_YET = Histogram()


@dataclass(frozen=True, slots=True)
class Metrics:
    """What happened since the beginning. The names of checklist 83 stand in brackets.

    `queries` [query_count] counts answers and errors; `answered` answers alone. `response` [avg_response_time] is over
    answers, those from memory included. `stages` [embedding, retrieval, reranking, synthesis time] are over answers
    that were searched for. `documents` are summed over those. `loaded` names the models in memory. `confidence` and
    `answerable` say how sure searches were of what they found: of those that were reranked, and of all. `pending`
    counts the passages that have no vector yet.
    """

    queries: int
    answered: int
    cached: int
    degraded: int
    errors: Mapping[str, int]
    response: Times
    stages: Mapping[str, Times]
    documents: DocumentCounts
    memory: MemoryUse
    loaded: tuple[str, ...] = ()
    confidence: Histogram = NONE_YET
    answerable: Histogram = NONE_YET
    pending: int = 0

    @property
    def cache_hit_rate(self) -> float:
        """The share of answers that came from the cache; 0 without answers."""
        return self.cached / self.answered if self.answered else 0.0

    @property
    def error_rate(self) -> float:
        """The share of queries that ended in an error; 0 without queries."""
        return (self.queries - self.answered) / self.queries if self.queries else 0.0


@dataclass(slots=True)
class _Series:
    """Durations of one kind: their sum and number, and the last of them."""

    count: int = 0
    total: float = 0.0
    last: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW_SIZE))

    def add(self, milliseconds: float) -> None:
        self.count += 1
        self.total += milliseconds
        self.last.append(milliseconds)

    def times(self) -> Times:
        if not self.count:
            return Times()
        rising = sorted(self.last)
        return Times(self.count, self.total / self.count, percentile(rising, 50.0), percentile(rising, 95.0))


class Meter:
    """Keeps metrics. Safe to use from several threads; each costs a few microseconds."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._listener: Callable[[Mapping[str, float]], None] | None = None
        self._response = _Series()
        self._stages: dict[str, _Series] = {}
        self._errors: dict[str, int] = {}
        self._cached = 0
        self._degraded = 0
        self._documents = NO_COUNTS
        self._confidence = self._answerable = NONE_YET

    def listen(self, listener: Callable[[Mapping[str, float]], None]) -> None:
        """Have a function called with the milliseconds of the stages, right after each search and answer."""
        self._listener = listener

    def record(
        self,
        timings_ms: Mapping[str, float],
        *,
        degraded: bool = False,
        cached: bool = False,
        documents: DocumentCounts = NO_COUNTS,
    ) -> None:
        """Count one answer. `timings_ms` gives each stage and `total`; without it the stages are added up.

        Of an answer from memory only the total counts: its stages are those of the search that was remembered.
        """
        total = timings_ms.get(TOTAL, sum(timings_ms.values()))
        if self._listener is not None and not cached:
            self._listener(timings_ms)
        with self._turn:
            self._response.add(total)
            self._cached += cached
            self._degraded += degraded
            if cached:
                return
            self._documents = self._documents.plus(documents)
            self._add_stages(timings_ms)

    def record_sureness(self, confidence: float | None, answerable: float | None) -> None:
        """Add how sure a search was of what it found, as far as it can be said."""
        with self._turn:
            self._confidence = self._confidence.plus(confidence)
            self._answerable = self._answerable.plus(answerable)

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add the times of stages that came after a search: it is counted already, and counts once."""
        with self._turn:
            self._add_stages(timings_ms)

    def _add_stages(self, timings_ms: Mapping[str, float]) -> None:
        for stage, milliseconds in timings_ms.items():
            if stage != TOTAL:
                name = _bounded(stage, self._stages)
                self._stages.setdefault(name, _Series()).add(milliseconds)

    def record_error(self, kind: str) -> None:
        """Count one question that ended in an error of this kind, such as `ModelError`."""
        with self._turn:
            name = _bounded(kind, self._errors)
            self._errors[name] = self._errors.get(name, 0) + 1

    def snapshot(self, loaded: Sequence[str] = (), memory: MemoryUse = MemoryUse(0.0)) -> Metrics:
        """Return the metrics as they are now, with the memory in use and the models in it."""
        with self._turn:
            answered = self._response.count
            return Metrics(
                queries=answered + sum(self._errors.values()),
                answered=answered,
                cached=self._cached,
                degraded=self._degraded,
                errors=dict(self._errors),
                response=self._response.times(),
                stages={name: series.times() for name, series in self._stages.items()},
                documents=self._documents,
                memory=memory,
                loaded=tuple(loaded),
                confidence=self._confidence,
                answerable=self._answerable,
            )


def percentile(rising: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of sorted values: the ⌈percent / 100 · n⌉-th of n, at least the first.

    Worked: of 1, 2, …, 100 the 95th is 95; of 1, 2, 3, 4 the 50th is 2. Raises ValueError when there are no values.
    """
    if not rising:
        message = "there is no percentile of nothing"
        raise ValueError(message)
    return rising[max(1, math.ceil(percent * len(rising) / 100.0)) - 1]


def _bounded(name: str, known: Mapping[str, object]) -> str:
    """Return the name things are counted under: its own, while there are not too many."""
    return name if name in known or len(known) < MAX_NAMES else OTHERS
