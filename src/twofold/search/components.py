"""What a search is made with: a store, what embeds and takes apart its questions, and what it may ask besides."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Protocol

from twofold.domain.dataclass import dataclass
from twofold.domain.generators import Generator
from twofold.domain.ports import Embedder, QueryTransformer, Reranker, Retriever, SentencePruner, Store
from twofold.domain.types import TermCounts
from twofold.domain.warning import StageWarning
from twofold.ranking.answerability import Calibration
from twofold.search.metrics import MemoryWatch
from twofold.search.pending_vectors import PendingVectors
from twofold.search.timeouts import TimedCalls
from twofold.text.analyzer import Token


class Analyzer(Protocol):
    """Makes terms of text; see `twofold.text.analyzer`."""

    def describe(self) -> str:
        """Return canonical text of all that the terms depend on."""

    def counts(self, text: str, language: str = "") -> TermCounts:
        """Count a passage's terms."""

    def query(self, text: str) -> Mapping[str, float]:
        """Weigh a question's terms."""

    def clause_terms(self, text: str) -> tuple[str, ...]:
        """Return the terms that stand for a required or an excluded word."""

    def tokens(self, text: str) -> Iterator[Token]:
        """Return every term of a text with its place."""

    def phrase_terms(self, text: str) -> tuple[str, ...]:
        """Return terms that every passage with this text in it has."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchModels:
    """What a search may ask in addition to the store and the embedder; what is absent is left out.

    `rerankers` are tried in order, `generator` writes answers, `rewriter` and `transformers` reword questions,
    `retrievers` find passages by ways of their own, by name. `calls` makes the calls that may be given up,
    `calibrations` say what searches were measured, `memory` watches how much of it is in use. `own` names the parts of
    the user's own that an answer depends on, `pruner` is one of them, `warnings` say what no search can have that was
    asked for. `pending` hands the vectors that queries make to the writer.
    """

    rerankers: tuple[Reranker, ...] = ()
    generator: Generator | None = None
    rewriter: Generator | None = None
    transformers: tuple[QueryTransformer, ...] = ()
    retrievers: tuple[tuple[str, Retriever], ...] = ()
    calls: TimedCalls = field(default_factory=TimedCalls)
    calibrations: tuple[Calibration, ...] = ()
    own: tuple[str, ...] = ()
    pruner: SentencePruner | None = None
    warnings: tuple[StageWarning, ...] = ()
    memory: MemoryWatch = field(default_factory=MemoryWatch)
    pending: PendingVectors = field(default_factory=PendingVectors)
    reader: Callable[[str], Reranker | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class SearchComponents:
    """A collection's store and what its questions go through. `models` are those it may ask besides the embedder."""

    store: Store
    embedder: Embedder
    analyzer: Analyzer
    models: SearchModels = field(default_factory=SearchModels, kw_only=True)
