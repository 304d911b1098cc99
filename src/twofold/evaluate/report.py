"""From runs to a table: what each mode reached on a judged collection, with intervals. It runs no search itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from twofold.evaluate.collection import JudgedCollection
from twofold.evaluate.compare import Interval, bootstrap_interval
from twofold.evaluate.metrics import Grades, hit_rate, ndcg, precision, recall, reciprocal_rank


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric at its cut, with the name it is shown by."""

    name: str
    compute: Callable[[Sequence[str], Grades, int], float]
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
    """What one mode of search reached, and the mean time of one query in milliseconds."""

    mode: str
    figures: tuple[Figure, ...]
    ms_per_query: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A whole report: averages over `queries`; the `left_out` ones have no relevant judgement and count nowhere."""

    collection: str
    documents: int
    queries: int
    left_out: int
    missing_documents: int
    rows: tuple[Row, ...]


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
    mode: str,
    scored: Sequence[MetricValues],
    ms_per_query: float,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Row:
    """Average each metric over the questions, with bootstrap intervals of this level."""
    figures = tuple(Figure(one.metric, bootstrap_interval(one.values, level, seed=seed)) for one in scored)
    return Row(mode, figures, ms_per_query)


def report(judged: JudgedCollection, rows: Sequence[Row]) -> Evaluation:
    """Put the rows of the modes under what they were measured on."""
    return Evaluation(
        collection=judged.name,
        documents=len(judged.documents),
        queries=len(judged.queries),
        left_out=judged.left_out,
        missing_documents=judged.missing_documents,
        rows=tuple(rows),
    )


def documents_from_passages(documents: Iterable[str], limit: int | None = None) -> tuple[str, ...]:
    """Rank documents by their best passage, given the document of each passage, best passage first.

    Source: MaxP of Dai and Callan, "Deeper text understanding for IR with contextual neural language modeling", 2019.

    >>> documents_from_passages(["b", "a", "b", "c"], limit=2)
    ('b', 'a')
    """
    return tuple(dict.fromkeys(documents))[:limit]
