"""More like the first ones: the lexical question grows by what makes the best passages themselves.

What was fused first says more about the subject than the question does, and what to look for next often stands in it:
the name of the second thing that a question in two steps is about. With q the question's weights, λ the share of what
is new, and of each passage d among the first ones `impact(t, d)`, what the term t adds to its BM25 score at weight 1:

    share_d = exp((s_d - s_1) / τ), made to sum to 1            s the fused scores; a clear winner stands almost alone
    gain_t  = Σ_d share_d · impact(t, d) / Σ_u impact(u, d)     over the 30 terms of greatest impact in d
    weight  = q_t + λ / (1 - λ) · Σ q · gain_t

Gains sum to 1, so λ is their part of all weight. Terms are chosen passage by passage, not from the sum, where only
what the passages have in common would be left: that was worse on every collection but one.
The idea is RM3's (Abdul-Jaleel et al., "UMass at TREC 2004"); the figures behind this form of it:
`docs/decisions/0090-balanced.md`.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Scores, TermQuery

MOST_PASSAGES: Final = 20
MOST_TERMS: Final = 100
LEAST_SHARE: Final = 0.01
"""A passage with less than this share is left out: it would move nothing, and costs as much as the others."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How much the first passages may say.

    `passages` is how many are looked at (0 to 20; 0 leaves all out), `terms` how many of each one's terms count (1 to
    100), `share` the part λ of all weight that is theirs, in [0, 1), `sharpness` τ, above 0: the difference of fused
    scores that makes one passage count e times as much as another.

    Raises InvalidInputError for a number out of range.
    """

    passages: int = 5
    terms: int = 30
    share: float = 0.5
    sharpness: float = 0.05

    def __post_init__(self) -> None:
        allowed = (
            (0 <= self.passages <= MOST_PASSAGES, f"passages are 0 to {MOST_PASSAGES}, not {self.passages}.", "5"),
            (1 <= self.terms <= MOST_TERMS, f"terms are 1 to {MOST_TERMS}, not {self.terms}.", "30"),
            (0.0 <= self.share < 1.0, f"the share is at least 0 and below 1, not {self.share}.", "0.5"),
            (0.0 < self.sharpness < math.inf, f"the sharpness is above 0, not {self.sharpness}.", "0.05"),
        )
        for holds, what, usual in allowed:
            if not holds:
                raise InvalidInputError(f"likeness: {what}", f"Usual is {usual}.")


def shares(scores: Scores, likeness: Likeness) -> Scores:
    """Say how much each of the first passages counts: falling fused scores, (n,), give at most `passages` shares.

    They sum to 1. A passage whose share would be below 0.01 is left out, with all after it.

    Scores .9, .85 and .3 at τ = .05: 1 to e⁻¹ to e⁻¹².

    >>> shares(np.array([0.9, 0.85, 0.3]), Likeness()).round(4).tolist()
    [0.7311, 0.2689]
    """
    first = np.asarray(scores[: likeness.passages], dtype=np.float64)
    if not len(first) or likeness.share == 0.0:
        return np.empty(0, dtype=np.float64)
    worth = np.exp(np.minimum(0.0, (first - first[0]) / likeness.sharpness))
    kept: Scores = worth[worth >= LEAST_SHARE * worth.sum()]
    return kept / float(kept.sum())


def more_like(
    query: TermQuery, passages: Sequence[Mapping[str, float]], counting: Scores, likeness: Likeness
) -> TermQuery:
    """Add to a question what the first passages are made of.

    `passages` holds for each the impact of each of its plain terms, `TermScore.score` at weight 1; `counting` its
    share, in step, as `shares` gives them. The question's terms keep their places and at least their weights; new ones
    follow, the greatest gain first. Of terms with equal impact that come first in order are taken. Without passages, or
    where none holds a term, the question is given back.

    The question `disk`; the first passage is made of `disk` and `quota`, 3 to 1, λ = ½:

    >>> grown = more_like(TermQuery({"disk": 1.0}), [{"disk": 6.0, "quota": 2.0}], np.array([1.0]), Likeness())
    >>> dict(grown.weights)
    {'disk': 1.75, 'quota': 0.25}

    Raises InvalidInputError when passages and shares are not as many.
    """
    if len(passages) != len(counting):
        raise InvalidInputError(f"{len(passages)} passages were given {len(counting)} shares.", "Give each its share.")
    gains: dict[str, float] = defaultdict(float)
    for impacts, share in zip(passages, counting, strict=True):
        chosen = _chosen(impacts, likeness.terms)
        whole = sum(impact for _, impact in chosen)
        for term, impact in chosen:
            gains[term] += float(share) * impact / whole
    mass = sum(query.weights.values()) * likeness.share / (1.0 - likeness.share)
    weights = {term: weight + mass * gains.pop(term, 0.0) for term, weight in query.weights.items()}
    fresh = sorted(gains.items(), key=lambda one: (-one[1], one[0]))
    weights |= {term: mass * gain for term, gain in fresh if mass * gain > 0.0}
    return replace(query, weights=weights)


def _chosen(impacts: Mapping[str, float], terms: int) -> list[tuple[str, float]]:
    """Give the terms of greatest impact, none of 0."""
    falling = sorted(impacts.items(), key=lambda one: (-one[1], one[0]))
    return [(term, impact) for term, impact in falling[:terms] if impact > 0.0]
