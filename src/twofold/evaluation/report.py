"""From runs to rows of a table: metrics by name, runs scored by them, means with intervals. It runs no search."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import stdev
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.metrics import Grades, average_precision, hit_rate, ndcg, precision, recall, reciprocal_rank
from twofold.evaluation.significance import Interval, bootstrap_interval, holm, randomization_test, smallest_detectable

DOCUMENTS_JUDGED: Final = 100
"""How many documents of each question are looked at."""

Compute = Callable[[Sequence[str], Grades, int], float]

_NAMED: Final[Mapping[str, tuple[str, Compute]]] = {
    "ndcg": ("nDCG", ndcg),
    "mrr": ("MRR", reciprocal_rank),
    "recall": ("recall", recall),
    "hitrate": ("hit rate", hit_rate),
    "success": ("hit rate", hit_rate),
    "p": ("P", precision),
    "precision": ("P", precision),
    "map": ("MAP", average_precision),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric at its cut, with the name it is shown by."""

    name: str
    compute: Compute
    k: int


STANDARD: Final = (
    Metric("nDCG@10", ndcg, 10),
    Metric("MRR@10", reciprocal_rank, 10),
    Metric("recall@100", recall, 100),
    Metric("hit rate@5", hit_rate, 5),
    Metric("P@5", precision, 5),
)


@dataclass(frozen=True, slots=True)
class MetricValues:
    """One metric's value for each question, in the order of the collection's queries."""

    metric: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric's mean over the questions, with its interval."""

    metric: str
    interval: Interval


@dataclass(frozen=True, slots=True)
class Row:
    """What one configuration reached, and the mean time of one query in milliseconds, where it was run here."""

    name: str
    figures: tuple[Figure, ...]
    ms_per_query: float | None


def metric_named(text: str) -> Metric:
    """Read a metric's name and cut, in capitals or not: nDCG, MRR, recall, hit rate, P or MAP, at 1 to 100.

    >>> metric_named("ndcg@20").name, metric_named("HIT_RATE@5").name
    ('nDCG@20', 'hit rate@5')

    Raises InvalidInputError for any other.
    """
    name, _, cut = (part.strip() for part in text.lower().partition("@"))
    known = _NAMED.get(re.sub(r"[ _-]", "", name))
    if known is None or not re.fullmatch(r"[0-9]{1,4}", cut) or not 1 <= int(cut) <= DOCUMENTS_JUDGED:
        hint = f"Use nDCG, MRR, recall, hit rate, P or MAP, @ and a number up to {DOCUMENTS_JUDGED}, as in ndcg@10."
        raise InvalidInputError(f"There is no metric {text!r}.", hint)
    return Metric(f"{known[0]}@{int(cut)}", known[1], int(cut))


def evaluate_run(
    run: Mapping[str, Sequence[str]],
    judged: JudgedCollection,
    metrics: Sequence[Metric] = STANDARD,
) -> tuple[MetricValues, ...]:
    """Score a run: for each query's id the documents found, best first. A query that the run lacks found nothing."""
    return tuple(
        MetricValues(
            metric.name,
            tuple(metric.compute(run.get(query.id, ()), judged.grades[query.id], metric.k) for query in judged.queries),
        )
        for metric in metrics
    )


def summarize(name: str, scored: Sequence[MetricValues], ms_per_query: float | None) -> Row:
    """Average each metric over the questions, with bootstrap intervals at 95 %."""
    figures = tuple(Figure(one.metric, bootstrap_interval(one.values)) for one in scored)
    return Row(name, figures, ms_per_query)


def documents_from_passages(documents: Iterable[str], limit: int | None = None) -> tuple[str, ...]:
    """Rank documents by their best passage, given the document of each passage, best passage first.

    Source: MaxP of Dai and Callan, "Deeper text understanding for IR with contextual neural language modeling", 2019.

    >>> documents_from_passages(["b", "a", "b", "c"], limit=2)
    ('b', 'a')
    """
    return tuple(dict.fromkeys(documents))[:limit]


QUESTIONS_SHOWN: Final = 5
EQUAL: Final = 1e-9
"""Values of a question that are no farther apart than this are the same; sums in another order are."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric: the one's value less the other's, its mean over the questions with an interval, and how sure it is.

    `p` is of the paired randomization test, `p_holm` after Holm over all of the report. `better`, `same` and `worse`
    count questions. `detectable` is the least true difference that this many questions, as far apart as these are,
    would show four times in five at the 5 % level; None for a single question.
    """

    metric: str
    interval: Interval
    p: float
    p_holm: float
    better: int
    same: int
    worse: int
    detectable: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """A question and its two values of the first metric."""

    query: str
    text: str
    value: float
    baseline: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One configuration against another; `gained` and `lost` are the questions that changed most, the largest first."""

    name: str
    baseline: str
    differences: tuple[Difference, ...]
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A configuration and its values for each metric, in the order of the questions."""

    name: str
    values: tuple[MetricValues, ...]


def compare_all(some: Sequence[Scored], baseline: Scored, questions: Sequence[Question]) -> tuple[Comparison, ...]:
    """Compare each of `some` with the same other; Holm's adjustment is over every metric of every comparison.

    Raises InvalidInputError when the metrics are not the same, or there are not as many values as questions.
    """
    compared = [_compared(one, baseline, questions) for one in some]
    adjusted = iter(holm([one.p for one in chain.from_iterable(each.differences for each in compared)]))
    return tuple(
        replace(each, differences=tuple(replace(one, p_holm=next(adjusted)) for one in each.differences))
        for each in compared
    )


def _compared(one: Scored, other: Scored, questions: Sequence[Question]) -> Comparison:
    if [each.metric for each in one.values] != [each.metric for each in other.values]:
        raise InvalidInputError("the two were not scored by the same metrics.", "Score both by the same.")
    pairs = list(zip(one.values, other.values, strict=True))
    changes = [
        Change(question.id, question.text, mine, yours)
        for question, mine, yours in zip(questions, pairs[0][0].values, pairs[0][1].values, strict=True)
        if abs(mine - yours) > EQUAL
    ]
    rising = sorted(changes, key=lambda change: change.value - change.baseline)
    lost = [change for change in rising if change.value < change.baseline]
    gained = [change for change in reversed(rising) if change.value > change.baseline]
    return Comparison(
        name=one.name,
        baseline=other.name,
        differences=tuple(_difference(mine, yours) for mine, yours in pairs),
        gained=tuple(gained[:QUESTIONS_SHOWN]),
        lost=tuple(lost[:QUESTIONS_SHOWN]),
    )


def _difference(one: MetricValues, other: MetricValues) -> Difference:
    apart = [mine - yours for mine, yours in zip(one.values, other.values, strict=True)]
    better = sum(value > EQUAL for value in apart)
    worse = sum(value < -EQUAL for value in apart)
    p = randomization_test(one.values, other.values)
    return Difference(
        metric=one.metric,
        interval=bootstrap_interval(apart),
        p=p,
        p_holm=p,
        better=better,
        same=len(apart) - better - worse,
        worse=worse,
        detectable=smallest_detectable(len(apart), stdev(apart)) if len(apart) > 1 else None,
    )
