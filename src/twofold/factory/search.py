"""Settings in, what searches out: stores, models and the engine that asks them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from twofold.config.load import (
    Settings,
    as_text,
    is_explicit,
    merge,
    value_from_text,
    with_models_of,
    with_values,
)
from twofold.config.schema import NO_RESULTS, ResultsSettings
from twofold.config.trust import Ignored, ignored, is_known_embedder
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, MismatchError, ModelError, NotFoundError
from twofold.domain.generators import Generator
from twofold.domain.ports import Embedder, IndexFingerprint, Reranker, Retriever, Store
from twofold.domain.warning import StageWarning, WarningCode
from twofold.factory.places import folder_of, open_in_database
from twofold.factory.plan import cache_plan_of, plan_of, retry_of
from twofold.factory.query_recorder import LogRecorder
from twofold.models.catalog.entries import CATALOG, READER
from twofold.models.catalog.identities import identity_of, members_of, stored_identity
from twofold.models.catalog.progress import Progress, ignore
from twofold.models.embedders.caching import CachingEmbedder
from twofold.models.lazy import LazyEmbedder, RecoveringEmbedder, UnloadedEmbedder, is_loaded
from twofold.models.no_embedder import NO_EMBEDDER, NoEmbedder
from twofold.plugins import NO_PLUGINS, GuardedEmbedder, GuardedReranker, OpenPlugins, Plugins, custom_or_built_in
from twofold.query.any_filter import filter_of
from twofold.ranking.answerability import load_calibrations
from twofold.search.components import SearchComponents, SearchModels
from twofold.search.engine import PLAIN, PreparedQuery, SearchEngine, SearchOptions
from twofold.search.metrics import MemoryWatch
from twofold.search.retrying_generator import RetryingGenerator
from twofold.stores.database_address import is_address
from twofold.stores.local.catalog import is_catalog
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.stores.missing import MissingStore
from twofold.stores.query_log import QueryLog
from twofold.text.analyzers import analyzer_for

if TYPE_CHECKING:
    from twofold.search.result_plan import ResultPlan


class Closing(Protocol):
    """What can be freed."""

    def close(self) -> None:
        """Free it."""


Model = TypeVar("Model", bound=Closing)


class OpenModels(Generic[Model]):
    """Models by what a user writes, each made once; safe to use from several threads."""

    def __init__(self, opener: Callable[[str], Model | None]) -> None:
        self._opener = opener
        self._turn = threading.Lock()
        self._made: dict[str, Model | None] = {}

    def named(self, spec: str) -> Model | None:
        """Return the model that `spec` names, None for `none`. Raises what the opener raises."""
        with self._turn:
            if spec not in self._made:
                self._made[spec] = self._opener(spec)
            return self._made[spec]

    def made(self) -> tuple[Model, ...]:
        """Return those there are, in the order in which they were first asked for."""
        with self._turn:
            return tuple(one for one in self._made.values() if one is not None)

    def close(self) -> None:
        """Free all of them. Calling it twice does nothing more."""
        with self._turn:
            while self._made:
                _, made = self._made.popitem()
                if made is not None:
                    made.close()


class OpenRerankers(OpenModels[Reranker]):
    """Rerankers by what a user writes; see `twofold.models.rerankers.factory`."""

    def loaded(self) -> tuple[str, ...]:
        """Name the models that were opened, in the order in which they were first asked for."""
        return tuple(one.identity.name for one in self.made() if is_loaded(one))


MEMORY = ":memory:"
NONE = "none"
MADE_BY = "the index"
MADE_WITH = ("analyzer", "enricher", "chunk.strategy", "chunk.size", "chunk.overlap")


def open_store(where: str | Path, settings: Settings, *, create: bool) -> Store:
    """Open the store of an index. With `create`, one that is not there is made by the first change."""
    if where == MEMORY:
        return MemoryStore()
    if isinstance(where, str) and is_address(where):
        return open_in_database(where, settings, create=create)
    folder = folder_of(where, settings.home)
    if create and not is_catalog(folder):
        return MissingStore(partial(_open_local, folder, where, settings))
    return _open_local(folder, where, settings, create=create)


def _open_local(folder: Path, where: str | Path, settings: Settings, create: bool) -> Store:  # noqa: FBT001  # a callback's
    try:
        return LocalStore(folder, create=create, wait_seconds=settings.timeouts.write)
    except NotFoundError as error:
        raise NotFoundError(
            f"There is no index {str(where)!r}.",
            f"Make it with `twofold sync PATH --index {where}`; `twofold index list` shows those there are.",
        ) from error


def stored_settings(store: Store) -> tuple[Mapping[str, str], IndexFingerprint | None]:
    """Return an index's own settings and its recipe; nothing of one that is not there yet."""
    try:
        return store.get_settings(), store.fingerprint()
    except NotFoundError:
        return {}, None


def query_log_of(where: str | Path, settings: Settings) -> QueryLog | None:
    """Return the log of the questions that an index was asked; None for an index in memory."""
    return None if where == MEMORY else QueryLog(settings.home, folder_of(where, settings.home), settings.log.max_mb)


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """The settings that an index is opened with, and what of its own it was not given: see `setting_trust`.

    `embedder` stands in for the one that the index was made with where the user did not name that.
    """

    settings: Settings
    ignored: tuple[Ignored, ...] = ()
    embedder: Embedder | None = None

    def check_fillable(self) -> None:
        """Raise MismatchError where a part is missing that documents of this index are made with."""
        for one in self.ignored:
            raise MismatchError(f"Nothing can be added to this index. {one.note}", one.hint)


def effective_settings(
    settings: Settings,
    fingerprint: IndexFingerprint | None,
    embedder: Embedder | None = None,
    plugins: Plugins = NO_PLUGINS,
) -> EffectiveSettings:
    """Return the settings an index is opened with: its own where nobody but a profile said otherwise.

    Of its own it has what `setting_trust` lets through, and parts of the same name that are passed: `embedder` and
    `plugins`. Raises InvalidInputError for a value that is out of range.
    """
    if fingerprint is None:
        return EffectiveSettings(settings)
    own = dict(fingerprint.settings)
    keys = [key for key in MADE_WITH if own.get(key) and not is_explicit(settings, key)]
    if any(is_explicit(settings, key) for key in MADE_WITH if key.startswith("chunk.")):
        keys = [key for key in keys if not key.startswith("chunk.")]  # sizes go together
    kept = with_values(settings, {key: value_from_text(key, own[key], MADE_BY) for key in keys})
    unheard: list[Ignored] = []
    stand_in: Embedder | None = None
    if own.get("embedder") and not is_explicit(settings, "embedder"):
        kept = replace(kept, embedder=own["embedder"])
        if embedder is None and not is_known_embedder(own["embedder"]):
            unheard.append(ignored("embedder", own["embedder"], MADE_BY))
            stand_in = UnloadedEmbedder(fingerprint.embedder, unheard[0].note, unheard[0].hint)
    chunker = own.get("chunker", "")
    if chunker and chunker not in kept.plugins.ingest:
        if plugins.chunker is not None and plugins.chunker.name == chunker:
            kept = replace(kept, plugins=replace(kept.plugins, ingest=(*kept.plugins.ingest, chunker)))
        else:
            unheard.append(ignored("plugins.ingest", as_text((chunker,)), MADE_BY))
    return EffectiveSettings(kept, tuple(unheard), stand_in)


def search_components(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    progress: Callable[[Progress], None] = ignore,
    plugins: OpenPlugins | None = None,
) -> SearchComponents:
    """Make what searches a store. A model is loaded when something is to be embedded, and fetched if need be.

    `plugins` are the user's own parts; none if left out, but for those that the settings name.
    """
    own = plugins or OpenPlugins()
    if embedder is None:
        used = _embedder(store, settings, own, progress)
    else:
        used = embedder if isinstance(embedder, UnloadedEmbedder) else GuardedEmbedder(embedder)
    return SearchComponents(
        store=store,
        embedder=used,
        analyzer=analyzer_for(settings.analyzer),
        models=SearchModels(calibrations=load_calibrations(), memory=MemoryWatch(settings.limits.memory_mb)),
    )


def with_ignored(parts: SearchComponents, notes: Sequence[str]) -> SearchComponents:
    """Return the same parts, which warn with every result of settings that were not followed."""
    ignored = (StageWarning("settings", WarningCode.IGNORED, note) for note in notes)
    return replace(parts, models=replace(parts.models, warnings=(*parts.models.warnings, *ignored)))


def _embedder(store: Store, settings: Settings, own: OpenPlugins, progress: Callable[[Progress], None]) -> Embedder:
    """Return the embedder that the settings name: it recovers when it fails, and remembers questions.

    Nothing is loaded, and no server is asked, before there is something to embed.
    """
    spec = settings.embedder
    try:
        identity = identity_of(spec)
    except NotFoundError:
        found = own.embedder(spec)
        if found is None:
            raise
        return CachingEmbedder(found)
    if identity is None and (held := _recipe_of(store)) is not None:
        identity = stored_identity(spec, held.embedder)
    how: dict[str, Any] = {"cache": settings.models, "offline": settings.offline, "device": settings.device}
    dimensions = 0 if identity is None else identity.dimensions
    opener = partial(_open_embedder, spec, **how, progress=progress, dimensions=dimensions)
    if spec == NO_EMBEDDER:
        return NoEmbedder()
    recovering = RecoveringEmbedder(LazyEmbedder(identity, opener), opener)
    return CachingEmbedder(recovering)


def _recipe_of(store: Store) -> IndexFingerprint | None:
    """Return the recipe that an index was made by; None for one that is empty, or not there yet."""
    try:
        return store.fingerprint()
    except NotFoundError:
        return None


def _open_embedder(spec: str, **how: Any) -> Embedder:  # noqa: ANN401  # what `open_embedder` takes
    from twofold.models.embedders.factory import open_embedder

    return open_embedder(spec, **how)


def _open_reranker(spec: str, **how: Any) -> Reranker | None:  # noqa: ANN401  # what `open_reranker` takes
    """Open a reranker; `none` needs nothing loaded."""
    if spec == NONE:
        return None
    from twofold.models.rerankers.factory import open_reranker

    return open_reranker(spec, **how)


def _open_generator(spec: str, **how: Any) -> Generator | None:  # noqa: ANN401  # what `open_generator` takes
    """Open a generator; `none` needs nothing loaded."""
    if spec == NONE:
        return None
    from twofold.models.generators.factory import open_generator

    return open_generator(spec, **how)


@dataclass(frozen=True, slots=True, eq=False)
class ModelOpeners:
    """What opens models by name, each once; a reranker once for every `rerank.tokens` that is asked for."""

    reranker: Callable[[int], Callable[[str], Reranker | None]]
    generators: OpenModels[Generator]
    plugins: OpenPlugins
    by_tokens: dict[int, OpenRerankers] = field(default_factory=dict)

    def rerankers(self, tokens: int) -> OpenRerankers:
        """Return what opens rerankers that read up to `tokens` of a pair."""
        return self.by_tokens.setdefault(tokens, OpenRerankers(self.reranker(tokens)))

    def loaded(self) -> tuple[str, ...]:
        """Name the rerankers that were opened."""
        return tuple(name for some in list(self.by_tokens.values()) for name in some.loaded())

    def close(self) -> None:
        """Free all that were opened."""
        for some in self.by_tokens.values():
            some.close()
        self.generators.close()
        self.plugins.close()


def model_openers(
    settings: Settings, progress: Callable[[Progress], None] = ignore, plugins: OpenPlugins | None = None
) -> ModelOpeners:
    """Make what opens rerankers and generators by name; see `open_reranker` and `open_generator`."""
    cache, offline = settings.models, settings.offline
    own = plugins or OpenPlugins()

    def reranker(tokens: int) -> Callable[[str], Reranker | None]:
        how: dict[str, Any] = {"cache": cache, "offline": offline, "progress": progress, "device": settings.device}
        built_in = partial(_open_reranker, max_tokens=tokens, embedder=settings.embedder, **how)
        return partial(custom_or_built_in, own.given.rerankers, built_in, own.reranker)

    generator = partial(_open_generator, cache=cache, offline=offline, progress=progress)
    return ModelOpeners(
        reranker,
        OpenModels(partial(custom_or_built_in, own.given.generators, generator, own.generator)),
        own,
    )


def reranker_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of the rerankers in the order they are tried.

    A fallback replaces a model that fails; it never turns on reranking that is turned off.
    """
    chosen = settings.rerank
    if chosen.model == NONE:
        return ()
    return tuple(name for name in (chosen.model, chosen.fallback) if name not in {"", NONE})


def _retrying(openers: ModelOpeners, name: str, settings: Settings) -> Generator | None:
    generator = openers.generators.named(name)
    return None if generator is None else RetryingGenerator(generator, retry_of(settings))


def _graph(file: str) -> tuple[tuple[str, Retriever], ...]:
    """Return what looks up a graph, under the name `graph`; nothing where no file is named."""
    if not file:
        return ()
    from twofold.stores.graph import GraphRetriever

    return (("graph", GraphRetriever(Path(file).expanduser())),)


def _state_of(file: str) -> tuple[str, ...]:
    """Return what tells one state of a file from another, for answers that are kept; nothing where none is named."""
    path = Path(file).expanduser()
    return (f"{path} {path.stat().st_mtime_ns if path.is_file() else 0}",) if file else ()


def search_models_for(
    base: SearchModels, settings: Settings, openers: ModelOpeners, own: Reranker | None = None
) -> SearchModels:
    """Return what a search may ask by these settings; `own` is a reranker to take instead of theirs."""
    rerankers = openers.rerankers(settings.rerank.tokens)
    made = (GuardedReranker(own),) if own is not None else tuple(map(rerankers.named, reranker_names(settings)))
    retrievers = (*_graph(settings.graph.file), *openers.plugins.retrievers(settings.plugins.search))
    transformers = openers.plugins.transformers(settings.plugins.search)
    return replace(
        base,
        rerankers=tuple(one for one in made if one is not None),
        generator=_retrying(openers, settings.generator, settings),
        rewriter=_retrying(openers, settings.query_expansion.generator or settings.generator, settings),
        retrievers=retrievers,
        transformers=tuple(one for _, one in transformers),
        own=(*(name for name, _ in (*retrievers, *transformers)), *_state_of(settings.graph.file)),
        pruner=openers.plugins.pruner,
        reader=partial(_reader, settings, rerankers),
    )


def is_read(settings: Settings, embedder: str) -> bool:
    """Return whether a cross-encoder is to read the sentences of answers.

    It goes with the embedders of the catalog, also where several are joined.
    """
    return settings.answer.reply.reader != NONE and all(one in CATALOG for one in members_of(embedder))


def _reader(settings: Settings, rerankers: OpenRerankers, embedder: str) -> Reranker | None:
    """Return the cross-encoder that reads the sentences of answers; None where none is to. It is never fetched.

    Raises ModelError where its files are not here.
    """
    if not is_read(settings, embedder):
        return None
    from twofold.models.rerankers.factory import is_here

    if not is_here(READER, settings.models):
        raise ModelError(
            f"Sentences are chosen by words and vectors alone, since the cross-encoder {READER} is not here.",
            f"Run `twofold models pull {READER}`.",
        )
    return rerankers.named(READER)


def search_engine(
    parts: SearchComponents, settings: Settings, openers: ModelOpeners, query_log: QueryLog | None = None
) -> SearchEngine:
    """Make what searches one collection by its settings. Raises InvalidInputError as `plan_of` does."""
    own = PreparedQuery(parts, plan_of(settings), cache_plan_of(settings))

    def loaded() -> tuple[str, ...]:
        embedder = (parts.embedder.identity.name,) if is_loaded(parts.embedder) else ()
        return (*embedder, *openers.loaded())

    prepare = partial(_prepared, own, settings, openers)
    recorder = None if query_log is None else LogRecorder(query_log)
    return SearchEngine(parts, prepare, loaded, recorder, steady=not settings.graph.file)


def _prepared(
    own: PreparedQuery, settings: Settings, openers: ModelOpeners, options: SearchOptions, *, own_models_only: bool
) -> PreparedQuery:
    """Return what one search is made with: `own`, but for what its options ask otherwise."""
    overrides = options.overrides
    used, base = merge(settings, overrides) if overrides else settings, own.components
    if overrides and own_models_only:
        used, notes = with_models_of(used, settings)
        base = with_ignored(base, notes)
    plan, cache = (plan_of(used), cache_plan_of(used)) if overrides else (own.plan, own.cache)
    k, mode = plan.k if options.k is None else options.k, options.mode or plan.mode
    if mode == "hybrid" and used.embedder == NO_EMBEDDER:
        mode = "bm25"  # what was indexed by words alone is searched by words alone
    first = _checked_offset(options.offset)
    most = min(k, used.search.max_results) + first
    plan = replace(plan, k=most, wanted=k + first, mode=mode, filter=filter_of(options.filter))
    if options.results is not PLAIN or used.results != NO_RESULTS:
        plan = replace(plan, results=_result_plan(options, used.results), depth=options.depth)
    reranker = None if options.rerank is None or isinstance(options.rerank, str) else options.rerank
    return PreparedQuery(replace(base, models=search_models_for(base.models, used, openers, reranker)), plan, cache)


def _result_plan(options: SearchOptions, kept: ResultsSettings) -> "ResultPlan | None":
    from twofold.search.result_plan import result_plan_of

    return result_plan_of(options.results, kept.pins, extract_filters=kept.extract_filters)


def _checked_offset(offset: int) -> int:
    if type(offset) is not int or offset < 0:
        raise InvalidInputError(f"The offset cannot be {offset!r}.", "Give how many passages to pass over: 0 or more.")
    return offset
