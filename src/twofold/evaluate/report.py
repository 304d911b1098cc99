"""From runs to rows of a table: metrics by name, runs scored by them, means with intervals. It runs no search."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from twofold.domain.errors import InvalidInputError
from twofold.evaluate.collection import JudgedCollection
from twofold.evaluate.compare import Interval, bootstrap_interval
from twofold.evaluate.metrics import Grades, average_precision, hit_rate, ndcg, precision, recall, reciprocal_rank

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
        remedy = f"Use nDCG, MRR, recall, hit rate, P or MAP, @ and a number up to {DOCUMENTS_JUDGED}, as in ndcg@10."
        raise InvalidInputError(f"There is no metric {text!r}.", remedy)
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


def summarise(
    name: str,
    scored: Sequence[MetricValues],
    ms_per_query: float | None,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Row:
    """Average each metric over the questions, with bootstrap intervals of this level."""
    figures = tuple(Figure(one.metric, bootstrap_interval(one.values, level, seed=seed)) for one in scored)
    return Row(name, figures, ms_per_query)


def documents_from_passages(documents: Iterable[str], limit: int | None = None) -> tuple[str, ...]:
    """Rank documents by their best passage, given the document of each passage, best passage first.

    Source: MaxP of Dai and Callan, "Deeper text understanding for IR with contextual neural language modeling", 2019.

    >>> documents_from_passages(["b", "a", "b", "c"], limit=2)
    ('b', 'a')
    """
    return tuple(dict.fromkeys(documents))[:limit]
