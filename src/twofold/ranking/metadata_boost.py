"""Metadata fusion: what enrichment said of a passage, added to what the reranker said. Off while its weights are 0.

    final = alpha · relevance + delta · retrieval_score + min(cap, beta · meta + gamma · type_match)
    meta  = (density + quality + overlap) / 3    each in [0, 1]

The seed that tried it measured no gain, which is why nothing is added unless weights are given.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import MetadataValue, Ranking, Scalar

QUALITIES: Final[Mapping[str, float]] = MappingProxyType({"poor": 0.0, "ok": 0.5, "high": 1.0})
MAX_WEIGHT: Final = 100.0
TAGS: Final = ("domain_tags", "concept_tags", "keywords")


@dataclass(frozen=True, slots=True)
class QueryKind:
    """What a question asks of metadata: its words, in small letters, and the semantic types it wants, if any."""

    words: frozenset[str]
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Features:
    """What a passage's fields come to, each in [0, 1]; a field that is missing, or of another kind, is 0.

    `density` is entities per word, `quality` 0, ½ or 1 for `poor`, `ok` and `high`, `overlap` the share of the
    passage's tags whose words all stand in the question, `type_match` 1 where its semantic type is wanted, `retrieval`
    its retrieval score, which says before any question how much a passage is worth finding.
    """

    density: float = 0.0
    quality: float = 0.0
    overlap: float = 0.0
    type_match: float = 0.0
    retrieval: float = 0.0

    @property
    def meta(self) -> float:
        """The mean of density, quality and overlap."""
        return (self.density + self.quality + self.overlap) / 3.0


@dataclass(frozen=True, slots=True)
class MetadataWeights:
    """How much each part counts, 0 to 100 each; `cap` is the most that metadata may add, in units of relevance.

    `delta` is for the retrieval score, which the cap does not hold back: alpha 0.7 and delta 0.3 make
    0.7 · score + 0.3 · retrieval_score.
    Raises InvalidInputError for a number out of range.
    """

    alpha: float = 1.0
    beta: float = 0.0
    gamma: float = 0.0
    cap: float = 0.15
    delta: float = 0.0

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "gamma", "cap", "delta"):
            value = getattr(self, name)
            if not 0.0 <= value <= MAX_WEIGHT:
                raise InvalidInputError(f"the metadata weight {name} must be from 0 to 100, not {value}.", "Try 0.1.")

    @property
    def is_idle(self) -> bool:
        """Whether these weights leave every score as it is."""
        return self.alpha == 1.0 and self.delta == 0.0 and (self.cap == 0.0 or self.beta == self.gamma == 0.0)


@dataclass(frozen=True, slots=True)
class MetadataStep:
    """What metadata fusion did to one passage."""

    weights: MetadataWeights
    features: Features

    @property
    def bonus(self) -> float:
        """What metadata adds, at most the cap."""
        weights = self.weights
        return min(weights.cap, weights.beta * self.features.meta + weights.gamma * self.features.type_match)

    def apply(self, score: float) -> float:
        """Recompute the score after this step from the one before, to the last bit.

        Density .3, quality 1, overlap ½ have the mean .6; with beta .1 and gamma .05: 0.7 + 0.06 + 0.05.

        >>> step = MetadataStep(MetadataWeights(1.0, 0.1, 0.05), Features(0.3, 1.0, 0.5, 1.0))
        >>> round(step.apply(0.7), 6)
        0.81
        """
        return self.weights.alpha * score + self.weights.delta * self.features.retrieval + self.bonus


def metadata_features(fields: Mapping[str, MetadataValue], asked: QueryKind) -> Features:
    """Read a passage's features; nothing raises.

    >>> held = {"entity_density": 0.3, "chunk_quality": "high", "keywords": ("GDP", "article 370")}
    >>> metadata_features(held, QueryKind(frozenset({"gdp", "growth"})))
    Features(density=0.3, quality=1.0, overlap=0.5, type_match=0.0, retrieval=0.0)
    """
    kinds = {str(value) for value in _values(fields, "semantic_type_primary")}
    return Features(
        _number(fields.get("entity_density")),
        max((QUALITIES.get(str(value).lower(), 0.0) for value in _values(fields, "chunk_quality")), default=0.0),
        _share([str(tag) for name in TAGS for tag in _values(fields, name)], asked.words),
        1.0 if kinds & asked.types else 0.0,
        _number(fields.get("retrieval_score")),
    )


def _number(value: MetadataValue | None) -> float:
    """Return a number held to [0, 1]; 0.0 for anything else."""
    return float(min(1.0, max(0.0, value))) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def with_metadata(ranking: Ranking, steps: Sequence[MetadataStep]) -> Ranking:
    """Apply one step to each line and order again; ties keep the order that they had.

    Where no step has weights the ranking itself comes back.

    >>> weights = MetadataWeights(beta=0.3)
    >>> steps = [MetadataStep(weights, Features()), MetadataStep(weights, Features(quality=1.0))]
    >>> [(hit.key, round(hit.score, 2)) for hit in with_metadata(Ranking.of([1, 2], [0.7, 0.65]), steps)]
    [(2, 0.75), (1, 0.7)]
    """
    if len(steps) != len(ranking):
        message = "there is one step for each line of a ranking"
        raise ValueError(message)
    if all(step.weights.is_idle for step in steps):
        return ranking
    scores = np.array([step.apply(score) for step, score in zip(steps, ranking.scores.tolist(), strict=True)])
    order = np.argsort(-scores, kind="stable")
    return Ranking(ranking.keys[order], scores[order])


def _values(fields: Mapping[str, MetadataValue], name: str) -> tuple[Scalar, ...]:
    held = fields.get(name)
    if held is None:
        return ()
    return held if isinstance(held, tuple) else (held,)


def _share(tags: Sequence[str], words: Collection[str]) -> float:
    """Return the share of distinct tags whose words are all among these; a text may hold several: `gdp, growth`."""
    parts = (part for tag in tags for part in tag.lower().replace(";", ",").split(","))
    distinct = {tuple(part.split()) for part in parts if part.strip()}
    met = sum(1 for tag in distinct if all(word in words for word in tag))
    return met / len(distinct) if distinct else 0.0
