"""A whole report on judged questions: each configuration's figures, comparisons, conditions that fail a build."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from twofold.evaluate.collection import JudgedCollection
from twofold.evaluate.conditions import Condition, Failure, failures
from twofold.evaluate.differences import Comparison, Scored, compare_all
from twofold.evaluate.report import STANDARD, Metric, Row, evaluate_run, summarise
from twofold.evaluate.runs import Run


@dataclass(frozen=True, slots=True)
class Answers:
    """What a configuration found for each question, and its mean time in milliseconds where it was run here.

    `grades` are the judgements that its own results gave, by question: of passages that hold the answer.
    """

    name: str
    run: Run
    ms_per_query: float | None
    grades: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be told: by which metrics, and when it counts as failed."""

    metrics: tuple[Metric, ...] = STANDARD
    conditions: tuple[Condition, ...] = ()

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        """The metrics that are shown, then those that only a condition names."""
        named = {one.name: one for one in (*self.metrics, *(condition.metric for condition in self.conditions))}
        return tuple(named.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Averages over `queries` questions; the `left_out` ones have no relevant judgement and count nowhere.

    The last row is that of the configuration compared against, where there is one.
    """

    collection: str
    documents: int
    queries: int
    left_out: int
    missing_documents: int
    missing_queries: int
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    failed: tuple[Failure, ...]


def evaluation(
    judged: JudgedCollection, documents: int, some: Sequence[Answers], against: Answers | None, asked: Asked
) -> Evaluation:
    """Score everything and compare each of `some` with `against`. Raises InvalidInputError as `failures` does."""
    scored = [_scored(one, judged, asked) for one in some]
    other = None if against is None else _scored(against, judged, asked)
    rows = [summarise(one.name, one.values, each.ms_per_query) for one, each in zip(scored, some, strict=True)]
    last = None if other is None or against is None else summarise(other.name, other.values, against.ms_per_query)
    return Evaluation(
        collection=judged.name,
        documents=documents,
        queries=len(judged.queries),
        left_out=judged.left_out,
        missing_documents=judged.missing_documents,
        missing_queries=judged.missing_queries,
        rows=tuple(rows if last is None else [*rows, last]),
        comparisons=() if other is None else compare_all(scored, other, judged.queries),
        failed=failures(
            asked.conditions, {row.name: _means(row) for row in rows}, None if last is None else _means(last)
        ),
    )


def _scored(one: Answers, judged: JudgedCollection, asked: Asked) -> Scored:
    run = {query: [hit.document for hit in hits] for query, hits in one.run.items()}
    judged = replace(judged, grades=one.grades) if one.grades else judged
    return Scored(one.name, evaluate_run(run, judged, asked.all_metrics))


def _means(row: Row) -> Mapping[str, float]:
    return {figure.metric: figure.interval.mean for figure in row.figures}
