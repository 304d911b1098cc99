"""Fusing what the arms found, by name, with what is needed to say of each passage where its score came from.

Every form is one sum over the arms, `Σ weight · value`, in a fixed order; they differ in values and weights alone.
`adaptive` and `convex` look at completed scores; the others know only what an arm listed, as the systems that they
stand for do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import ChunkKeys, Ranking, Scores
from twofold.pipeline.results import ArmTrace
from twofold.ranking.adaptive import adaptive_weight
from twofold.ranking.convex import convex_constants, dense_value, lexical_value
from twofold.ranking.fuse import RANK_CONSTANT, rank_values
from twofold.ranking.normalise import dbsf, logit, normaliser

LEXICAL, DENSE = "lexical", "dense"
NORMALISERS = ("none", "clip", "max", "minmax", "theoretical", "zscore", "sigmoid", "dbsf")
LOWEST = {LEXICAL: 0.0, DENSE: -1.0}


@dataclass(frozen=True, slots=True)
class FusionPlan:
    """How the arms are joined; see `FUSIONS` for the forms and what each of them looks at.

    `dense_weight` in [0, 1] is the share of meaning, `lexical_weight` ≥ 0 the λ of `additive`, `rank_constant` ≥ 0 the
    k of the reciprocal ranks; `lexical_norm` and `dense_norm` name normalisers.
    """

    form: str = "adaptive"
    dense_weight: float = 0.6
    lexical_weight: float = 0.35
    rank_constant: float = RANK_CONSTANT
    lexical_norm: str = "max"
    dense_norm: str = "clip"


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What the arms found: their own lists, and over `keys`, the union of them, the true scores of both, (n,) each.

    `wordings` says for each key which wording of the question its lexical score is of; None where there is only one.
    """

    lexical: Ranking
    dense: Ranking
    keys: ChunkKeys
    lexical_scores: Scores
    dense_scores: Scores
    wordings: Sequence[int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ArmShare:
    """What one arm put into a fusion: `weight · values[i]` for the candidate `keys[i]`."""

    arm: str
    ranking: Ranking
    keys: ChunkKeys
    raw: Scores
    values: Scores
    weight: float

    def traces(self, keys: Sequence[int]) -> Sequence[ArmTrace]:
        """Say what the arm made of some candidates, in the order asked."""
        ranks = self.ranking.ranks()
        places = self.keys.searchsorted(keys)
        made = zip(keys, self.raw[places].tolist(), self.values[places].tolist(), strict=True)
        return [ArmTrace(self.arm, ranks.get(key), raw, value, self.weight) for key, raw, value in made]


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """An order, the share of each arm in the order of the sum, and the constants behind their values."""

    ranking: Ranking
    shares: tuple[ArmShare, ...]
    constants: Mapping[str, float] = field(default_factory=dict)


def convex(found: Candidates, plan: FusionPlan) -> Fused:
    """Fuse completed scores; an arm that found nothing leaves the order to the other."""
    return _convex(found, lambda _words, _meaning: plan.dense_weight)


def adaptive(found: Candidates, plan: FusionPlan) -> Fused:
    """Fuse as `convex`, with the weight of meaning chosen by how sharply each arm tells these candidates apart.

    `dense_weight` is what it is where both do alike: `twofold.ranking.adaptive`.
    """
    return _convex(found, lambda words, meaning: adaptive_weight(words, meaning, plan.dense_weight))


def _convex(found: Candidates, weigh: Callable[[Scores, Scores], float]) -> Fused:
    """Fuse completed scores; `weigh` gives the weight of meaning from the values of both arms, where both spoke."""
    constants = convex_constants(found.lexical_scores, found.dense_scores)
    words = lexical_value(found.lexical_scores, constants)
    meaning = dense_value(found.dense_scores, constants)
    both = len(found.lexical) and len(found.dense)
    weight = weigh(words, meaning) if both else float(len(found.dense) > 0)
    shown = {
        "dense_weight": weight,
        "background": constants.background,
        "dense_max": constants.dense_max,
        "lexical_max": constants.lexical_max,
    }
    return summed(_shares(found, (words, meaning), (1.0 - weight, weight)), shown)


def by_rank(found: Candidates, plan: FusionPlan, *, weighted: bool) -> Fused:
    """Fuse by rank: `Σ weight / (k + rank)`; weights 1, or `1 - dense_weight` and `dense_weight`."""
    k = plan.rank_constant
    values = tuple(_placed(found.keys, rank_values(arm, k)) for arm in (found.lexical, found.dense))
    weights = (1.0 - plan.dense_weight, plan.dense_weight) if weighted else (1.0, 1.0)
    return summed(_shares(found, values, weights), {"k": float(k)})


def linear(found: Candidates, plan: FusionPlan) -> Fused:
    """Fuse normalised scores: `(1 - w) · lexical + w · dense` (checklist 27 to 30)."""
    return summed(_shares(found, _normal(found, plan), (1.0 - plan.dense_weight, plan.dense_weight)))


def additive(found: Candidates, plan: FusionPlan) -> Fused:
    """Let words add to meaning: `λ · lexical + dense` (checklist 30); bonuses are the boost stage's."""
    return summed(_shares(found, _normal(found, plan), (plan.lexical_weight, 1.0)))


def distribution_based(found: Candidates, plan: FusionPlan) -> Fused:
    """Fuse scores placed between three deviations about their arm's mean, with equal weights."""
    del plan
    values = tuple(_placed(found.keys, Ranking(arm.keys, dbsf(arm.scores))) for arm in (found.lexical, found.dense))
    return summed(_shares(found, values, (1.0, 1.0)))


def log_odds(found: Candidates, plan: FusionPlan) -> Fused:
    """Pool normalised scores as probabilities, `Σ ln(p / (1 - p))`; who is not listed says nothing, p = 1/2."""
    pooled = tuple(
        _placed(found.keys, Ranking(arm.keys, logit(normaliser(norm, LOWEST[name])(arm.scores))), below=0.0)
        for arm, name, norm in _arms(found, plan)
    )
    return summed(_shares(found, pooled, (1.0, 1.0)))


def alone(found: Candidates, plan: FusionPlan, *, arm: str) -> Fused:
    """Leave the order to one arm: its score as it is."""
    del plan
    ranking, raw = (found.lexical, found.lexical_scores) if arm == LEXICAL else (found.dense, found.dense_scores)
    return Fused(ranking, (ArmShare(arm, ranking, found.keys, raw, raw, 1.0),))


def summed(shares: tuple[ArmShare, ...], constants: Mapping[str, float] = MappingProxyType({})) -> Fused:
    """Add the shares up, from the first arm to the last."""
    total = np.zeros(len(shares[0].keys), dtype=np.float64)
    for share in shares:
        total += share.weight * share.values
    return Fused(Ranking.of(shares[0].keys, total), shares, constants)


Form = Callable[[Candidates, FusionPlan], Fused]

FUSIONS: Mapping[str, Form] = MappingProxyType(
    {
        "adaptive": adaptive,
        "convex": convex,
        "rrf": partial(by_rank, weighted=False),
        "weighted_rrf": partial(by_rank, weighted=True),
        "weighted_sum": linear,
        "linear": linear,
        "average": linear,
        "additive": additive,
        "dbsf": distribution_based,
        "log_odds": log_odds,
    }
)
ALONE: Mapping[str, Form] = MappingProxyType(
    {"bm25": partial(alone, arm=LEXICAL), "semantic": partial(alone, arm=DENSE)}
)


def check(plan: FusionPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    if plan.form not in FUSIONS:
        raise InvalidInputError(f"There is no fusion {plan.form!r}.", f"Use one of {', '.join(FUSIONS)}.")
    for name in (plan.lexical_norm, plan.dense_norm):
        if name not in NORMALISERS:
            raise InvalidInputError(f"There is no normalisation {name!r}.", f"Use one of {', '.join(NORMALISERS)}.")
    if not 0.0 <= plan.dense_weight <= 1.0:
        raise InvalidInputError(f"The dense weight must be from 0 to 1, not {plan.dense_weight}.", "Try 0.6.")
    for what, value in (("lexical weight", plan.lexical_weight), ("rank constant", plan.rank_constant)):
        if not 0.0 <= value < np.inf:
            raise InvalidInputError(f"The {what} must be finite and at least 0, not {value}.", "See docs/settings.md.")


def _arms(found: Candidates, plan: FusionPlan) -> tuple[tuple[Ranking, str, str], ...]:
    return (found.lexical, LEXICAL, plan.lexical_norm), (found.dense, DENSE, plan.dense_norm)


def _normal(found: Candidates, plan: FusionPlan) -> tuple[Scores, Scores]:
    lexical, dense = (
        _placed(found.keys, Ranking(arm.keys, normaliser(norm, LOWEST[name])(arm.scores)))
        for arm, name, norm in _arms(found, plan)
    )
    return lexical, dense


def _shares(found: Candidates, values: Sequence[Scores], weights: tuple[float, float]) -> tuple[ArmShare, ...]:
    lexical, dense = values
    return (
        ArmShare(LEXICAL, found.lexical, found.keys, found.lexical_scores, lexical, weights[0]),
        ArmShare(DENSE, found.dense, found.keys, found.dense_scores, dense, weights[1]),
    )


def _placed(keys: ChunkKeys, listed: Ranking, below: float | None = None) -> Scores:
    """Give each key its value, and one that the arm did not list nothing, or less where values fall below 0.

    Deviations from a mean are below 0 for half of what an arm listed; what it did not list must not stand above that.
    """
    least = min(0.0, float(np.min(listed.scores, initial=0.0))) if below is None else below
    values = np.full(len(keys), least, dtype=np.float64)
    values[keys.searchsorted(listed.keys)] = listed.scores
    return values
