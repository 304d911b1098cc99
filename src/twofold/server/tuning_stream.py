"""A tuning as a stream of events: it runs in a thread of its own and ends at the next search when it is closed."""

from collections.abc import Sequence
from dataclasses import replace
from queue import SimpleQueue
from threading import Event, Thread
from typing import Literal

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.report import Metric
from twofold.evaluation.tuning import JUDGED, TUNABLE, Changes, Tuning, tune_by
from twofold.index import Index
from twofold.query.parse import as_prose
from twofold.search.plan import MAX_K
from twofold.server.errors import Problem, problem_of

PASSAGES_A_DOCUMENT = 3
RULES = replace(JUDGED, seconds=240.0)


@dataclass(frozen=True, slots=True)
class MeasuredEvent:
    """`count` ways were measured."""

    count: int
    type: Literal["measured"] = "measured"


@dataclass(frozen=True, slots=True)
class TunedEvent:
    """What came of it; the last event."""

    tuning: Tuning
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class TuneFailedEvent:
    """Nothing came of it; the last event."""

    problem: Problem
    type: Literal["error"] = "error"


TuneEvent = MeasuredEvent | TunedEvent | TuneFailedEvent


class TuningStream:
    """Chooses settings by judged questions, searching as the index does with the settings that are tried."""

    def __init__(self, index: Index, judged: JudgedCollection, metric: Metric) -> None:
        self._index = index
        self._judged = judged
        self._metric = metric
        self._measured = 0
        self._closed = Event()
        self._events: SimpleQueue[TuneEvent | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="twofold tune", daemon=True)
        self._thread.start()

    def __iter__(self) -> "TuningStream":
        return self

    def __next__(self) -> TuneEvent:
        """Wait for the next event."""
        one = self._events.get()
        if one is None:
            raise StopIteration
        return one

    def close(self) -> None:
        """Stop, and wait until the index is let go."""
        self._closed.set()
        self._thread.join()

    def _work(self) -> None:
        reranks = self._index.settings.rerank.model != "none"
        settings = [one for one in TUNABLE if one.name != "reranking" or reranks]
        try:
            found = tune_by(self._judged.queries, self._measure, self._metric.name, settings, RULES)
            self._events.put(TunedEvent(found))
        except TwofoldError as error:
            self._events.put(TuneFailedEvent(problem_of(error)))
        finally:
            self._events.put(None)

    def _measure(self, changes: Changes, questions: Sequence[Question]) -> Sequence[float]:
        metric = self._metric
        values = tuple(
            metric.compute(self._found(one.text, changes), self._judged.grades[one.id], metric.k) for one in questions
        )
        self._measured += 1
        self._events.put(MeasuredEvent(self._measured))
        return values

    def _found(self, question: str, changes: Changes) -> tuple[str, ...]:
        if self._closed.is_set():
            raise InvalidInputError("The tuning was stopped.", "Begin again.")
        k = min(MAX_K, self._metric.k * PASSAGES_A_DOCUMENT)
        found = self._index.search(as_prose(question), k=k, settings=changes)
        return tuple(dict.fromkeys(hit.source for hit in found.hits))
