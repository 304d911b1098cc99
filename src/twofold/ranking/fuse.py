"""Fuse the rankings of several arms into one, from what each arm listed; a passage an arm did not list adds nothing.

Every form here is one sum, `Σ weight · value`, taken from the first arm to the last, so that an explanation that adds
the same numbers in the same order arrives at the same score. The forms differ in the values: `rank_values` and
`normalised` show them. Ties fall to the smaller key. An arm without hits leaves the order of the others unchanged
(checklist 33). The fusion that also knows the scores an arm did *not* list is `twofold.ranking.convex`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import EMPTY_RANKING, Ranking
from twofold.ranking.normalise import Normaliser, clip, dbsf, logit, maximum

RANK_CONSTANT: Final = 60
"""The k of Cormack et al.: how slowly a rank's worth falls."""

NO_BONUS: Final[Mapping[int, float]] = MappingProxyType({})


def weighted_sum(rankings: Sequence[Ranking], weights: Sequence[float]) -> Ranking:
    """Add `weight · score` over the arms (checklist 27, C4).

    Weights 0.6 and 0.4 make 0.892 of the scores 0.92 and 0.85, and 0.450 of 0.75 in the first arm alone:

    >>> semantic, keyword = Ranking.of([1, 2, 3], [0.92, 0.89, 0.75]), Ranking.of([1, 2], [0.85, 0.60])
    >>> [(hit.key, round(hit.score, 3)) for hit in weighted_sum([semantic, keyword], [0.6, 0.4])]
    [(1, 0.892), (2, 0.774), (3, 0.45)]

    Raises InvalidInputError when the weights are not as many as the arms, or one is negative or not finite.
    """
    _check_weights(weights, len(rankings))
    if not rankings:
        return EMPTY_RANKING
    keys = np.unique(np.concatenate([ranking.keys for ranking in rankings]))
    totals = np.zeros(len(keys))
    for ranking, weight in zip(rankings, weights, strict=True):
        totals[np.searchsorted(keys, ranking.keys)] += weight * ranking.scores
    return Ranking.of(keys, totals)


def reciprocal_rank(
    rankings: Sequence[Ranking],
    weights: Sequence[float] | None = None,
    k: float = RANK_CONSTANT,
) -> Ranking:
    """Fuse by rank alone: `Σ weight / (k + rank)`, ranks from 1, weights 1 unless given (checklist 26).

    First in both of two arms is 2/61, fifth in both 2/65, first in one and fifth in the other 1/61 + 1/65.
    Source: Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet", 2009.

    >>> [round(hit.score, 9) for hit in reciprocal_rank([Ranking.of([7], [0.9]), Ranking.of([7], [12.0])])]
    [0.032786885]
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    return weighted_sum([rank_values(ranking, k) for ranking in rankings], weights)


def weighted_reciprocal_rank(
    lexical: Ranking,
    dense: Ranking,
    dense_weight: float = 0.7,
    k: float = RANK_CONSTANT,
) -> Ranking:
    """Fuse two arms by rank, `(1 - w)/(k + lexical rank) + w/(k + dense rank)` (checklist, last line of R).

    First in both arms is 1/61 whatever the weight:

    >>> [round(hit.score, 6) for hit in weighted_reciprocal_rank(Ranking.of([7], [12.0]), Ranking.of([7], [0.9]))]
    [0.016393]
    """
    return reciprocal_rank((lexical, dense), _shares(dense_weight), k)


def linear(
    lexical: Ranking,
    dense: Ranking,
    dense_weight: float = 0.5,
    *,
    normalise_lexical: Normaliser = maximum,
    normalise_dense: Normaliser = clip,
) -> Ranking:
    """Normalise each arm, then `(1 - w) · lexical + w · dense` (checklist 28, C6).

    By default BM25 is divided by its best and a cosine is taken as it is: 0.5 · 0.8734 + 0.5 · 12.456/17.673 = 0.7891.

    >>> fused = linear(Ranking.of([1, 2], [17.673, 12.456]), Ranking.of([2], [0.8734]))
    >>> [(hit.key, round(hit.score, 4)) for hit in fused]
    [(2, 0.7891), (1, 0.5)]
    """
    legs = (normalised(lexical, normalise_lexical), normalised(dense, normalise_dense))
    return weighted_sum(legs, _shares(dense_weight))


def average(lexical: Ranking, dense: Ranking, dense_weight: float = 0.7) -> Ranking:
    """Add scores that are comparable already: `(1 - w) · lexical + w · dense` (checklist 29, 30).

    Lexical 0.5 and dense 0.8 at the weight 0.7 make 0.3 · 0.5 + 0.7 · 0.8 = 0.71.

    >>> [round(hit.score, 2) for hit in average(Ranking.of([7], [0.5]), Ranking.of([7], [0.8]))]
    [0.71]
    """
    return weighted_sum((lexical, dense), _shares(dense_weight))


def additive(
    lexical: Ranking,
    dense: Ranking,
    lexical_weight: float = 0.35,
    bonuses: Mapping[int, float] = NO_BONUS,
) -> Ranking:
    """Let words add to meaning: `dense + λ · lexical + bonus`; unbounded (checklist 30, C2).

    A bonus goes to keys that an arm found; it finds none itself. Dense 0.8, lexical 0.5, bonus 0.15 make 1.125:

    >>> [round(hit.score, 3) for hit in additive(Ranking.of([7], [0.5]), Ranking.of([7], [0.8]), bonuses={7: 0.15})]
    [1.125]
    """
    fused = weighted_sum((dense, lexical), (1.0, lexical_weight))
    extra = np.array([bonuses.get(int(key), 0.0) for key in fused.keys])
    return Ranking.of(fused.keys, fused.scores + extra)


def distribution_based(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> Ranking:
    """Place each arm's scores between three deviations about its mean, then add (checklist C5 `dbsf`).

    Scores 3, 2, 1 stand at 2/3, 1/2, 1/3, so the first of both arms scores 4/3. See `normalise.dbsf` for the source.

    >>> arm = Ranking.of([1, 2, 3], [3.0, 2.0, 1.0])
    >>> [round(hit.score, 4) for hit in distribution_based([arm, arm])]
    [1.3333, 1.0, 0.6667]
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    return weighted_sum([normalised(ranking, dbsf) for ranking in rankings], weights)


def log_odds(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> Ranking:
    """Pool probabilities as log odds: `Σ weight · ln(p / (1 - p))`, for arms whose scores are probabilities.

    An arm that did not list a passage says nothing about it (p = 1/2). Probabilities are kept 1e-9 away from 0 and 1,
    so that no arm alone decides. Odds multiply: 0.8 and 0.6 are 4 · 1.5 = 6, and ln 6 = 1.791759; `normalise.sigmoid`
    turns that into the probability 6/7. Source: the logarithmic opinion pool, Genest and Zidek, "Combining Probability
    Distributions", 1986.

    >>> [round(hit.score, 6) for hit in log_odds([Ranking.of([7], [0.8]), Ranking.of([7], [0.6])])]
    [1.791759]
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    return weighted_sum([normalised(ranking, logit) for ranking in rankings], weights)


def best_of(rankings: Sequence[Ranking]) -> Ranking:
    """Keep each key's best score, for several wordings of one question asked of one arm (checklist 32).

    >>> [(hit.key, hit.score) for hit in best_of([Ranking.of([1, 2], [3.0, 1.0]), Ranking.of([2], [2.0])])]
    [(1, 3.0), (2, 2.0)]
    """
    if not rankings:
        return EMPTY_RANKING
    keys = np.unique(np.concatenate([ranking.keys for ranking in rankings]))
    best = np.full(len(keys), -np.inf)
    for ranking in rankings:
        places = np.searchsorted(keys, ranking.keys)
        best[places] = np.maximum(best[places], ranking.scores)
    return Ranking.of(keys, best)


def rank_values(ranking: Ranking, k: float = RANK_CONSTANT) -> Ranking:
    """Put `1 / (k + rank)` in the place of each score, ranks from 1.

    Raises InvalidInputError for a k below 0.
    """
    if not k >= 0.0:
        raise InvalidInputError(f"the rank constant must be at least 0, not {k}.", "The usual value is 60.")
    return Ranking(ranking.keys, 1.0 / (k + np.arange(1.0, len(ranking) + 1.0)))


def normalised(ranking: Ranking, normalise: Normaliser) -> Ranking:
    """Put normalised scores in the place of raw ones; the order stays."""
    return Ranking(ranking.keys, normalise(ranking.scores))


def _shares(dense_weight: float) -> tuple[float, float]:
    if not 0.0 <= dense_weight <= 1.0:
        raise InvalidInputError(f"the dense weight must be from 0 to 1, not {dense_weight}.", "Try 0.5.")
    return 1.0 - dense_weight, dense_weight


def _check_weights(weights: Sequence[float], arms: int) -> None:
    if len(weights) != arms:
        raise InvalidInputError(f"{arms} arms were given {len(weights)} weights.", "Give one weight for each arm.")
    if not all(0.0 <= weight < np.inf for weight in weights):
        raise InvalidInputError(
            f"weights must be finite and at least 0, not {list(weights)}.", "Use 0 to leave an arm out."
        )
