"""The parts that fill a collection, in addition to those that search it: what cuts, enriches and reads documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Chunker, Enricher, IndexFingerprint
from twofold.domain.retry import ONCE, RetryPlan, retried
from twofold.domain.types import Chunk, Metadata, Vectors
from twofold.ingest.readers.custom import CustomReader
from twofold.search.components import SearchComponents

if TYPE_CHECKING:
    from twofold.indexing.spread import Spread


def add_nothing(_: Chunk) -> Metadata:
    """Enrich nothing."""
    return {}


class CustomEnricher(NamedTuple):
    """An enricher, and the name that a recipe knows it by: another name for whatever gives other fields.

    With `keywords` a passage's field of that name, its first five values, is part of what words match.
    """

    name: str
    enrich: Enricher
    keywords: bool = False


NO_ENRICHING = CustomEnricher("", add_nothing)


@dataclass(frozen=True, slots=True)
class IndexingComponents(SearchComponents):
    """A collection's store, what searches it, and what makes its passages.

    `chunking` describes the chunker; `settings` are those that the parts were made with, by name. `readers` are the
    user's own. `retry` says how often an embedder that is out of reach is asked again, `batch` how
    many passages it gets at once. `embeds_at_once` is for an embedder that is as fast as storing its vectors.
    `spread` reads and prepares elsewhere.
    """

    chunker: Chunker
    chunking: str
    settings: tuple[tuple[str, str], ...] = ()
    enriching: CustomEnricher = NO_ENRICHING
    readers: tuple[CustomReader, ...] = ()
    retry: RetryPlan = ONCE
    batch: int = 128
    embeds_at_once: bool = False
    spread: "Spread | None" = None

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, asking again as `retry` says. Raises ModelError."""
        return retried(lambda: self.embedder.embed_passages(texts), self.retry)

    @property
    def fingerprint(self) -> IndexFingerprint:
        """What the derived data depends on."""
        identity, analyzing = retried(lambda: self.embedder.identity, self.retry), self.analyzer.describe()
        return IndexFingerprint(identity, analyzing, self.chunking, self.enriching.name, self.settings)
