"""What a search is made with: a store, what embeds and takes apart its questions, and what it may ask besides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from twofold.domain.generators import Generator
from twofold.domain.ports import Embedder, QueryTransformer, Reranker, Retriever, SentencePruner, Store
from twofold.domain.types import TermCounts
from twofold.pipeline.limits import TimedCalls
from twofold.pipeline.memory_watch import MemoryWatch
from twofold.ranking.answerable import Calibration


class Analyser(Protocol):
    """Makes terms of text; see `twofold.lexical.analyze`."""

    def describe(self) -> str:
        """Give canonical text of all that the terms depend on."""

    def counts(self, text: str) -> TermCounts:
        """Count a passage's terms."""

    def query(self, text: str) -> Mapping[str, float]:
        """Weigh a question's terms."""

    def clause_terms(self, text: str) -> tuple[str, ...]:
        """Give the terms that stand for a required or an excluded word."""

    def phrase_terms(self, text: str) -> tuple[str, ...]:
        """Give terms that every passage with this text in it has."""


@dataclass(frozen=True, slots=True, eq=False)
class Aids:
    """What a search may ask beside the store and the embedder; what is absent is left out.

    `rerankers` are tried in order, `generator` writes answers, `rewriter` and `transformers` reword questions,
    `retrievers` find passages by ways of their own, by name. `calls` makes the calls that may be given up,
    `calibrations` say what searches were measured, `memory` watches how much of it is in use. `own` names the parts of
    the user's own that an answer depends on, `pruner` is one of them, `notes` say what no search can have that was
    asked for.
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
    notes: tuple[str, ...] = ()
    memory: MemoryWatch = field(default_factory=MemoryWatch)


@dataclass(frozen=True, slots=True)
class SearchParts:
    """A collection's store and what its questions go through. `aids` are what a search may ask besides."""

    store: Store
    embedder: Embedder
    analyser: Analyser
    aids: Aids = field(default_factory=Aids, kw_only=True)
