"""Figures of the server and of its indexes, as Prometheus reads them. No name of a document, no question, no key."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from twofold.domain.dataclass import dataclass
from twofold.search.metrics import BOUNDS as SHARES
from twofold.search.metrics import Histogram, Metrics

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class _Series:
    """Requests to one route with one outcome: how many, their seconds in all, and how many took at most so long."""

    count: int = 0
    seconds: float = 0.0
    buckets: list[int] | None = None

    def add(self, seconds: float) -> None:
        if self.buckets is None:
            self.buckets = [0] * len(BUCKETS)
        self.count += 1
        self.seconds += seconds
        for at, bound in enumerate(BUCKETS):
            self.buckets[at] += seconds <= bound


_Key = tuple[str, str, int]


class RequestCounts:
    """Counts requests by method, route and status. Routes are templates, so there are few; thread-safe."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._series: dict[_Key, _Series] = {}

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._turn:
            self._series.setdefault((method, route, status), _Series()).add(seconds)

    def lines(self) -> Iterator[str]:
        """Write them as a Prometheus histogram."""
        with self._turn:
            series = [
                (key, one.count, one.seconds, tuple(one.buckets or ())) for key, one in sorted(self._series.items())
            ]
        name = "twofold_http_request_seconds"
        yield f"# HELP {name} How long requests took."
        yield f"# TYPE {name} histogram"
        for (method, route, status), count, seconds, buckets in series:
            labels = _labels({"method": method, "route": route, "status": str(status)})
            for bound, below in zip(BUCKETS, buckets, strict=True):
                yield f'{name}_bucket{{{labels},le="{bound:g}"}} {below}'
            yield f'{name}_bucket{{{labels},le="+Inf"}} {count}'
            yield f"{name}_sum{{{labels}}} {seconds:.6f}"
            yield f"{name}_count{{{labels}}} {count}"


def gauge(name: str, text: str, values: Mapping[str, float]) -> Iterator[str]:
    """Write one gauge; `values` by the label text, empty for a gauge without labels."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    for labels, value in values.items():
        yield f"{name}{{{labels}}} {value:g}" if labels else f"{name} {value:g}"


def index_lines(found: Iterable[tuple[str, Metrics]]) -> Iterator[str]:
    """Write what each open index counts of its searches."""
    metrics = list(found)
    counters: dict[str, tuple[str, Callable[[Metrics], int]]] = {
        "queries": ("Questions asked, answered or not.", lambda one: one.queries),
        "cached": ("Answers given from memory.", lambda one: one.cached),
        "degraded": ("Answers that had to do without a part.", lambda one: one.degraded),
        "collections": ("Times that garbage was collected for want of memory.", lambda one: one.memory.collections),
        "errors": ("Questions that ended in an error.", lambda one: sum(one.errors.values())),
    }
    for word, (text, read) in counters.items():
        name = f"twofold_search_{word}_total"
        yield f"# HELP {name} {text}"
        yield f"# TYPE {name} counter"
        for index, one in metrics:
            yield f"{name}{{{_labels({'index': index})}}} {read(one)}"
    waiting = {_labels({"index": index}): float(one.pending) for index, one in metrics}
    yield from gauge("twofold_index_pending_passages", "Passages that have no vector yet.", waiting)
    sure = "How sure searches were of what they found"
    confident = [(index, one.confidence) for index, one in metrics]
    answerable = [(index, one.answerable) for index, one in metrics]
    yield from _spread_lines("twofold_search_confidence", f"{sure}: those that were reranked.", confident)
    yield from _spread_lines("twofold_search_answerable", f"{sure}: the chance that it holds the answer.", answerable)
    name = "twofold_search_stage_milliseconds"
    yield f"# HELP {name} How long stages of a search took, of the last thousand."
    yield f"# TYPE {name} gauge"
    for index, one in metrics:
        for stage, times in one.stages.items():
            for quantile, value in (("0.5", times.p50_ms), ("0.95", times.p95_ms)):
                labels = _labels({"index": index, "stage": stage, "quantile": quantile})
                yield f"{name}{{{labels}}} {value:.3f}"


def _spread_lines(name: str, text: str, found: Sequence[tuple[str, Histogram]]) -> Iterator[str]:
    """Write a histogram of numbers in [0, 1], one series for each index."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} histogram"
    for index, one in found:
        labels = _labels({"index": index})
        for bound, at_most in zip(SHARES, one.at_most, strict=True):
            yield f'{name}_bucket{{{labels},le="{bound:g}"}} {at_most}'
        yield f'{name}_bucket{{{labels},le="+Inf"}} {one.count}'
        yield f"{name}_sum{{{labels}}} {one.total:.6f}"
        yield f"{name}_count{{{labels}}} {one.count}"


def _labels(values: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in values.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
