"""What the stages of a search hand on: one frozen state, and the passages themselves, each fetched once."""

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import TracebackType

from twofold.domain.dataclass import dataclass, replace
from twofold.domain.filters import fields_of
from twofold.domain.ports import FetchedPassage, Snapshot
from twofold.domain.types import EMPTY_RANKING, Chunk, DocumentInfo, Metadata, Ranking, TermQuery, TermTable
from twofold.domain.warning import StageWarning
from twofold.query.history import Turn
from twofold.ranking.diversify import Dropped
from twofold.ranking.fusion import NOTHING_FOUND, NOTHING_FUSED, Candidates, Fused
from twofold.search.components import SearchComponents
from twofold.search.plan import SearchPlan
from twofold.search.request import NOT_ENCODED, NOT_PARSED, EncodedQuery, ParsedRequest, QueryVariant
from twofold.search.result import ContextWindow, Facet, FilterSummary, RerankSummary, StageTrace, Step


class Stopwatch:
    """Measures the steps of one search in milliseconds."""

    __slots__ = ("_started", "steps")

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.steps: dict[str, float] = {}

    def step(self, name: str) -> "_Step":
        """Measure a step; a step entered twice adds up."""
        return _Step(self.steps, name)

    def elapsed(self) -> float:
        """Return the time since the search began."""
        return (time.perf_counter() - self._started) * 1e3

    def share(self, count: int) -> "Stopwatch":
        """Go on with one of several questions, which has an equal share of the time that went into all of them."""
        if count == 1:
            return self
        own = Stopwatch()
        own.steps = {name: spent / count for name, spent in self.steps.items()}
        own._started -= sum(own.steps.values()) / 1e3  # its own kind
        return own

    def total(self) -> Mapping[str, float]:
        """Return all steps, and the time since the search began."""
        return {**self.steps, "total": self.elapsed()}


class _Step:
    """One step while it is measured."""

    __slots__ = ("_name", "_started", "_steps")

    def __init__(self, steps: dict[str, float], name: str) -> None:
        self._steps = steps
        self._name = name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        spent = (time.perf_counter() - self._started) * 1e3
        self._steps[self._name] = self._steps.get(self._name, 0.0) + spent


class Passages:
    """The passages of one snapshot by key, each fetched once for all the stages that look at it."""

    __slots__ = ("_chunks", "_infos", "_view")

    def __init__(self, view: Snapshot | None = None) -> None:
        self._view = view
        self._chunks: dict[int, Chunk] = {}
        self._infos: dict[str, DocumentInfo] = {}

    @property
    def view(self) -> Snapshot:
        """The one snapshot that a search sees. Raises RuntimeError before it is opened."""
        if self._view is None:
            message = "no snapshot is open yet"
            raise RuntimeError(message)
        return self._view

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages, in the order asked."""
        missing = [key for key in keys if key not in self._chunks]
        if missing:
            self._chunks.update(zip(missing, self.view.chunks(missing), strict=True))
        return [self._chunks[key] for key in keys]

    def texts(self, keys: Sequence[int]) -> Sequence[str]:
        """Return what both retrievers see of some passages."""
        return [chunk.indexed_text for chunk in self.chunks(keys)]

    def infos(self, keys: Sequence[int]) -> Sequence[DocumentInfo]:
        """Describe the documents that some passages are of."""
        documents = [chunk.document for chunk in self.chunks(keys)]
        missing = [name for name in dict.fromkeys(documents) if name not in self._infos]
        if missing:
            self._infos.update(self.view.describe(missing))
        return [self._infos[name] for name in documents]

    def fields(self, keys: Sequence[int]) -> Sequence[Metadata]:
        """Return what filters and rules may look at: the document's fields with the passage's own."""
        pairs = zip(self.infos(keys), self.chunks(keys), strict=True)
        return [fields_of(info, chunk) for info, chunk in pairs]


@dataclass(frozen=True, slots=True, eq=False)
class Retrieved:
    """One order of all that was found.

    `found` is what the retrievers gave for the question as it was asked. `asked` are the queries in the order that
    `found.queries` counts, the first of them expanded where `prf` acted, for which scores are explained.
    """

    fused: Fused = NOTHING_FUSED
    found: Candidates = NOTHING_FOUND
    asked: tuple[QueryVariant, ...] = ()

    def terms_of(self, key: int) -> tuple[int, TermQuery | None]:
        """Return which query a passage's BM25 score is of, and its terms; none for what only a plugin found."""
        found = self.found
        place = bisect_left(found.keys, key)  # numpy would let go of the interpreter's lock
        if place == len(found.keys) or found.keys[place] != key:
            return 0, None
        number = 0 if found.queries is None else int(found.queries[place])
        return number, self.asked[number].terms if self.asked else None


@dataclass(frozen=True, slots=True, eq=False)
class Fetched:
    """What the result needs of the snapshot, read in it once; nothing here needs it any more.

    `passages` are the best, in order, `facets` counts over all that matches, and `windows` their neighbors where the
    search was asked to expand. `tables` hold what each query's terms add to the scores of `table_keys`, by the query's
    number.
    """

    passages: Sequence[FetchedPassage] = ()
    windows: Sequence[ContextWindow] = ()
    tables: Mapping[int, TermTable] = field(default_factory=dict)
    table_keys: Mapping[int, Sequence[int]] = field(default_factory=dict)
    p_answerable: float | None = None
    generation: int = 0
    facets: tuple[Facet, ...] = ()
    did_you_mean: str = ""


@dataclass(frozen=True, eq=False)  # without slots, so that `replace` copies one dictionary
class PipelineState:
    """A search after a stage.

    `request` is the question taken apart, `query` what the retrievers get, `retrieved` what they gave, `ranking` how
    the candidates stand. `steps` say by key what the stages did to a score, `passed` what order each stage left, for
    who asks where a passage was lost. `unseen` counts candidates that diversity did not come to, `more` by key the
    further passages of a collapsed document.
    """

    parts: SearchComponents
    plan: SearchPlan
    question: str = ""
    history: Sequence[Turn] = ()
    watch: Stopwatch = field(default_factory=Stopwatch)
    request: ParsedRequest = NOT_PARSED
    query: EncodedQuery = NOT_ENCODED
    passages: Passages = field(default_factory=Passages)
    retrieved: Retrieved = field(default_factory=Retrieved)
    ranking: Ranking = field(default_factory=lambda: EMPTY_RANKING)
    steps: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    stages: tuple[StageTrace, ...] = ()
    passed: tuple[tuple[str, Ranking], ...] = ()
    warnings: tuple[StageWarning, ...] = ()
    rerank: RerankSummary | None = None
    filtered: FilterSummary | None = None
    fetched: Fetched = field(default_factory=Fetched)
    dropped: tuple[Dropped, ...] = ()
    unseen: int = 0
    more: Mapping[int, int] = field(default_factory=dict)

    def after(
        self,
        stage: str,
        ranking: Ranking,
        *,
        steps: Mapping[int, Step] | None = None,
        decisions: tuple[str, ...] = (),
        milliseconds: float = 0.0,
    ) -> "PipelineState":
        """Return the state after one more stage; `steps` are what it did to the score of each passage it changed."""
        changed = self.steps
        if steps:
            changed = {**self.steps, **{key: (*self.steps.get(key, ()), step) for key, step in steps.items()}}
        trace = StageTrace(stage, len(self.ranking), len(ranking), milliseconds, decisions)
        return replace(
            self,
            ranking=ranking,
            steps=changed,
            stages=(*self.stages, trace),
            passed=(*self.passed, (stage, ranking)),
        )


Stage = Callable[[PipelineState], PipelineState]
"""One stage of a search."""
Elapsed = Callable[[], float]
