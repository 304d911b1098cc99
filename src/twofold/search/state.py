"""What the stages of a search hand on: how the candidates stand, and the passages themselves, each fetched once."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from twofold.domain.dataclass import dataclass
from twofold.domain.filters import fields_of
from twofold.domain.ports import Snapshot
from twofold.domain.types import Chunk, DocumentInfo, Metadata, Ranking
from twofold.domain.warning import StageWarning
from twofold.search.result import FilterSummary, RerankSummary, StageTrace, Step


class Stopwatch:
    """Measures the steps of one search in milliseconds."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step; a step entered twice adds up."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + (time.perf_counter() - started) * 1e3

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


class Passages:
    """The passages of one view by key, each fetched once for all the stages that look at it."""

    def __init__(self, view: Snapshot) -> None:
        self._view = view
        self._chunks: dict[int, Chunk] = {}
        self._infos: dict[str, DocumentInfo] = {}

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages, in the order asked."""
        missing = [key for key in keys if key not in self._chunks]
        if missing:
            self._chunks.update(zip(missing, self._view.chunks(missing), strict=True))
        return [self._chunks[key] for key in keys]

    def texts(self, keys: Sequence[int]) -> Sequence[str]:
        """Return what both retrievers see of some passages."""
        return [chunk.indexed_text for chunk in self.chunks(keys)]

    def infos(self, keys: Sequence[int]) -> Sequence[DocumentInfo]:
        """Describe the documents that some passages are of."""
        documents = [chunk.document for chunk in self.chunks(keys)]
        missing = [name for name in dict.fromkeys(documents) if name not in self._infos]
        if missing:
            self._infos.update(self._view.describe(missing))
        return [self._infos[name] for name in documents]

    def fields(self, keys: Sequence[int]) -> Sequence[Metadata]:
        """Return what filters and rules may look at: the document's fields with the passage's own."""
        pairs = zip(self.infos(keys), self.chunks(keys), strict=True)
        return [fields_of(info, chunk) for info, chunk in pairs]


@dataclass(frozen=True, slots=True, eq=False)
class PipelineState:
    """How the candidates stand after a stage.

    `steps` say by key what the stages did to a score, `passed` what order each stage left, for who asks where a
    passage was lost.
    """

    ranking: Ranking
    steps: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    stages: tuple[StageTrace, ...] = ()
    passed: tuple[tuple[str, Ranking], ...] = ()
    warnings: tuple[StageWarning, ...] = ()
    rerank: RerankSummary | None = None
    filtered: FilterSummary | None = None

    def after(
        self,
        stage: str,
        ranking: Ranking,
        *,
        steps: Mapping[int, Step] | None = None,
        decisions: tuple[str, ...] = (),
        milliseconds: float = 0.0,
    ) -> "PipelineState":
        """Say how they stand after one more stage; `steps` are what it did to the score of each passage it changed."""
        expand_with_prf = self.steps
        if steps:
            expand_with_prf = {**self.steps, **{key: (*self.steps.get(key, ()), step) for key, step in steps.items()}}
        trace = StageTrace(stage, len(self.ranking), len(ranking), milliseconds, decisions)
        return replace(
            self,
            ranking=ranking,
            steps=expand_with_prf,
            stages=(*self.stages, trace),
            passed=(*self.passed, (stage, ranking)),
        )


Elapsed = Callable[[], float]
