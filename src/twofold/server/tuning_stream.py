"""A tuning as a stream of events: it runs in a thread of its own and ends at the next search when it is closed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.report import Metric
from twofold.evaluation.tuning import JUDGED, TUNABLE, Changes, Tuning, tune_by
from twofold.index import Index
from twofold.query.parse import as_prose
from twofold.search.plan import MAX_K
from twofold.server.errors import Problem
from twofold.server.event_thread import EventThread

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


def tuning_stream(index: Index, judged: JudgedCollection, metric: Metric) -> EventThread[TuneEvent]:
    """Choose settings by judged questions, searching as the index does with the settings that are tried."""
    reranks = index.settings.rerank.model != "none"
    settings = [one for one in TUNABLE if one.name != "reranking" or reranks]

    def work(thread: EventThread[TuneEvent]) -> None:
        measure = _Measure(index, judged, metric, thread)
        thread.send(TunedEvent(tune_by(judged.queries, measure, metric.name, settings, RULES)))

    return EventThread("twofold tune", work, TuneFailedEvent)


class _Measure:
    """The metric of each question under changed settings; sends how many ways were measured."""

    def __init__(self, index: Index, judged: JudgedCollection, metric: Metric, thread: EventThread[TuneEvent]) -> None:
        self._index = index
        self._judged = judged
        self._metric = metric
        self._thread = thread
        self._measured = 0

    def __call__(self, changes: Changes, questions: Sequence[Question]) -> Sequence[float]:
        metric = self._metric
        values = tuple(
            metric.compute(self._found(one.text, changes), self._judged.grades[one.id], metric.k) for one in questions
        )
        self._measured += 1
        self._thread.send(MeasuredEvent(self._measured))
        return values

    def _found(self, question: str, changes: Changes) -> tuple[str, ...]:
        if self._thread.stopped:
            raise InvalidInputError("The tuning was stopped.", "Begin again.")
        k = min(MAX_K, self._metric.k * PASSAGES_A_DOCUMENT)
        found = self._index.search(as_prose(question), k=k, settings=changes)
        return tuple(dict.fromkeys(hit.source for hit in found.hits))
