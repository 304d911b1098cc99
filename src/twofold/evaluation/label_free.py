"""The weight of the two retrievers without judgements: a cross-encoder judges what each weight puts first.

For a query q and a weight w, `value(q, w) = Σ relevance(i) / log2(i + 1)` over the ten best passages, the relevance in
[0, 1] by the reranker. `gain(w)` is the mean of `value(q, w) - value(q, default)`, its error that mean's standard
error.
The weight with the greatest gain is drawn back toward the default by how uncertain it is:

    t = gain / error,   weight = default + (best - default) · max(0, 1 - 1 / t²)

so that a gain no larger than its error moves nothing, one twice as large three quarters of the way, one three times as
large nine tenths (James and Stein, "Estimation with quadratic loss", 1961).
"""

import math
from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

WEIGHTS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""What is tried. Below .3 and above .9 hybrid is nearly one retriever alone, and a few queries cannot tell."""

TOP: Final = 10
MIN_QUERIES: Final = 10
QUERIES: Final = 60
MIN_PASSAGES: Final = 300
"""In a smaller index the ten best are much the same by any weight."""

MIN_CHANGE: Final = 0.02
MIN_GAIN: Final = 0.005
"""Of the mean relevance: where nothing that is found answers, the lists of all weights are worth next to nothing."""

Judge = Callable[[str, float], Sequence[float]]
"""Returns the relevance, each in [0, 1], of the passages that come first for a query by a weight, best first."""


@dataclass(frozen=True, slots=True)
class WeightTrial:
    """What one weight reached: the mean value, and its mean difference to the default with its standard error."""

    weight: float
    value: float
    gain: float
    error: float


@dataclass(frozen=True, slots=True)
class WeightChoice:
    """The weight chosen, the one that did best before it was drawn back, and what was tried.

    `queries` were judged. `weight` is `default` where nothing did better, or the change would be below .02.
    """

    default: float
    best: float
    weight: float
    queries: int
    trials: tuple[WeightTrial, ...]

    @property
    def changes(self) -> bool:
        """Whether another weight than the default was chosen."""
        return self.weight != self.default

    @property
    def evidence(self) -> str:
        """One line that says what the weight rests on, to be kept and shown with it."""
        one = next(trial for trial in self.trials if trial.weight == self.best)
        return (
            f"vector_weight {self.weight:g} chosen without labels: {self.queries} queries, best {self.best:g},"
            f" gain {one.gain:.3f} ± {one.error:.3f} of relevance over {self.default:g}"
        )


def discounted(relevance: Sequence[float]) -> float:
    """Return the discounted cumulative gain of the ten best.

    >>> round(discounted([1.0, 0.5, 1.0]), 4)
    1.8155
    """
    return sum(one / math.log2(rank + 1) for rank, one in enumerate(relevance[:TOP], start=1))


def choose_weight(values: Sequence[Sequence[float]], weights: Sequence[float], default: float) -> WeightChoice:
    """Choose by the values of each query, (queries, weights); `default` is one of the weights.

    Gains of .2, 0, .2 and 0 have the mean .1 and the standard error .0577: t² = 3, two thirds of the way.

    >>> choose_weight([(1.0, 1.2), (1.0, 1.0), (1.0, 1.2), (1.0, 1.0)], (0.6, 0.8), 0.6).weight
    0.73

    Raises InvalidInputError for fewer than two queries.
    """
    if len(values) < 2:  # noqa: PLR2004  # one has no spread
        raise InvalidInputError("One query says nothing about a weight.", "Give more time with --budget.")
    now = weights.index(default)
    trials = []
    for at, weight in enumerate(weights):
        apart = [row[at] - row[now] for row in values]
        mean, error = fmean(apart), stdev(apart) / math.sqrt(len(apart))
        trials.append(WeightTrial(weight, fmean(row[at] for row in values), mean, error))
    best = max(trials, key=lambda one: (one.gain, -abs(one.weight - default)))
    moved = round(default + (best.weight - default) * _certainty(best), 2)
    chosen = moved if abs(moved - default) >= MIN_CHANGE and best.gain >= MIN_GAIN else default
    return WeightChoice(default, best.weight, chosen, len(values), tuple(trials))


def _certainty(trial: WeightTrial) -> float:
    """Return max(0, 1 - 1 / t²): 0 for what gains nothing, 1 for a gain without any spread."""
    if trial.gain <= 0.0:
        return 0.0
    return max(0.0, 1.0 - (trial.error / trial.gain) ** 2)


def judge_weights(
    queries: Sequence[str], default: float, judge: Judge, go_on: Callable[[int], bool] = lambda _done: True
) -> WeightChoice:
    """Judge queries by every weight and choose one. `go_on` is asked after each query, with how many are done.

    Raises InvalidInputError where fewer than ten queries were judged.
    """
    weights = tuple(sorted({*WEIGHTS, default}))
    values: list[tuple[float, ...]] = []
    for query in queries:
        values.append(tuple(discounted(judge(query, weight)) for weight in weights))
        if not go_on(len(values)):
            break
    if len(values) < MIN_QUERIES:
        raise InvalidInputError(
            f"{len(values)} judged queries are too few to choose a weight by.",
            f"At least {MIN_QUERIES} are needed: give more time with --budget, or more documents.",
        )
    return choose_weight(values, weights, default)
