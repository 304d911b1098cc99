"""The one place that names concrete stores and models: settings in, parts out."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.ports import Embedder, Recipe, Store
from twofold.ingest.chunk import ChunkPlan, Strategy, chunker_for
from twofold.ingest.enrich import RULES, enrich
from twofold.lexical.analyze import analyser_for
from twofold.models.deferred import DeferredEmbedder
from twofold.models.opening import identity_of, open_embedder
from twofold.models.opening_rerankers import OpenRerankers, open_reranker
from twofold.models.progress import Progress, ignore
from twofold.pipeline.parts import Enriching, Parts
from twofold.pipeline.rerank import RerankPlan
from twofold.pipeline.search import SearchPlan
from twofold.setting_groups import ChunkSettings, ChunkStrategy
from twofold.settings import Settings
from twofold.stores.local.removal import remove
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore

MEMORY = ":memory:"
BY_RULES = Enriching(RULES, enrich)
INDEX_FOLDER = "indexes"
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
LONGEST_NAME = 64


def folder_of(where: str | Path, home: Path) -> Path:
    """Give the folder of an index: a path is taken as it is, a name lives under `home`.

    Raises InvalidInputError for a name that could be mistaken for anything else than a name.
    """
    if isinstance(where, Path) or where.startswith((".", "~")) or "/" in where:
        return Path(where).expanduser().absolute()
    if not where or len(where) > LONGEST_NAME or not NAME_CHARACTERS.issuperset(where):
        raise InvalidInputError(
            f"{where!r} cannot be the name of an index.",
            "Use up to 64 letters, digits, `.`, `_` and `-`; or give a path that begins with `./`.",
        )
    return home / INDEX_FOLDER / where


def open_store(where: str | Path, settings: Settings, *, create: bool) -> Store:
    """Open the store of an index."""
    if where == MEMORY:
        return MemoryStore()
    folder = folder_of(where, settings.home)
    try:
        return LocalStore(folder, create=create, wait_seconds=settings.writer_wait_seconds)
    except NotFoundError as error:
        raise NotFoundError(
            f"There is no index {str(where)!r}.",
            f"Make it with `twofold sync PATH --index {where}`; `twofold index list` shows those there are.",
        ) from error


def remove_index(where: str | Path, settings: Settings) -> None:
    """Delete an index that is closed, for good."""
    remove(folder_of(where, settings.home), settings.writer_wait_seconds)


def settings_of(settings: Settings, recipe: Recipe | None) -> Settings:
    """Give the settings an index is opened with: its own where the caller left the defaults."""
    if recipe is None:
        return settings
    own, default = dict(recipe.settings), Settings()
    chunk = settings.chunk
    if chunk == default.chunk and "chunk.size" in own:
        strategy = cast("ChunkStrategy", own["chunk.strategy"])  # the chunker refuses any other
        chunk = ChunkSettings(strategy, int(own["chunk.size"]), int(own["chunk.overlap"]))
    return replace(
        settings,
        embedder=own.get("embedder", settings.embedder) if settings.embedder == default.embedder else settings.embedder,
        analyser=own.get("analyser", settings.analyser) if settings.analyser == default.analyser else settings.analyser,
        chunk=chunk,
    )


def plan_of(settings: Settings) -> SearchPlan:
    """Give the search that the settings ask for."""
    chosen = settings.search
    return SearchPlan(
        k=chosen.k,
        mode=chosen.mode,
        depth=chosen.depth,
        fusion=chosen.fusion,
        dense_weight=chosen.dense_weight,
        k1=chosen.k1,
        b=chosen.b,
        rerank=RerankPlan(
            candidates=chosen.rerank_candidates,
            weight=chosen.rerank_weight,
            threshold=chosen.rerank_threshold,
            budget_ms=chosen.budget_ms,
        ),
    )


def make_parts(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    progress: Callable[[Progress], None] = ignore,
    enriching: Enriching = BY_RULES,
) -> Parts:
    """Make what fills a store. A model is loaded when something is to be embedded, and fetched if need be.

    `NO_ENRICHING` adds no fields to passages.
    """
    plan = ChunkPlan(Strategy(settings.chunk.strategy), settings.chunk.size, settings.chunk.overlap)
    used = embedder or _embedder(settings, progress)
    return Parts(
        store=store,
        embedder=used,
        analyser=analyser_for(settings.analyser),
        chunker=chunker_for(plan, used.count_tokens, used.embed_passages),
        chunking=plan.describe(),
        enriching=enriching,
        settings=(
            ("embedder", settings.embedder if embedder is None else embedder.identity.name),
            ("analyser", settings.analyser),
            ("chunk.strategy", settings.chunk.strategy),
            ("chunk.size", str(settings.chunk.size)),
            ("chunk.overlap", str(settings.chunk.overlap)),
            ("enricher", enriching.name),
        ),
    )


def _embedder(settings: Settings, progress: Callable[[Progress], None]) -> Embedder:
    opener = partial(
        open_embedder, settings.embedder, cache=settings.models, offline=settings.offline, progress=progress
    )
    identity = identity_of(settings.embedder)
    return opener() if identity is None else DeferredEmbedder(identity, opener)


def rerankers_for(settings: Settings, progress: Callable[[Progress], None] = ignore) -> OpenRerankers:
    """Make what opens rerankers by name; see `open_reranker`."""
    return OpenRerankers(
        partial(
            open_reranker,
            cache=settings.models,
            max_tokens=settings.search.rerank_tokens,
            offline=settings.offline,
            progress=progress,
        )
    )
