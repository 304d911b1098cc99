"""Two runs over the same questions: how far apart, how surely, and which questions made the difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import stdev
from typing import Final

from twofold.domain.errors import InvalidInputError
from twofold.evaluate.collection import Question
from twofold.evaluate.compare import Interval, bootstrap_interval, holm, randomisation_test, smallest_detectable
from twofold.evaluate.report import MetricValues

QUESTIONS_SHOWN: Final = 5
EQUAL: Final = 1e-9
"""Values of a question that are no farther apart than this are the same; sums in another order are."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric: the one's value less the other's, its mean over the questions with an interval, and how sure it is.

    `p` is of the paired randomisation test, `p_holm` after Holm over all of the report. `better`, `same` and `worse`
    count questions. `detectable` is the least true difference that so many questions, as far apart as these are, would
    show four times in five at the 5 % level; None for a single question.
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
    against: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One configuration against another; `gained` and `lost` are the questions that changed most, the largest first."""

    name: str
    against: str
    differences: tuple[Difference, ...]
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A configuration and its values for each metric, in the order of the questions."""

    name: str
    values: tuple[MetricValues, ...]


def compare_all(some: Sequence[Scored], against: Scored, questions: Sequence[Question]) -> tuple[Comparison, ...]:
    """Compare each of `some` with the same other; Holm's adjustment is over every metric of every comparison.

    Raises InvalidInputError when the metrics are not the same, or there are not as many values as questions.
    """
    compared = [_compared(one, against, questions) for one in some]
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
    rising = sorted(changes, key=lambda change: change.value - change.against)
    lost = [change for change in rising if change.value < change.against]
    gained = [change for change in reversed(rising) if change.value > change.against]
    return Comparison(
        name=one.name,
        against=other.name,
        differences=tuple(_difference(mine, yours) for mine, yours in pairs),
        gained=tuple(gained[:QUESTIONS_SHOWN]),
        lost=tuple(lost[:QUESTIONS_SHOWN]),
    )


def _difference(one: MetricValues, other: MetricValues) -> Difference:
    apart = [mine - yours for mine, yours in zip(one.values, other.values, strict=True)]
    better = sum(value > EQUAL for value in apart)
    worse = sum(value < -EQUAL for value in apart)
    p = randomisation_test(one.values, other.values)
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
