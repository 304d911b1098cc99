"""How far a mean over questions can be trusted, and whether two systems differ. Deterministic for a seed."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

_CELL_BATCH_SIZE: Final = 4_000_000
"""Bounds the memory of resampling: 32 MB of float64."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and between which bounds it is believed to lie."""

    mean: float
    low: float
    high: float


def bootstrap_interval(
    values: Sequence[float],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the mean of the questions' values with its percentile bootstrap interval.

    Questions are drawn again with replacement, `resamples` times; the interval holds the middle `level` of the means.
    Source: Efron, "Bootstrap methods", 1979. One value, or equal ones, give an interval of no width.

    >>> bootstrap_interval([0.5, 0.5, 0.5])
    Interval(mean=0.5, low=0.5, high=0.5)

    Raises InvalidInputError without values or resamples, or for a level outside (0, 1).
    """
    if not len(values):
        raise InvalidInputError("a mean needs at least one question.", "Judge some questions first.")
    if not 0.0 < level < 1.0 or resamples < 1:
        raise InvalidInputError("an interval needs a level between 0 and 1 and a resample.", "Try 0.95 and 2000.")
    sample = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(seed)
    step = max(1, _CELL_BATCH_SIZE // len(sample))
    means = np.concatenate(
        [
            sample[random.integers(len(sample), size=(min(step, resamples - start), len(sample)))].mean(axis=1)
            for start in range(0, resamples, step)
        ],
    )
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(sample.mean()), float(low), float(high))


def randomization_test(first: Sequence[float], second: Sequence[float], rounds: int = 10_000, seed: int = 0) -> float:
    """Return the two-sided p-value that paired values differ in their mean by chance alone.

    Were the systems alike, each question's difference could as well have had the other sign: signs are thrown `rounds`
    times, and `(1 + as far apart or farther) / (1 + rounds)` is the answer, in (0, 1].
    Source: Smucker, Allan, Carterette, "A comparison of statistical significance tests", 2007.

    >>> randomization_test([0.3, 0.7], [0.3, 0.7])
    1.0

    Raises InvalidInputError when there are no pairs, or not as many of one as of the other.
    """
    if len(first) != len(second) or not len(first):
        raise InvalidInputError(f"{len(first)} and {len(second)} values are no pairs.", "Compare the same questions.")
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    random = np.random.default_rng(seed)
    # Sums of the same numbers in another order differ in their last digits: what is equal must count as equal.
    bar = abs(float(differences.sum())) - 1e-12 * float(np.abs(differences).sum())
    step = max(1, _CELL_BATCH_SIZE // len(differences))
    far = 0
    for start in range(0, rounds, step):
        signs = random.integers(2, size=(min(step, rounds - start), len(differences))) * 2 - 1
        far += int(np.count_nonzero(np.abs(signs @ differences) >= bar))
    return (1 + far) / (1 + rounds)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p-values of one report's comparisons, in the order given, so that all hold together.

    The smallest of m is multiplied by m, the next by m - 1, …; none falls below one before it, none exceeds 1.
    Source: Holm, "A simple sequentially rejective multiple test procedure", 1979.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    rising = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for place, index in enumerate(rising):
        floor = max(floor, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = floor
    return tuple(adjusted)


def smallest_detectable(queries: int, deviation: float, level: float = 0.95, power: float = 0.8) -> float:
    """Return the least difference of means that this many questions would show, at this confidence and power.

    `deviation` is that of the paired differences. `(z(level) + z(power)) · deviation / √queries`: with 25 questions and
    a deviation of 0.09, (1.96 + 0.84) · 0.09 / 5 = 0.0504.

    >>> round(smallest_detectable(25, 0.09), 4), round(smallest_detectable(300, 0.09), 4)
    (0.0504, 0.0146)

    Raises InvalidInputError without a question.
    """
    if queries < 1:
        raise InvalidInputError("a comparison needs at least one question.", "Judge some questions first.")
    normal = NormalDist()
    return (normal.inv_cdf((1.0 + level) / 2.0) + normal.inv_cdf(power)) * deviation / sqrt(queries)
