"""Fusing what two arms found, with what is needed to say of each passage where its score came from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from twofold.domain.types import EMPTY_RANKING, ChunkKeys, Ranking, Scores
from twofold.pipeline.results import ArmTrace
from twofold.ranking.convex import convex_constants, convex_score, dense_value, lexical_value
from twofold.ranking.fuse import RANK_CONSTANT, rank_values, reciprocal_rank


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What the arms found: their own lists, and over `keys`, the union of them, the true scores of both, (n,) each."""

    lexical: Ranking
    dense: Ranking
    keys: ChunkKeys
    lexical_scores: Scores
    dense_scores: Scores


@dataclass(frozen=True, slots=True, eq=False)
class ArmShare:
    """What one arm put into a fusion: `weight · values[i]` for the candidate `keys[i]`."""

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
        return [ArmTrace(ranks.get(key), raw, value, self.weight) for key, raw, value in made]


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """An order, the share of each arm (None for one that did not look), and the constants behind their values."""

    ranking: Ranking
    lexical: ArmShare | None
    dense: ArmShare | None
    constants: Mapping[str, float] = field(default_factory=dict)


def convex(found: Candidates, dense_weight: float) -> Fused:
    """Fuse completed scores; an arm that found nothing leaves the order to the other."""
    weight = dense_weight if len(found.lexical) and len(found.dense) else float(len(found.dense) > 0)
    constants = convex_constants(found.lexical_scores, found.dense_scores)
    scores = convex_score(found.lexical_scores, found.dense_scores, constants, weight)
    words = lexical_value(found.lexical_scores, constants)
    meaning = dense_value(found.dense_scores, constants)
    return Fused(
        Ranking.of(found.keys, scores),
        ArmShare(found.lexical, found.keys, found.lexical_scores, words, 1.0 - weight),
        ArmShare(found.dense, found.keys, found.dense_scores, meaning, weight),
        {
            "background": constants.background,
            "dense_max": constants.dense_max,
            "lexical_max": constants.lexical_max,
        },
    )


def reciprocal(found: Candidates, _dense_weight: float) -> Fused:
    """Fuse by rank alone, both arms alike; a passage below an arm's depth gets nothing from that arm."""
    arms = [arm for arm in (found.lexical, found.dense) if len(arm)]
    return Fused(
        reciprocal_rank(arms) if arms else EMPTY_RANKING,
        ArmShare(found.lexical, found.keys, found.lexical_scores, _by_rank(found.keys, found.lexical), 1.0),
        ArmShare(found.dense, found.keys, found.dense_scores, _by_rank(found.keys, found.dense), 1.0),
        {"k": float(RANK_CONSTANT)},
    )


def _by_rank(keys: ChunkKeys, ranking: Ranking) -> Scores:
    values = np.zeros(len(keys), dtype=np.float64)
    values[keys.searchsorted(ranking.keys)] = rank_values(ranking).scores
    return values


def lexical_alone(found: Candidates, _dense_weight: float) -> Fused:
    """Leave the order to BM25."""
    return Fused(
        found.lexical, ArmShare(found.lexical, found.keys, found.lexical_scores, found.lexical_scores, 1.0), None
    )


def dense_alone(found: Candidates, _dense_weight: float) -> Fused:
    """Leave the order to the cosine."""
    return Fused(found.dense, None, ArmShare(found.dense, found.keys, found.dense_scores, found.dense_scores, 1.0))


FUSIONS: Mapping[str, Callable[[Candidates, float], Fused]] = {"convex": convex, "rrf": reciprocal}
ALONE: Mapping[str, Callable[[Candidates, float], Fused]] = {"bm25": lexical_alone, "semantic": dense_alone}
