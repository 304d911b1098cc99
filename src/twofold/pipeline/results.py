"""What a search hands back, with enough beside it to recompute every score that it shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from twofold.domain.types import TermScore


@dataclass(frozen=True, slots=True)
class ArmTrace:
    """What one arm said of a passage.

    `rank` counts from 1 in the arm's own list, None where the passage was below the arm's depth and only scored.
    `raw` is BM25 or cosine, `normalised` what the fusion made of it, and `weight · normalised` its part of the score.
    """

    rank: int | None
    raw: float
    normalised: float
    weight: float

    @property
    def part(self) -> float:
        """The arm's part of the passage's score."""
        return self.weight * self.normalised


@dataclass(frozen=True, slots=True)
class RerankTrace:
    """What reranking made of a passage: `final = (1 - weight) · fused_normalised + weight · relevance`.

    `rank` and `fused` are its place and its score before. `raw` is on the reranker's own scale and `relevance` in
    [0, 1]; both are None for a passage that was not read, whose weight is 0. `fused_normalised` says where it lies
    between the least (0) and the greatest (1) of those that were read; one that was not lies beneath.
    """

    rank: int
    fused: float
    fused_normalised: float
    raw: float | None
    relevance: float | None
    weight: float

    @property
    def final(self) -> float:
        """The passage's score."""
        if self.relevance is None:
            return self.fused_normalised
        return (1.0 - self.weight) * self.fused_normalised + self.weight * self.relevance


@dataclass(frozen=True, slots=True)
class HitTrace:
    """Where a passage's score came from. `terms` add up to the lexical arm's `raw`, from the left.

    `rerank` is None where nothing was reranked.
    """

    lexical: ArmTrace | None
    dense: ArmTrace | None
    terms: tuple[TermScore, ...] = ()
    rerank: RerankTrace | None = None

    def evaluate(self) -> float:
        """Recompute the passage's score: the fused one, or what reranking made of it."""
        return self.fused() if self.rerank is None else self.rerank.final

    def fused(self) -> float:
        """Recompute the fused score: the parts of the arms that spoke, lexical first."""
        total = 0.0
        for arm in (self.lexical, self.dense):
            if arm is not None:
                total += arm.part
        return total


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """One line of a search's answer. `document_text[start:end] == text`; `score` orders and says nothing else."""

    rank: int
    score: float
    source: str
    title: str
    document: str
    chunk_id: str
    page: int | None
    place: str
    heading: tuple[str, ...]
    start: int
    end: int
    text: str
    trace: HitTrace


@dataclass(frozen=True, slots=True)
class RerankSummary:
    """What reranking did: `read` of at most `candidates` passages, and `dropped` those below the threshold.

    `scale` is that of the traces' `raw`. Fewer were read than there were candidates where the time budget ended it.
    """

    model: str
    scale: str
    candidates: int
    read: int
    dropped: int
    weight: float
    threshold: float


@dataclass(frozen=True, slots=True)
class FilterSummary:
    """What a filter after fusion did: `kept` of so many `candidates`."""

    candidates: int
    kept: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search's answer. `mode` is what was done, `degraded` names what could not be done and why.

    `fusion` says how scores were made: `convex`, `rrf`, or the mode's name where one arm was alone. `constants` are
    what the question's scores were normalised by; `timings_ms` gives each step and `total`. `rerank` is None where
    nothing was reranked. `filtered` is None where a filter acted before the cut, or there was none.
    """

    query: str
    mode: str
    fusion: str
    hits: tuple[FoundPassage, ...]
    constants: Mapping[str, float]
    timings_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()
    rerank: RerankSummary | None = None
    filtered: FilterSummary | None = None
