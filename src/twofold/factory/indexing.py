"""The components that fill a collection, by its settings: chunker, enricher and readers, and those that search it."""

from collections.abc import Callable, Mapping, Sequence

from twofold.config.load import Settings
from twofold.domain.ports import Embedder, Store
from twofold.domain.retry import retried
from twofold.domain.types import Vectors
from twofold.factory.plan import retry_of
from twofold.factory.search import search_components
from twofold.indexing.components import NO_ENRICHING, CustomEnricher, IndexingComponents
from twofold.ingest.chunking import ChunkPlan, Strategy, chunker_for
from twofold.ingest.chunking.plan import MIN_SECTION
from twofold.ingest.enrich import RULES, enrich
from twofold.ingest.readers.types import Limits as ReadingLimits
from twofold.models.catalog.progress import Progress, ignore
from twofold.models.no_embedder import NO_EMBEDDER
from twofold.models.transcribers.recording import recording_readers
from twofold.plugins import OpenPlugins
from twofold.search.components import SearchComponents

FAST_EMBEDDERS = frozenset({"hashing", NO_EMBEDDER})
"""Embedders without a model: a vector that came later would cost more than it saves."""

ENRICHERS: Mapping[str, CustomEnricher] = {
    "rules": CustomEnricher(RULES, enrich),
    "rules+keywords": CustomEnricher(f"{RULES} with keywords", enrich, keywords=True),
    "none": NO_ENRICHING,
}


def indexing_components(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    progress: Callable[[Progress], None] = ignore,
) -> IndexingComponents:
    """Make what fills a store and searches it, without plugins; arguments as for `search_components`."""
    own = OpenPlugins()
    name = settings.embedder if embedder is None else embedder.identity.name
    return filled(search_components(store, settings, embedder, progress, own), settings, name, own)


def filled(searching: SearchComponents, settings: Settings, embedder: str, own: OpenPlugins) -> IndexingComponents:
    """Combine what fills a store with what searches it; `embedder` is the name that a recipe keeps."""
    size = settings.chunk.size
    smallest = min(MIN_SECTION, size // 2)
    plan = ChunkPlan(Strategy(settings.chunk.strategy), size, settings.chunk.overlap, smallest)
    used, retry = searching.embedder, retry_of(settings)
    chunking = own.chunking(settings.plugins.ingest)

    def embed(texts: Sequence[str]) -> Vectors:
        return retried(lambda: used.embed_passages(texts), retry)

    return IndexingComponents(
        store=searching.store,
        embedder=used,
        analyzer=searching.analyzer,
        models=searching.models,
        chunker=chunker_for(plan, used.count_tokens, embed) if chunking is None else chunking.cut,
        chunking=plan.describe() if chunking is None else f"own {chunking.name}",
        enriching=own.enriching or ENRICHERS[settings.enricher],
        settings=(
            ("embedder", embedder),
            ("analyzer", settings.analyzer),
            ("chunk.strategy", settings.chunk.strategy),
            ("chunk.size", str(settings.chunk.size)),
            ("chunk.overlap", str(settings.chunk.overlap)),
            ("chunker", chunking.name if chunking and chunking.name in settings.plugins.ingest else ""),
            ("enricher", settings.enricher),
        ),
        readers=(*own.readers(settings.plugins.ingest), *recording_readers(settings.models)),
        retry=retry,
        batch=settings.batch.embed,
        embeds_at_once=embedder in FAST_EMBEDDERS,
    )


def limits_of(settings: Settings) -> ReadingLimits:
    """Return what reading one file may cost."""
    chosen = settings.limits
    return ReadingLimits(
        file_bytes=chosen.file_bytes,
        archive_ratio=chosen.archive_ratio,
        archive_depth=chosen.archive_depth,
        memory_bytes=chosen.reader_bytes,
        cpu_seconds=chosen.reader_seconds,
    )
