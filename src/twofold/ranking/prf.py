"""More like the first ones: the query for BM25 grows by what makes the best passages themselves.

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
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import pairwise, repeat
from operator import add
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass, replace
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import FeedbackGains, Scores, Statistics, TermCounts, TermQuery
from twofold.kernels import idfs

MAX_PASSAGES: Final = 20
MAX_TERMS: Final = 100
MIN_SHARE: Final = 0.01
"""A passage with less than this share is left out: it would move nothing, and costs as much as the others."""


@dataclass(frozen=True, slots=True)
class PrfParameters:
    """How much the first passages may say.

    `top_k` is how many are looked at (0 to 20; 0 leaves all out), `terms` how many of each one's terms count (1 to
    100), `weight` the part λ of all weight that is theirs, in [0, 1), `temperature` τ, above 0: the difference of fused
    scores that makes one passage count e times as much as another.

    Raises InvalidInputError for a number out of range.
    """

    top_k: int = 5
    terms: int = 30
    weight: float = 0.5
    temperature: float = 0.05

    def __post_init__(self) -> None:
        allowed = (
            (0 <= self.top_k <= MAX_PASSAGES, f"top_k is 0 to {MAX_PASSAGES}, not {self.top_k}.", "5"),
            (1 <= self.terms <= MAX_TERMS, f"terms are 1 to {MAX_TERMS}, not {self.terms}.", "30"),
            (0.0 <= self.weight < 1.0, f"the weight is at least 0 and below 1, not {self.weight}.", "0.5"),
            (0.0 < self.temperature < math.inf, f"the temperature is above 0, not {self.temperature}.", "0.05"),
        )
        for holds, what, usual in allowed:
            if not holds:
                raise InvalidInputError(f"prf: {what}", f"Usual is {usual}.")


def shares(scores: Scores, prf: PrfParameters) -> Scores:
    """Return how much each of the first passages counts: falling fused scores, (n,), give at most `passages` shares.

    They sum to 1. A passage whose share would be below 0.01 is left out, with all after it.

    Scores .9, .85 and .3 at τ = .05: 1 to e⁻¹ to e⁻¹².

    >>> shares(np.array([0.9, 0.85, 0.3]), PrfParameters()).round(4).tolist()
    [0.7311, 0.2689]
    """
    first = np.asarray(scores[: prf.top_k], dtype=np.float64)
    if not len(first) or prf.weight == 0.0:
        return np.empty(0, dtype=np.float64)
    worth = np.exp(np.minimum(0.0, (first - first[0]) / prf.temperature))
    kept: Scores = worth[worth >= MIN_SHARE * worth.sum()]
    return kept / float(kept.sum())


def strongest(impacts: Scores, offsets: NDArray[np.int64], terms: int) -> NDArray[np.intp]:
    """Return the places of each passage's `terms` greatest impacts, with all ties at the least of them; they rise.

    `impacts[offsets[i]:offsets[i + 1]]` are those of passage i. Their terms' texts, which decide ties, need not be read
    for the others.

    >>> strongest(np.array([0.5, 2.0, 0.5, 0.1, 3.0]), np.array([0, 4, 5]), 2).tolist()
    [0, 1, 2, 4]
    """
    kept = np.ones(len(impacts), dtype=np.bool_)
    for start, end in pairwise(offsets.tolist()):
        if end - start > terms:
            own = impacts[start:end]
            kept[start:end] = own >= np.partition(own, len(own) - terms)[len(own) - terms]
    return np.flatnonzero(kept)


def prf_terms(
    query: TermQuery, passages: Sequence[Mapping[str, float]], counting: Scores, prf: PrfParameters
) -> TermQuery:
    """Add to a question what the first passages are made of.

    `passages` holds for each the impact of each of its plain terms, `TermScore.score` at weight 1; `counting` its
    share, in step, as `shares` gives them. The question's terms keep their places and at least their weights; new ones
    follow, the greatest gain first. Of terms with equal impact that come first in order are taken. Without passages, or
    where none holds a term, the question is given back.

    The question `disk`; the first passage is made of `disk` and `quota`, 3 to 1, λ = ½:

    >>> found = prf_terms(TermQuery({"disk": 1.0}), [{"disk": 6.0, "quota": 2.0}], np.array([1.0]), PrfParameters())
    >>> dict(found.weights)
    {'disk': 1.75, 'quota': 0.25}

    Raises InvalidInputError when passages and shares are not as many.
    """
    if len(passages) != len(counting):
        raise InvalidInputError(f"{len(passages)} passages were given {len(counting)} shares.", "Give each its share.")
    gains: dict[str, float] = defaultdict(float)
    for impacts, share in zip(passages, counting, strict=True):
        chosen = _chosen(impacts, prf.terms)
        part, whole = float(share), _sum(impact for _, impact in chosen)
        for term, impact in chosen:
            gains[term] += part * impact / whole
    own = [gains.pop(term, 0.0) for term in query.weights]
    fresh = sorted(zip([-gain for gain in gains.values()], gains, strict=True))
    return with_gains(query, FeedbackGains(own, [term for _, term in fresh], [-gain for gain, _ in fresh]), prf)


def with_gains(query: TermQuery, found: FeedbackGains, prf: PrfParameters) -> TermQuery:
    """Add to a question what its terms gain, and after them the others that gain anything."""
    mass = _sum(query.weights.values()) * prf.weight / (1.0 - prf.weight)
    pairs = zip(query.weights.items(), map(float, found.own), strict=True)
    weights = {term: weight + mass * gain for (term, weight), gain in pairs}
    fresh = zip(found.terms, map(float, found.gains), strict=True)
    weights |= {term: mass * gain for term, gain in fresh if mass * gain > 0.0}
    return replace(query, weights=weights)


def _sum(values: Iterable[float]) -> float:
    """Add up from the left: `sum` itself corrects its rounding since Python 3.12, and the kernel does not."""
    return reduce(add, values, 0.0)


def _chosen(impacts: Mapping[str, float], terms: int) -> list[tuple[str, float]]:
    """Return the terms of greatest impact, none of 0."""
    falling = sorted(zip([-impact for impact in impacts.values()], impacts, strict=True))
    return [(term, -impact) for impact, term in falling[:terms] if impact < 0.0]


MAX_EXPANSION: Final = 100  # terms


@dataclass(frozen=True, slots=True)
class Feedback:
    """How much feedback may change a question.

    `terms` is how many are chosen, 0 to 100 (0 leaves feedback out); `share`, in (0, 1], the question's own part λ of
    all weight; `commonest` the greatest share of all passages that may hold a new term.

    Raises InvalidInputError for a number out of range.
    """

    terms: int = 20
    share: float = 0.8
    commonest: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.terms <= MAX_EXPANSION:
            raise InvalidInputError(f"feedback adds 0 to 100 terms, not {self.terms}.", "The usual number is 20.")
        if not 0.0 < self.share <= 1.0:
            raise InvalidInputError(
                f"the question's share must be above 0 and at most 1, not {self.share}.", "Try 0.8."
            )
        if not 0.0 < self.commonest <= 1.0:
            raise InvalidInputError(
                f"the commonest share must be above 0 and at most 1, not {self.commonest}.", "Try 0.1."
            )


@dataclass(frozen=True, slots=True)
class Expansion:
    """A question after feedback, and what each term gained by it, the greatest gain first."""

    query: TermQuery
    gained: Mapping[str, float]


def relevance_model(passages: Sequence[TermCounts], scores: Sequence[float] | Scores = ()) -> dict[str, float]:
    """Return p(t|R) of every term in the passages that come first; the probabilities sum to 1.

    `scores` weigh the passages, in step; without them, or where none is above 0, all count alike. Scores below 0 count
    as 0.

    >>> passages = [TermCounts({"disk": 2, "full": 2}, 4), TermCounts({"disk": 1, "quota": 3}, 4)]
    >>> relevance_model(passages, [3.0, 1.0])
    {'disk': 0.4375, 'full': 0.375, 'quota': 0.1875}
    """
    given = [max(0.0, float(score)) for score in scores] if len(scores) else list(repeat(1.0, len(passages)))
    worth = given if sum(given) > 0.0 else list(repeat(1.0, len(passages)))
    held = [(passage, score) for passage, score in zip(passages, worth, strict=True) if passage.counts]
    whole = sum(score for _, score in held)
    model: dict[str, float] = defaultdict(float)
    for passage, score in held:
        if score > 0.0:
            words = sum(passage.counts.values())
            for term, count in passage.counts.items():
                model[term] += score / whole * (count / words)
    return dict(model)


def expanded(query: TermQuery, model: Mapping[str, float], statistics: Statistics, feedback: Feedback) -> Expansion:
    """Add to a question the terms of a relevance model that will tell its answers from other passages.

    `statistics` must know the frequencies of the model's terms; one it does not know is not chosen, nor is one in more
    than `commonest` of all passages, unless the question has it. Ties fall to the term that comes first in order.

    The question `disk`, weight 1, and λ = ½; `disk`, common in the model, gains .7, the new `quota` .3:

    >>> known = Statistics(1000, 90_000, {"disk": 50, "quota": 4, "the": 990})
    >>> model = {"disk": 0.35, "the": 0.5, "quota": 0.15}
    >>> expand_with_prf = expanded(TermQuery({"disk": 1.0}), model, known, Feedback(share=0.5))
    >>> {term: round(weight, 6) for term, weight in expand_with_prf.query.weights.items()}
    {'disk': 1.7, 'quota': 0.3}
    """
    chosen = _chosen_feedback(query, model, statistics, feedback)
    mass = sum(query.weights.values()) * (1.0 - feedback.share) / feedback.share
    whole = sum(model[term] for term in chosen)
    if not chosen or not mass * whole > 0.0:
        return Expansion(query, {})
    gained = {term: mass * (model[term] / whole) for term in sorted(chosen, key=lambda term: (-model[term], term))}
    weights = {term: weight + gained.get(term, 0.0) for term, weight in query.weights.items()}
    weights |= {term: gain for term, gain in gained.items() if term not in weights}
    return Expansion(replace(query, weights=weights), gained)


def _chosen_feedback(
    query: TermQuery, model: Mapping[str, float], statistics: Statistics, feedback: Feedback
) -> list[str]:
    holding = {term: statistics.frequencies.get(term, 0) for term in model}
    commonest = feedback.commonest * statistics.chunks
    possible = [term for term in model if holding[term] and (term in query.weights or holding[term] <= commonest)]
    rarities = idfs(statistics.chunks, np.array([holding[term] for term in possible], dtype=np.int64)).tolist()
    worth = {term: model[term] * rarity for term, rarity in zip(possible, rarities, strict=True)}
    return sorted(worth, key=lambda term: (-worth[term], term))[: feedback.terms]
