"""How far the chance that an answer is correct can be relied on: what was said against what was.

    ECE = Σ bins (questions in the bin / all) · |mean chance said - share that was right|

over ten bins of equal width. Risk and coverage: of the answers in the order of their chances, how many are wrong among
the surest tenth, two tenths … all. An answer counts as right where it cites a document that is judged relevant.
"""

from collections.abc import Sequence

from twofold.domain.dataclass import dataclass

BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Answers whose chance lies in [low, high): the mean that was said, the share that was right, and how many."""

    low: float
    high: float
    said: float
    was: float
    answers: int


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Of the surest `coverage` of the answers, all with at least this chance, the share that is wrong."""

    coverage: float
    chance: float
    risk: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """How one configuration's chances held. `unknown` counts answers without a chance; they are in nothing else."""

    name: str
    answers: int
    unknown: int
    right: float
    ece: float
    reliability: tuple[ReliabilityPoint, ...]
    risk_coverage: tuple[RiskPoint, ...]


def confidence_of(name: str, told: Sequence[tuple[float | None, bool]]) -> Confidence:
    """Hold chances against what was right.

    >>> one = confidence_of("a", [(0.95, True), (0.85, True), (0.85, False), (None, True)])
    >>> one.answers, one.unknown, round(one.ece, 4), [round(point.risk, 2) for point in one.risk_coverage]
    (3, 1, 0.25, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.33])
    """
    known = [(chance, right) for chance, right in told if chance is not None]
    if not known:
        return Confidence(name, 0, len(told), 0.0, 0.0, (), ())
    points = tuple(_points(known))
    return Confidence(
        name=name,
        answers=len(known),
        unknown=len(told) - len(known),
        right=sum(right for _, right in known) / len(known),
        ece=sum(one.answers * abs(one.said - one.was) for one in points) / len(known),
        reliability=points,
        risk_coverage=tuple(_risks(known)),
    )


def _points(known: Sequence[tuple[float, bool]]) -> list[ReliabilityPoint]:
    made = []
    for place in range(BINS):
        some = [one for one in known if min(int(one[0] * BINS), BINS - 1) == place]
        if some:
            said, was = sum(chance for chance, _ in some) / len(some), sum(right for _, right in some) / len(some)
            made.append(ReliabilityPoint(place / BINS, (place + 1) / BINS, said, was, len(some)))
    return made


def _risks(known: Sequence[tuple[float, bool]]) -> list[RiskPoint]:
    surest = sorted(known, key=lambda one: -one[0])
    made = []
    for tenth in range(1, BINS + 1):
        some = surest[: max(1, len(surest) * tenth // BINS)]
        made.append(RiskPoint(tenth / BINS, some[-1][0], sum(not right for _, right in some) / len(some)))
    return made
