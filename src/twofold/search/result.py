"""What a search hands back, with enough to recompute every score that it shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, Self

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Metadata, Scalar, TermScore, shortened
from twofold.domain.warning import StageWarning, is_degraded
from twofold.ranking.boost import BoostStep
from twofold.ranking.context_window import Joined
from twofold.ranking.fusion import RetrieverTrace
from twofold.ranking.metadata_boost import MetadataStep
from twofold.ranking.rescoring import RecencyStep, ScoreStep
from twofold.search.deferred import Deferred


@dataclass(frozen=True, slots=True)
class RerankTrace:
    """What reranking made of a passage: `final = (1 - weight) · fused_normalized + weight · relevance`.

    `rank` and `fused` are its place and its score before. `raw` is on the reranker's own scale and `relevance` in
    [0, 1]; both are None for a passage that was not read, whose weight is 0. `fused_normalized` says where it lies
    between the least (0) and the greatest (1) of those that were read; one that was not lies beneath.
    """

    rank: int
    fused: float
    fused_normalized: float
    raw: float | None
    relevance: float | None
    weight: float

    @property
    def final(self) -> float:
        """The passage's score."""
        if self.relevance is None:
            return self.fused_normalized
        return (1.0 - self.weight) * self.fused_normalized + self.weight * self.relevance

    def apply(self, score: float) -> float:
        """Return the score that the stage left; what stood before is in `fused`, and must be `score`."""
        return self.final if score == self.fused else float("nan")


@dataclass(frozen=True, slots=True)
class Step:
    """One stage's change of a passage's score: `after == detail.apply(before)`, exactly."""

    stage: str
    before: float
    after: float
    detail: BoostStep | RerankTrace | MetadataStep | ScoreStep | RecencyStep


@dataclass(frozen=True, slots=True)
class HitTrace:
    """Where a passage's score came from: the retrievers' parts added up from the left, then each step in turn.

    `terms` add up to the BM25 retriever's `raw`, from the left; they are of the query number
    `query_index`.
    """

    retrievers: tuple[RetrieverTrace, ...]
    terms: tuple[TermScore, ...] = ()
    steps: tuple[Step, ...] = ()
    query_index: int = 0

    @property
    def bm25(self) -> RetrieverTrace | None:
        """What BM25 found, None where it was not used."""
        return self.retriever("bm25")

    @property
    def vector(self) -> RetrieverTrace | None:
        """What vector search found, None where it was not used."""
        return self.retriever("vector")

    @property
    def rerank(self) -> RerankTrace | None:
        """What the reranker said, None where nothing was reranked."""
        return next((step.detail for step in self.steps if isinstance(step.detail, RerankTrace)), None)

    def retriever(self, name: str) -> RetrieverTrace | None:
        """Return what one retriever said, None where it was not asked."""
        return next((one for one in self.retrievers if one.retriever == name), None)

    def recompute_score(self) -> float:
        """Recompute the passage's score, bit for bit."""
        score = self.fused()
        for step in self.steps:
            score = step.detail.apply(score)
        return score

    def fused(self) -> float:
        """Recompute the fused score."""
        total = 0.0
        for retriever in self.retrievers:
            total += retriever.part
        return total


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A passage before or after one that was found, in the same document."""

    ordinal: int
    start: int
    end: int
    text: str
    page: int | None = None
    place: str = ""
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A passage's neighbors in reading order, itself left out, and all of it joined."""

    context: tuple[Neighbor, ...] = ()
    joined: Joined | None = None


@dataclass(frozen=True)
class Hit(Deferred):
    """One line of a search's answer. `document_text[start:end] == text`; `score` orders and says nothing else.

    `metadata` is the document's with the passage's own. `context` are its neighbors in reading order and `joined` all
    of it as one text, where the search was asked to expand. `collection` is empty unless several were searched.
    `header` is the header row of the table that the passage is a later part of. `more` counts the further passages of
    its document that were found, where only the best of each document is shown. Where a search sorts or pins, ranks
    follow that and not the score. `highlights` are where in `text` the question's words stand, synonyms and what
    patterns stand for among them: (start, end) in characters, rising, apart.
    """

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
    metadata: Metadata = field(default_factory=dict)
    context: tuple[Neighbor, ...] = ()
    joined: Joined | None = None
    collection: str = ""
    header: str = ""
    more: int = 0
    highlights: tuple[tuple[int, int], ...] = field(default_factory=tuple)  # made when read: no value of the class

    def __repr__(self) -> str:
        return f"Hit({self.rank}, {self.score:.4f}, {self.source!r}, {shortened(self.text)!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return one flat row of plain values, for JSON or a table.

        Its keys: rank, score, source, title, document, chunk_id, page, place, heading, start, end, text, collection,
        and one key `metadata.NAME` for each field. Headings, outermost first, and several values of a field are lists.
        """
        names = ("rank", "score", "source", "title", "document", "chunk_id", "page", "place")
        row = {name: getattr(self, name) for name in names}
        row |= {"heading": list(self.heading), "start": self.start, "end": self.end, "text": self.text}
        row["collection"] = self.collection
        plain = {name: list(one) if isinstance(one, tuple) else one for name, one in self.metadata.items()}
        return row | {f"metadata.{name}": one for name, one in plain.items()}


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
    """What a filter after fusion did: `kept` of `candidates` passages."""

    candidates: int
    kept: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How many passages there were at three moments: fused, after a late filter, in the answer.

    `total` is how many hits all pages have together: passages, or documents where one hit stands for each. Limits of
    diversity beyond the pages seen so far are not in it.
    """

    retrieved: int
    after_filter: int
    returned: int
    total: int = 0


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """A phrase of the question that was read as a filter; see docs/results.md."""

    phrase: str
    filter: str


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a field, or one range of values, and how many documents have it; `filter` lets only these pass."""

    value: Scalar
    count: int
    filter: str


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one field among all `documents` that match: see docs/results.md for what matches.

    `values` come by falling count, ranges in their order. `further` counts the values that are left out, `missing` the
    documents that have none. A document with two values counts for both.
    """

    field: str
    values: tuple[FacetValue, ...]
    documents: int
    further: int = 0
    missing: int = 0


def joined_facets(facets: Sequence[tuple[Facet, ...]]) -> tuple[Facet, ...]:
    """Add up facets that several indexes counted, each by the same fields; documents are of one index alone."""
    joined = []
    for same in zip(*facets, strict=True):
        counts: dict[str, FacetValue] = {}
        for one in (value for facet in same for value in facet.values):
            known = counts.get(one.filter)
            counts[one.filter] = one if known is None else replace(one, count=known.count + one.count)
        values = tuple(sorted(counts.values(), key=lambda one: -one.count))
        sums = (sum(one.documents for one in same), max(one.further for one in same), sum(one.missing for one in same))
        joined.append(Facet(same[0].field, values, *sums))
    return tuple(joined)


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage: how many passages it was given, how many it left, what it decided, in words, and how long it took.

    `terms` are those that the stage found in the question (`parse`) or added to it (`prf_dense`, `prf`).
    """

    name: str
    candidates_in: int
    candidates_out: int
    milliseconds: float = 0.0
    notes: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


SHOWN = 5
"""How many of the added terms a trace names."""

_SAID: dict[str, Callable[[Sequence[str]], str]] = {
    "parse": lambda terms: f"terms {', '.join(terms)}" if terms else "no terms",
    "prf_dense": lambda terms: f"terms added: {', '.join(terms)}" if terms else "no new term",
    "prf": lambda terms: f"{len(terms)} terms added: {', '.join(terms[:SHOWN])}{', …' * (len(terms) > SHOWN)}",
}


def of_terms(name: str, given: int, left: int, terms: Sequence[str]) -> StageTrace:
    """Return the trace of a stage that is about terms: `parse`, `prf_dense` or `prf`."""
    return StageTrace(name, given, left, notes=(_SAID[name](terms),), terms=tuple(terms))


def with_notes(trace: StageTrace, notes: Sequence[str]) -> StageTrace:
    """Return a trace with more notes behind its own."""
    return replace(trace, notes=(*trace.notes, *notes)) if notes else trace


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened to a question, in order; `hits` are the traces of the passages shown."""

    stages: tuple[StageTrace, ...]
    counts: Counts
    hits: tuple[HitTrace, ...]

    def recompute_scores(self) -> tuple[float, ...]:
        """Recompute the score of each passage shown, exactly."""
        return tuple(hit.recompute_score() for hit in self.hits)


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Whether a result was kept from an earlier question.

    `kind` is `exact` for the same question and `semantic` for one whose vector has the `cosine` with it; `age_s` is how
    many seconds ago that was. All three are None without a `hit`.
    """

    hit: bool = False
    kind: Literal["exact", "semantic"] | None = None
    age_s: float | None = None
    cosine: float | None = None


def hit_of(age_s: float, cosine: float | None = None) -> CacheInfo:
    """Return what is said of a result that was kept."""
    return CacheInfo(True, "exact" if cosine is None else "semantic", age_s, cosine)


@dataclass(frozen=True)
class SearchResult(Deferred):
    """What a search found.

    `mode` is what was done; `degraded` says that it is less than what was asked for, and `warnings` why. `fusion` says
    how scores were made: the form's name, or the mode's where one retriever was alone. `constants` are what the
    question's scores were normalized by; `timings_ms` gives each step and `total`. `rerank` is None where nothing was
    reranked, `filtered` where no filter acted after the cut. `queries` are the question and what else was asked.
    `confidence` is in [0.5, 1] and the calibrated `p_answerable` in [0, 1]; None says that nothing can be
    said. `generation` counts the changes of the index, 0 for who may not read all of it. `facets` are counts over all
    that matches, where they were asked for; `extracted` are phrases of the question that were read as filters;
    `next_cursor` leads to the next page where the search was asked with a cursor. `did_you_mean` is the question with
    words that the index does not know spelt as near ones that it knows, or empty. Hits and stages are made when they
    are first read, as are the traces and fields of hits.
    """

    query: str
    mode: str
    fusion: str
    hits: tuple[Hit, ...]
    constants: Mapping[str, float]
    timings_ms: Mapping[str, float]
    degraded: bool = False
    warnings: tuple[StageWarning, ...] = ()
    rerank: RerankSummary | None = None
    filtered: FilterSummary | None = None
    stages: tuple[StageTrace, ...] = field(default_factory=tuple)
    counts: Counts = field(default_factory=lambda: Counts(0, 0, 0))
    queries: tuple[str, ...] = ()
    confidence: float | None = None
    p_answerable: float | None = None
    profile: str = ""
    cache: CacheInfo = CacheInfo()
    generation: int = 0
    facets: tuple[Facet, ...] = ()
    next_cursor: str = ""
    did_you_mean: str = ""
    extracted: tuple[QuestionFilter, ...] = ()

    def __repr__(self) -> str:
        count = "1 hit" if len(self.hits) == 1 else f"{len(self.hits)} hits"
        return f"SearchResult({shortened(self.query)!r}, {self.mode!r}, {count})"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the passages as flat rows of plain values, best first; see `Hit.to_dict` for the keys."""
        return [hit.to_dict() for hit in self.hits]

    def with_warnings(self, warnings: Iterable[StageWarning]) -> Self:
        """Return the same result with other warnings."""
        told = tuple(warnings)
        return replace(self, degraded=is_degraded(told), warnings=told)

    @property
    def trace(self) -> Trace:
        """Everything that happened to the question, as one object."""
        return Trace(self.stages, self.counts, tuple(hit.trace for hit in self.hits))
