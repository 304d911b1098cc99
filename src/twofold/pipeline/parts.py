"""The parts that sentences are made with: a store and what fills it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from twofold.domain.generators import Generator
from twofold.domain.ports import (
    Chunker,
    Embedder,
    Enricher,
    QueryTransformer,
    Recipe,
    Reranker,
    Retriever,
    Store,
)
from twofold.domain.types import Chunk, Metadata, TermCounts
from twofold.ingest.own_readers import OwnReader
from twofold.pipeline.limits import TimedCalls
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


def add_nothing(_: Chunk) -> Metadata:
    """Enrich nothing."""
    return {}


@dataclass(frozen=True, slots=True, eq=False)
class Aids:
    """What a search may ask beside the store and the embedder; what is absent is left out.

    `rerankers` are tried in order, `transformers` reword questions, `retrievers` find passages by ways of their own, by
    name. `calls` makes the calls that may be given up, `calibrations` say what searches were measured. `own` names the
    parts of the user's own that an answer depends on.
    """

    rerankers: tuple[Reranker, ...] = ()
    generator: Generator | None = None
    transformers: tuple[QueryTransformer, ...] = ()
    retrievers: tuple[tuple[str, Retriever], ...] = ()
    calls: TimedCalls = field(default_factory=TimedCalls)
    calibrations: tuple[Calibration, ...] = ()
    own: tuple[str, ...] = ()


class Enriching(NamedTuple):
    """An enricher, and the name that a recipe knows it by: another name for whatever gives other fields."""

    name: str
    enrich: Enricher


NO_ENRICHING = Enriching("", add_nothing)


@dataclass(frozen=True, slots=True)
class Parts:
    """A collection's store and the four that make its passages.

    `chunking` describes the chunker; `settings` are those that the parts were made with, by name. `aids` are what a
    search may ask besides. `readers` are the user's own.
    """

    store: Store
    embedder: Embedder
    analyser: Analyser
    chunker: Chunker
    chunking: str
    settings: tuple[tuple[str, str], ...] = ()
    enriching: Enriching = NO_ENRICHING
    aids: Aids = field(default_factory=Aids)
    readers: tuple[OwnReader, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """What the derived data depends on."""
        identity, analysing = self.embedder.identity, self.analyser.describe()
        return Recipe(identity, analysing, self.chunking, self.enriching.name, self.settings)
