"""The parts that sentences are made with: a store and what fills it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from twofold.domain.ports import Chunker, Embedder, Enricher, Recipe, Reranker, Store
from twofold.domain.types import Chunk, Metadata, TermCounts


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


class Enriching(NamedTuple):
    """An enricher, and the name that a recipe knows it by: another name for whatever gives other fields."""

    name: str
    enrich: Enricher


NO_ENRICHING = Enriching("", add_nothing)


@dataclass(frozen=True, slots=True)
class Parts:
    """A collection's store and the four that make its passages.

    `chunking` describes the chunker; `settings` are those that the parts were made with, by name. `reranker` is None
    where nothing is to be reranked.
    """

    store: Store
    embedder: Embedder
    analyser: Analyser
    chunker: Chunker
    chunking: str
    settings: tuple[tuple[str, str], ...] = ()
    reranker: Reranker | None = None
    enriching: Enriching = NO_ENRICHING

    @property
    def recipe(self) -> Recipe:
        """What the derived data depends on."""
        identity, analysing = self.embedder.identity, self.analyser.describe()
        return Recipe(identity, analysing, self.chunking, self.enriching.name, self.settings)
