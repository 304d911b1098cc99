"""What fills a collection, by its settings: what cuts, enriches and reads documents, beside what searches them."""

from collections.abc import Callable, Mapping, Sequence

from twofold.compose import retry_of, searching_parts
from twofold.domain.ports import Embedder, Store
from twofold.domain.retry import retried
from twofold.domain.types import Vectors
from twofold.extensions import OpenExtensions
from twofold.ingest.chunk import ChunkPlan, Strategy, chunker_for
from twofold.ingest.chunk.plan import SMALLEST_SECTION
from twofold.ingest.enrich import RULES, enrich
from twofold.ingest.reading import Limits as ReadingLimits
from twofold.models.progress import Progress, ignore
from twofold.pipeline.parts import NO_ENRICHING, Enriching, Parts
from twofold.pipeline.search_parts import SearchParts
from twofold.settings import Settings

ENRICHERS: Mapping[str, Enriching] = {
    "rules": Enriching(RULES, enrich),
    "rules+keywords": Enriching(f"{RULES} with keywords", enrich, keywords=True),
    "none": NO_ENRICHING,
}


def make_parts(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    progress: Callable[[Progress], None] = ignore,
    extensions: OpenExtensions | None = None,
) -> Parts:
    """Make what fills a store and searches it; arguments as for `searching_parts`."""
    own = extensions or OpenExtensions()
    name = settings.embedder if embedder is None else embedder.identity.name
    return filled(searching_parts(store, settings, embedder, progress, own), settings, name, own)


def filled(searching: SearchParts, settings: Settings, embedder: str, own: OpenExtensions) -> Parts:
    """Put what fills a store beside what searches it; `embedder` is the name that a recipe keeps."""
    size = settings.chunk.size
    smallest = min(SMALLEST_SECTION, size // 2)
    plan = ChunkPlan(Strategy(settings.chunk.strategy), size, settings.chunk.overlap, smallest)
    used, retry = searching.embedder, retry_of(settings)
    chunking = own.chunking(settings.sync.extensions)

    def embed(texts: Sequence[str]) -> Vectors:
        return retried(lambda: used.embed_passages(texts), retry)

    return Parts(
        store=searching.store,
        embedder=used,
        analyser=searching.analyser,
        aids=searching.aids,
        chunker=chunker_for(plan, used.count_tokens, embed) if chunking is None else chunking.cut,
        chunking=plan.describe() if chunking is None else f"own {chunking.name}",
        enriching=own.enriching or ENRICHERS[settings.enricher],
        settings=(
            ("embedder", embedder),
            ("analyser", settings.analyser),
            ("chunk.strategy", settings.chunk.strategy),
            ("chunk.size", str(settings.chunk.size)),
            ("chunk.overlap", str(settings.chunk.overlap)),
            ("chunker", chunking.name if chunking and chunking.name in settings.sync.extensions else ""),
            ("enricher", settings.enricher),
        ),
        readers=own.readers(settings.sync.extensions),
        retry=retry,
        batch=settings.batch.embed,
    )


def limits_of(settings: Settings) -> ReadingLimits:
    """Give what reading one file may cost."""
    chosen = settings.sync
    return ReadingLimits(
        file_bytes=chosen.file_bytes,
        archive_ratio=chosen.archive_ratio,
        archive_depth=chosen.archive_depth,
        memory_bytes=chosen.memory_bytes,
        cpu_seconds=chosen.cpu_seconds,
    )
