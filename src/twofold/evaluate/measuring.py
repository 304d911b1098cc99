"""What tuning measures by: real searches, as settings with some changes do them, scored question by question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from twofold.evaluate.collection import JudgedCollection, Question
from twofold.evaluate.report import Metric
from twofold.evaluate.running import find_all
from twofold.evaluate.tuning import Changes, Measure
from twofold.pipeline.parts import Parts
from twofold.pipeline.plan import SearchPlan

Prepare = Callable[[Changes], tuple[Parts, SearchPlan]]
"""Gives what searches, and how, by settings with some changes."""

OnMeasured = Callable[[], None]
"""Called when some changes have been measured on some questions."""


def searching(
    judged: JudgedCollection, names: Mapping[str, str], metric: Metric, prepare: Prepare, on_measured: OnMeasured
) -> Measure:
    """Make a measure that searches as deep as the metric looks, and no deeper, so that `search.depth` counts.

    Raises ModelError, when called, as `find_all` does.
    """

    def measure(changes: Changes, questions: Sequence[Question]) -> Sequence[float]:
        parts, plan = prepare(changes)
        run = find_all(parts, replace(judged, queries=tuple(questions)), plan, names, metric.k)
        on_measured()
        return tuple(
            metric.compute([hit.document for hit in run[one.id]], judged.grades[one.id], metric.k) for one in questions
        )

    return measure
