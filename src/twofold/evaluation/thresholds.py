"""Conditions that fail a build: `ndcg@10 < 0.7` of a value, `ndcg@10 < -0.02` of a difference."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.report import Metric, metric_named

_SHAPE: Final = re.compile(r"\s*([^<>=]+?)\s*(<=|>=|<|>)\s*([+-]?)\s*([0-9]{0,9}(?:\.[0-9]{1,9})?)\s*")
_HOLDS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What must not be so. With a sign before its number it is about the difference to the other configuration."""

    text: str
    metric: Metric
    comparison: str
    bound: float
    of_difference: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A condition that is so: of which configuration, and by which value or difference of means."""

    condition: str
    name: str
    value: float


def parsed_condition(text: str) -> Condition:
    """Read a metric, one of `<`, `<=`, `>`, `>=`, and a number.

    A number with a sign is a difference to the configuration compared against, one without a sign the value itself.

    >>> parsed_condition("ndcg@10 < -0.02").of_difference, parsed_condition("NDCG@10 < .7").of_difference
    (True, False)

    Raises InvalidInputError when the text is no condition.
    """
    found = _SHAPE.fullmatch(text)
    if found is None or not found[4]:
        raise InvalidInputError(
            f"{text!r} is no condition.", 'Write one such as "ndcg@10 < 0.7", or "ndcg@10 < -0.02" of a difference.'
        )
    bound = float(found[4]) * (-1.0 if found[3] == "-" else 1.0)
    return Condition(" ".join(text.split()), metric_named(found[1]), found[2], bound, bool(found[3]))


def check_comparable(conditions: Sequence[Condition], *, compared: bool) -> None:
    """Raise InvalidInputError for a condition on a difference where nothing is compared."""
    alone = next((condition for condition in conditions if condition.of_difference and not compared), None)
    if alone is not None:
        raise InvalidInputError(
            f"{alone.text!r} is about a difference, and nothing is compared.",
            "Add --baseline, or leave the sign away to test the value itself.",
        )


def failures(
    conditions: Sequence[Condition],
    means: Mapping[str, Mapping[str, float]],
    baseline: Mapping[str, float] | None,
) -> tuple[Failure, ...]:
    """Return which conditions hold: for each configuration, by name, its means by metric, and the other's means.

    Raises InvalidInputError as `check_comparable` does.
    """
    check_comparable(conditions, compared=baseline is not None)
    other = {} if baseline is None else baseline
    found = []
    for condition in conditions:
        for name, mine in means.items():
            metric = condition.metric.name
            value = mine[metric] - (other[metric] if condition.of_difference else 0.0)
            if _HOLDS[condition.comparison](value, condition.bound):
                found.append(Failure(condition.text, name, value))
    return tuple(found)
