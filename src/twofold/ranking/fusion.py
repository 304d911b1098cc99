"""Fuse what the retrievers found into one order, and keep what each of them put into every score.

Every method is one sum, `score = Σ weight · value`, taken over the retrievers in a fixed order, so that an explanation
that adds the same numbers in the same order arrives at the same score. The methods differ in values and weights alone:

    rrf            value = 1 / (k + rank)         weights 1 and 1
    weighted_rrf   value = 1 / (k + rank)         weights 1 - w and w
    linear         value = the normalized score   weights 1 - w and w    (also named weighted_sum and average)
    additive       value = the normalized score   weights λ and 1
    dbsf           value = dbsf(score)            weights 1 and 1
    log_odds       value = logit(normalized)      weights 1 and 1
    convex         value = the completed score between this question's constants, weights 1 - w and w
    adaptive       as convex, with a w of this question's own (`twofold.ranking.adaptive`)

BM25 comes first and vectors second; w is `vector_weight`, k `rrf_k`, λ `bm25_weight`. A passage that a
retriever did not list has the value 0 there, as the formulas say, also where listed values are below 0 (a negative
cosine, a z-score). `convex` and `adaptive` use completed scores, both retrievers' for every candidate, so nothing is
missing. A passage whose vector is not made yet has no cosine: its value is estimated from its words, and meaning counts
by the share of BM25's candidates that have a vector. Ties fall to the smaller key. More: docs/decisions/0095.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import EMPTY_RANKING, ChunkKeys, Ranking, Scores
from twofold.kernels import KERNELS, convex_values, falling, union_of
from twofold.ranking.adaptive import SLOPE, adaptive_weight, check_weight
from twofold.ranking.normalize import dbsf, logit, normalizer

BM25, VECTOR = "bm25", "vector"
NORMALIZERS = ("none", "clip", "max", "minmax", "theoretical", "zscore", "sigmoid", "dbsf")
LOWEST = {BM25: 0.0, VECTOR: -1.0}
RANK_CONSTANT: Final = 60
"""The k of Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet", 2009."""
UNRELATED_SEEN: Final = 10
"""How much the estimate of the background leans on 0; 5 to 20 gave the same nDCG@10 within .005 on four collections."""


@dataclass(frozen=True, slots=True)
class FusionPlan:
    """How the retrievers' results are fused; `FUSIONS` has the methods.

    `vector_weight` in [0, 1] is w, `bm25_weight` ≥ 0 the λ of `additive`, `rrf_k` ≥ 0 the k of reciprocal
    ranks; `bm25_norm` and `vector_norm` name normalizers. `evidence` is what an index says that its weight rests on.
    """

    method: str = "adaptive"
    vector_weight: float = 0.6
    bm25_weight: float = 0.35
    rrf_k: float = RANK_CONSTANT
    bm25_norm: str = "max"
    vector_norm: str = "clip"
    evidence: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The lists of both retrievers, and over `keys`, the union of them, the true scores of both, (n,) each.

    `queries` says for each key which query its BM25 score is of; None where there is only one.
    `pending` marks the keys, (n,), whose passages have no vector yet; None where all have theirs.
    """

    bm25: Ranking
    vector: Ranking
    keys: ChunkKeys
    bm25_scores: Scores
    vector_scores: Scores
    queries: Sequence[int] | None = None
    pending: NDArray[np.bool_] | None = None

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Mark the keys whose passages have a vector, (n,)."""
        return np.ones(len(self.keys), dtype=np.bool_) if self.pending is None else ~self.pending


@dataclass(frozen=True, slots=True)
class RetrieverTrace:
    """What one retriever said of a passage.

    `retriever` is `bm25`, `vector`, the name of a retriever of the user's own, or `query 2`, where several queries for
    a question were ranked each for itself. `rank` counts from 1 in the retriever's own list, None where the passage was
    below the retriever's depth and only scored. `raw` is BM25 or cosine, `normalized` what the fusion made of it, and
    `weight · normalized` its part of the score. A passage without a vector has no cosine, and no `raw`: there
    `normalized` is estimated from its words.
    """

    retriever: str
    rank: int | None
    raw: float | None
    normalized: float
    weight: float

    @property
    def part(self) -> float:
        """The retriever's part of the passage's score."""
        return self.weight * self.normalized


@dataclass(frozen=True, slots=True, eq=False)
class RetrieverShare:
    """What one retriever put into a fusion: `weight · values[i]` for the candidate `keys[i]`."""

    retriever: str
    ranking: Ranking
    keys: ChunkKeys
    raw: Scores
    values: Scores
    weight: float
    pending: NDArray[np.bool_] | None = None

    def trace(self, key: int) -> RetrieverTrace:
        """Return what the retriever made of one of the candidates."""
        place = int(self.keys.searchsorted(key))
        listed = np.flatnonzero(self.ranking.keys == key)
        rank = int(listed[0]) + 1 if len(listed) else None
        raw = None if self.pending is not None and self.pending[place] else float(self.raw[place])
        return RetrieverTrace(self.retriever, rank, raw, float(self.values[place]), self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """An order, the share of each retriever in the order of the sum, and the constants behind their values."""

    ranking: Ranking
    shares: tuple[RetrieverShare, ...]
    constants: Mapping[str, float] = field(default_factory=dict)


NOTHING_FOUND: Final = Candidates(
    EMPTY_RANKING, EMPTY_RANKING, EMPTY_RANKING.keys, EMPTY_RANKING.scores, EMPTY_RANKING.scores
)
NOTHING_FUSED: Final = Fused(EMPTY_RANKING, ())


Parts = tuple[tuple[RetrieverShare, ...], Mapping[str, float]]
"""What a method makes of the candidates: the shares to be summed, and the constants behind their values."""


def fuse(found: Candidates, plan: FusionPlan, mode: str = "hybrid") -> Fused:
    """Fuse both retrievers' candidates by the plan's method; `bm25` and `vector` leave the order to one of them.

    Half of a cosine of .8734 and half of BM25 12.456 of at most 17.673 make .7891:

    >>> bm25, vector = Ranking.of([1, 2], [17.673, 12.456]), Ranking.of([2], [0.8734])
    >>> found = Candidates(bm25, vector, np.array([1, 2]), np.array([17.673, 12.456]), np.array([0.1, 0.8734]))
    >>> [(hit.key, round(hit.score, 4)) for hit in fuse(found, FusionPlan("linear", vector_weight=0.5)).ranking]
    [(2, 0.7891), (1, 0.5)]
    """
    if mode != "hybrid":
        return alone(found, mode)
    return summed(*FUSIONS[plan.method](found, plan))


def convex(found: Candidates, plan: FusionPlan) -> Parts:
    """Fuse completed scores; a retriever that found nothing leaves the order to the other."""
    return _convex(found, lambda _words, _meaning: plan.vector_weight)


def adaptive(found: Candidates, plan: FusionPlan) -> Parts:
    """Fuse as `convex`, with the vector weight chosen by how sharply each retriever tells these candidates apart.

    `vector_weight` is what it is where both do alike: `adaptive_weight`.
    """
    usual = plan.vector_weight
    if KERNELS == "numpy" or found.pending is not None or not (len(found.bm25) and len(found.vector)):
        return _convex(found, lambda words, meaning: adaptive_weight(words, meaning, usual))
    check_weight(usual)
    bm25, vector = (np.ascontiguousarray(one, dtype=np.float64) for one in (found.bm25_scores, found.vector_scores))
    words, meaning, (background, vector_max, bm25_max, weight) = convex_values(bm25, vector, usual, SLOPE)
    return _weighed(found, (words, meaning), ConvexConstants(background, vector_max, bm25_max), weight)


def by_rank(found: Candidates, plan: FusionPlan, *, weighted: bool) -> Parts:
    """Fuse by rank alone; first in both is 2/61, fifth in both 2/65, first in one and fifth in the other 1/61 + 1/65.

    Weighted, first in both is 1/61 whatever the weight.
    """
    values = tuple(
        listed_values(found.keys, rank_values(retriever, plan.rrf_k)) for retriever, _, _ in _retrievers(found, plan)
    )
    weights = (1.0 - plan.vector_weight, plan.vector_weight) if weighted else (1.0, 1.0)
    return _shares(found, values, weights), {"k": float(plan.rrf_k)}


def linear(found: Candidates, plan: FusionPlan) -> Parts:
    """Fuse normalized scores: `(1 - w) · bm25 + w · vector`; .4 · .85 + .6 · .92 = .892."""
    return _shares(found, _normal(found, plan), (1.0 - plan.vector_weight, plan.vector_weight)), {}


def additive(found: Candidates, plan: FusionPlan) -> Parts:
    """Add a part of the words to the whole of meaning: `λ · bm25 + vector`; .35 · .5 + .8 = .975."""
    return _shares(found, _normal(found, plan), (plan.bm25_weight, 1.0)), {}


def distribution_based(found: Candidates, plan: FusionPlan) -> Parts:
    """Fuse scores placed between three deviations about their retriever's mean, with equal weights."""
    values = tuple(
        listed_values(found.keys, Ranking(retriever.keys, dbsf(retriever.scores)))
        for retriever, _, _ in _retrievers(found, plan)
    )
    return _shares(found, values, (1.0, 1.0)), {}


def log_odds(found: Candidates, plan: FusionPlan) -> Parts:
    """Pool normalized scores as probabilities, `Σ ln(p / (1 - p))`; a retriever without the passage says p = 1/2.

    Odds multiply: .8 and .6 are 4 · 1.5 = 6, and ln 6 = 1.791759. Source: the logarithmic opinion pool, Genest and
    Zidek, "Combining Probability Distributions", 1986.
    """
    values = tuple(
        listed_values(found.keys, Ranking(retriever.keys, logit(retriever.scores)))
        for retriever in _normal_listed(found, plan)
    )
    return _shares(found, values, (1.0, 1.0)), {}


def alone(found: Candidates, retriever: str) -> Fused:
    """Leave the order to one retriever: its score as it is."""
    ranking, raw = (found.bm25, found.bm25_scores) if retriever == BM25 else (found.vector, found.vector_scores)
    return Fused(ranking, (RetrieverShare(retriever, ranking, found.keys, raw, raw, 1.0),))


def by_ranks(
    named: Sequence[tuple[str, Ranking]], k: float = RANK_CONSTANT, below: Sequence[RetrieverShare] = ()
) -> Fused:
    """Fuse any number of orders by rank, each under its name; shares `below` are shown and weigh nothing.

    >>> one, other = Ranking.of([1, 2], [3.0, 2.0]), Ranking.of([2], [0.5])
    >>> [(hit.key, round(hit.score, 6)) for hit in by_ranks([("one", one), ("other", other)]).ranking]
    [(2, 0.032522), (1, 0.016393)]
    """
    keys = union([ranking.keys for _, ranking in named])
    shares = tuple(
        RetrieverShare(name, one, keys, listed_values(keys, one), listed_values(keys, rank_values(one, k)), 1.0)
        for name, one in named
    )
    return summed((*shares, *(_weightless(share, keys) for share in below)), {"k": float(k)})


def summed(shares: tuple[RetrieverShare, ...], constants: Mapping[str, float]) -> Fused:
    """Add the shares up, from the first retriever to the last: here fused scores are computed, by every method."""
    total = 0.0 + shares[0].weight * shares[0].values
    for share in shares[1:]:
        total += share.weight * share.values
    return Fused(Ranking(*falling(shares[0].keys, total)), shares, constants)


def best_of(rankings: Sequence[Ranking]) -> Ranking:
    """Keep each key's best score, for several queries of one question and one retriever.

    >>> [(hit.key, hit.score) for hit in best_of([Ranking.of([1, 2], [3.0, 1.0]), Ranking.of([2], [2.0])])]
    [(1, 3.0), (2, 2.0)]
    """
    if not rankings:
        return EMPTY_RANKING
    keys = union([ranking.keys for ranking in rankings])
    best = np.full(len(keys), -np.inf)
    for ranking in rankings:
        places = keys.searchsorted(ranking.keys)
        best[places] = np.maximum(best[places], ranking.scores)
    return Ranking.of(keys, best)


def rank_values(ranking: Ranking, k: float = RANK_CONSTANT) -> Ranking:
    """Put `1 / (k + rank)` in the place of each score, ranks from 1; k ≥ 0."""
    return Ranking(ranking.keys, 1.0 / (k + np.arange(1.0, len(ranking) + 1.0)))


def listed_values(keys: ChunkKeys, listed: Ranking) -> Scores:
    """Return the value of each of some rising keys, 0 for one that is not listed."""
    values = np.zeros(len(keys), dtype=np.float64)
    values[keys.searchsorted(listed.keys)] = listed.scores
    return values


def union(some: Sequence[ChunkKeys]) -> ChunkKeys:
    """Return the keys of all, rising; `numpy.union1d` would load numpy's masked arrays, 10 ms in a cold process."""
    return union_of(tuple(some))


# Completed scores


@dataclass(frozen=True, slots=True)
class ConvexConstants:
    """What one question's scores are measured by; `background < vector_max` and `0 < bm25_max` hold always.

    `background` is the cosine that counts as unrelated, `vector_max` and `bm25_max` the best cosine and BM25 score.
    """

    background: float
    vector_max: float
    bm25_max: float


def convex_constants(bm25: Scores, vector: Scores) -> ConvexConstants:
    """Find the constants of one question from the completed scores of its candidates, (n,) each, in step.

    The background is the least cosine of n candidates, drawn towards 0 as if ten unrelated passages of cosine 0 had
    been seen too, `least · n / (n + 10)`. A hundred candidates move it by a tenth; two, whose least cosine says
    nothing, by five sixths, so that in a small collection a small difference of cosines does not outweigh the words.

    Cosines that are all 0 or less count as 1.0 at the best, and BM25 scores that are all 0 as 0.0: such a retriever
    leaves the order to the other.

    >>> convex_constants(np.array([3.0, 0.0]), np.array([0.75, 0.375]))
    ConvexConstants(background=0.0625, vector_max=0.75, bm25_max=3.0)
    """
    vector_max = float(np.max(vector)) if len(vector) else 1.0
    low = float(np.min(vector)) if len(vector) else 0.0
    low = min(low, low * len(vector) / (len(vector) + UNRELATED_SEEN))
    if not low < vector_max:
        low = vector_max - 1.0
    bm25_max = float(np.max(bm25, initial=0.0))
    return ConvexConstants(low, vector_max, bm25_max if bm25_max > 0.0 else 1.0)


def bm25_value(bm25: Scores, constants: ConvexConstants) -> Scores:
    """Normalize BM25 scores: `s / bm25_max`, in [0, 1].

    >>> bm25_value(np.array([12.456]), ConvexConstants(0.4, 0.8, 17.673)).round(4).tolist()
    [0.7048]
    """
    return np.asarray(bm25, dtype=np.float64) / constants.bm25_max


def vector_value(vector: Scores, constants: ConvexConstants) -> Scores:
    """Normalize cosines: `(s - background) / (vector_max - background)`, at most 1.

    >>> vector_value(np.array([0.8, 0.5, 0.3]), ConvexConstants(0.4, 0.8, 17.673)).round(4).tolist()
    [1.0, 0.25, -0.25]
    """
    return (np.asarray(vector, dtype=np.float64) - constants.background) / (constants.vector_max - constants.background)


def _convex(found: Candidates, weigh: Callable[[Scores, Scores], float]) -> Parts:
    """Fuse completed scores; `weigh` returns the vector weight from both retrievers' values, if both found something.

    With w = .6, BM25 6 of at most 12 and a cosine of .7 between .4 and .8: .4 · .5 + .6 · .75 = .65.
    """
    embedded = found.embedded
    constants = convex_constants(found.bm25_scores, found.vector_scores[embedded])
    words = bm25_value(found.bm25_scores, constants)
    meaning = vector_value(found.vector_scores, constants)
    both = len(found.bm25) and len(found.vector)
    weight = weigh(words[embedded], meaning[embedded]) if both else float(len(found.vector) > 0)
    return _weighed(found, (words, meaning), constants, weight)


def _weighed(found: Candidates, values: tuple[Scores, Scores], constants: ConvexConstants, weight: float) -> Parts:
    covered = weight * coverage(found)
    shown = {
        "vector_weight": covered,
        "background": constants.background,
        "vector_max": constants.vector_max,
        "bm25_max": constants.bm25_max,
    }
    return _shares(found, values, (1.0 - covered, weight)), shown


def coverage(found: Candidates) -> float:
    """Return the share of BM25's candidates that have a vector: how far the vector search saw what words found."""
    if found.pending is None or not len(found.bm25):
        return 1.0
    return float(found.embedded[found.keys.searchsorted(found.bm25.keys)].mean())


def estimated(bm25: Scores, vector: Scores, embedded: NDArray[np.bool_]) -> Scores:
    """Estimate each candidate's value of meaning from that of its words, (n,) each.

    The line of least squares through the candidates that have a vector, which never falls; where their words are all
    alike their mean, and where none has a vector the words' own values, so that the order is BM25's.

    Values of words 0, .5 and 1 and of meaning .2, .4 and .6 are on the line .2 + .4 · words:

    >>> values = np.array([0.0, 0.5, 1.0, 0.75]), np.array([0.2, 0.4, 0.6, 0.0])
    >>> estimated(*values, np.array([True, True, True, False])).round(4).tolist()
    [0.2, 0.4, 0.6, 0.5]
    """
    if not embedded.any():
        return bm25
    words, meaning = bm25[embedded], vector[embedded]
    apart = words - words.mean()
    spread = float(apart @ apart)
    slope = max(float(apart @ (meaning - meaning.mean())) / spread, 0.0) if spread > 0.0 else 0.0
    line: Scores = meaning.mean() + slope * (bm25 - words.mean())
    return line


Method = Callable[[Candidates, FusionPlan], Parts]

FUSIONS: Mapping[str, Method] = MappingProxyType(
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


def check(plan: FusionPlan) -> None:
    """Raise InvalidInputError for a method, a normalizer or a weight that there cannot be."""
    if plan.method not in FUSIONS:
        raise InvalidInputError(f"There is no fusion {plan.method!r}.", f"Use one of {', '.join(FUSIONS)}.")
    for name in (plan.bm25_norm, plan.vector_norm):
        if name not in NORMALIZERS:
            raise InvalidInputError(f"There is no normalization {name!r}.", f"Use one of {', '.join(NORMALIZERS)}.")
    if not 0.0 <= plan.vector_weight <= 1.0:
        raise InvalidInputError(f"The vector weight must be from 0 to 1, not {plan.vector_weight}.", "Try 0.6.")
    for what, value in (("BM25 weight", plan.bm25_weight), ("rank constant", plan.rrf_k)):
        if not 0.0 <= value < np.inf:
            raise InvalidInputError(f"The {what} must be finite and at least 0, not {value}.", "See docs/settings.md.")


def _retrievers(found: Candidates, plan: FusionPlan) -> tuple[tuple[Ranking, str, str], ...]:
    return (found.bm25, BM25, plan.bm25_norm), (found.vector, VECTOR, plan.vector_norm)


def _normal_listed(found: Candidates, plan: FusionPlan) -> tuple[Ranking, ...]:
    """Return each retriever's list with normalized scores."""
    return tuple(
        Ranking(retriever.keys, normalizer(norm, LOWEST[name])(retriever.scores))
        for retriever, name, norm in _retrievers(found, plan)
    )


def _normal(found: Candidates, plan: FusionPlan) -> tuple[Scores, ...]:
    return tuple(listed_values(found.keys, listed) for listed in _normal_listed(found, plan))


def _shares(found: Candidates, values: Sequence[Scores], weights: tuple[float, float]) -> tuple[RetrieverShare, ...]:
    """Return both shares; candidates without a vector get an estimate, and meaning the weight that vectors cover."""
    bm25, vector = values
    weight = weights[1]
    if found.pending is not None and found.pending.any():
        vector = np.where(found.pending, estimated(bm25, vector, found.embedded), vector)
        weight *= coverage(found)
    return (
        RetrieverShare(BM25, found.bm25, found.keys, found.bm25_scores, bm25, weights[0]),
        RetrieverShare(VECTOR, found.vector, found.keys, found.vector_scores, vector, weight, found.pending),
    )


def _weightless(share: RetrieverShare, keys: ChunkKeys) -> RetrieverShare:
    """Show a retriever's share among more keys; it no longer weighs anything."""
    raw, values = np.zeros(len(keys)), np.zeros(len(keys))
    places = keys.searchsorted(share.keys)
    raw[places], values[places] = share.raw, share.values
    pending = None
    if share.pending is not None:
        pending = np.zeros(len(keys), dtype=np.bool_)
        pending[places] = share.pending
    return RetrieverShare(share.retriever, share.ranking, keys, raw, values, 0.0, pending)
