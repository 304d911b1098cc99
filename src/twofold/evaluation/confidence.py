"""How far the chance that an answer is correct can be relied on: what was predicted against what was observed.

    ECE = Σ bins (questions in the bin / all) · |mean predicted chance - observed share that was right|

over ten bins of equal width. Few answers show an error also where every chance is true: `ece_by_luck` is what 95 of 100
such samples stay below, so that an ECE above it says something. Risk and coverage: of the answers in the order of their
chances, how many are wrong among the surest tenth, two tenths … all.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from twofold.domain.dataclass import dataclass

BINS = 10
RESAMPLES, LEVEL = 1_000, 0.95

JudgedBy = Literal["document", "answer"]
"""What makes an answer right: it cites a document that is judged relevant, or it shows an answer that is."""


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Answers whose chance lies in [low, high): the mean predicted, the share observed right, and how many."""

    low: float
    high: float
    predicted: float
    observed: float
    answers: int


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Of the surest `coverage` of the answers, all with at least this chance, the share that is wrong."""

    coverage: float
    chance: float
    risk: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """How one configuration's chances held. `unknown` counts answers without a chance; they are in nothing else.

    `predicted` is the mean chance, `observed` the share of the answers that were right.
    """

    name: str
    judged_by: JudgedBy
    answers: int
    unknown: int
    predicted: float
    observed: float
    ece: float
    ece_by_luck: float
    reliability: tuple[ReliabilityPoint, ...]
    risk_coverage: tuple[RiskPoint, ...]


def confidence_of(name: str, told: Sequence[tuple[float | None, bool]], judged_by: JudgedBy = "document") -> Confidence:
    """Hold chances against what was right.

    >>> one = confidence_of("a", [(0.95, True), (0.85, True), (0.85, False), (None, True)])
    >>> one.answers, one.unknown, round(one.ece, 4), [round(point.risk, 2) for point in one.risk_coverage]
    (3, 1, 0.25, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.33])
    """
    known = [(chance, right) for chance, right in told if chance is not None]
    if not known:
        return Confidence(name, judged_by, 0, len(told), 0.0, 0.0, 0.0, 0.0, (), ())
    points = tuple(_points(known))
    return Confidence(
        name=name,
        judged_by=judged_by,
        answers=len(known),
        unknown=len(told) - len(known),
        predicted=sum(chance for chance, _ in known) / len(known),
        observed=sum(right for _, right in known) / len(known),
        ece=sum(one.answers * abs(one.predicted - one.observed) for one in points) / len(known),
        ece_by_luck=_ece_by_luck([chance for chance, _ in known]),
        reliability=points,
        risk_coverage=tuple(_risks(known)),
    )


def _points(known: Sequence[tuple[float, bool]]) -> list[ReliabilityPoint]:
    made = []
    for place in range(BINS):
        some = [one for one in known if min(int(one[0] * BINS), BINS - 1) == place]
        if some:
            predicted = sum(chance for chance, _ in some) / len(some)
            observed = sum(right for _, right in some) / len(some)
            made.append(ReliabilityPoint(place / BINS, (place + 1) / BINS, predicted, observed, len(some)))
    return made


def _ece_by_luck(chances: Sequence[float]) -> float:
    """Return the ECE that 95 of 100 samples stay below whose answers are right as often as predicted; never random."""
    predicted = np.array(chances)
    apart = (np.random.default_rng(0).random((RESAMPLES, len(predicted))) < predicted) - predicted
    places = np.minimum((predicted * BINS).astype(int), BINS - 1)
    errors = sum(np.abs(apart[:, places == place].sum(axis=1)) for place in range(BINS)) / len(predicted)
    return float(np.quantile(errors, LEVEL))


def _risks(known: Sequence[tuple[float, bool]]) -> list[RiskPoint]:
    surest = sorted(known, key=lambda one: -one[0])
    made = []
    for tenth in range(1, BINS + 1):
        some = surest[: max(1, len(surest) * tenth // BINS)]
        made.append(RiskPoint(tenth / BINS, some[-1][0], sum(not right for _, right in some) / len(some)))
    return made
