"""How far two judges agree: the share of equal grades, and Cohen's kappa, which leaves out what chance would give."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations

from twofold.domain.dataclass import dataclass

JudgedBy = tuple[str, str, str]
"""A judge, a query and a document."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges on the `pairs` of query and document that both graded: `share` in [0, 1], `kappa` at most 1."""

    pairs: int
    share: float
    kappa: float


def agreement_of(grades: Mapping[JudgedBy, int]) -> Agreement | None:
    """Return how far the two judges agree who graded the most pairs in common; None where no two did.

    Both give 2 and 0, then one 2 where the other 0: two of three are equal. Of the grades 2, 0, 2 and 2, 0, 0 chance
    makes (2/3 · 1/3 + 1/3 · 2/3) = 4/9 equal, so kappa is (2/3 - 4/9) / (1 - 4/9) = .4.

    >>> given = {("a", "q", "x"): 2, ("a", "q", "y"): 0, ("a", "q", "z"): 2}
    >>> given |= {("b", "q", "x"): 2, ("b", "q", "y"): 0, ("b", "q", "z"): 0}
    >>> found = agreement_of(given)
    >>> (found.pairs, round(found.share, 3), round(found.kappa, 3)) if found else None
    (3, 0.667, 0.4)

    Source: Cohen, "A coefficient of agreement for nominal scales", 1960.
    """
    by_judge: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for (judge, query, document), grade in grades.items():
        by_judge[judge][query, document] = grade
    common = [
        [(one[pair], other[pair]) for pair in sorted(one.keys() & other.keys())]
        for one, other in combinations([by_judge[judge] for judge in sorted(by_judge)], 2)
    ]
    pairs = max(common, key=len, default=[])
    if not pairs:
        return None
    count = len(pairs)
    share = sum(one == other for one, other in pairs) / count
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(first[grade] * second[grade] for grade in first) / count**2
    return Agreement(count, share, 1.0 if chance == 1.0 else (share - chance) / (1.0 - chance))
