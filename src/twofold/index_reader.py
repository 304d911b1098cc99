"""A collection that is there, opened to be searched and looked at: the half of an index that changes nothing."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Self

from twofold.config.load import Ignored, Resolved, resolve
from twofold.config.settings import Settings
from twofold.domain.access import Viewer, default_readers, viewer_of
from twofold.domain.awaitable import offloaded
from twofold.domain.errors import InvalidInputError, NotAllowedError, check_kind, no_document
from twofold.domain.filters import MATCH_ALL, fields_of, matches
from twofold.domain.ports import Embedder, Reranker, Store
from twofold.domain.snapshots import SnapshotInfo
from twofold.domain.types import Chunk, Document, DocumentInfo
from twofold.factory.places import folder_of, short_name, shown_name, shown_place
from twofold.factory.search import (
    MADE_BY,
    MEMORY,
    effective_settings,
    model_openers,
    open_store,
    query_log_of,
    search_components,
    search_engine,
    stored_settings,
    with_ignored,
)
from twofold.indexing.types import IndexInfo
from twofold.models.catalog.progress import Progress, ignore
from twofold.plugins import NO_PLUGINS, OpenPlugins, Plugins
from twofold.query.any_filter import FilterLike, filter_of
from twofold.query.history import Turn, turns_of
from twofold.search.document_names import document_named
from twofold.search.engine import DEFAULT_OPTIONS, NO_SETTINGS, PLAIN, ResultOptions, SearchEngine, SearchOptions
from twofold.search.metrics import Metrics
from twofold.search.result import SearchResult
from twofold.stores.past import past_store, with_snapshots
from twofold.stores.viewer_store import ViewerStore

MAX_VIEWS = 256  # of one index, kept for those who ask again

NO_BOOSTS: Mapping[str, float] = {}
NOTHING_ASKED = ((), (), False, NO_BOOSTS, "", (), (), None, "", None, (), "")
if TYPE_CHECKING:
    from twofold.search.suggest import Suggestion


def _opened_at(base: Store, as_of: str) -> Store:
    """Return a store as it was at a snapshot; a store without it is closed."""
    try:
        return past_store(base, as_of)
    except BaseException:
        base.close()
        raise


def _check_kinds(settings: object, embedder: object, plugins: object, as_of: object) -> None:
    """Refuse names and tables of settings where objects belong: easily mistaken, and said late elsewhere."""
    check_kind("`settings`", settings, Settings | None, "Pass names and values as overrides={'search.k': 5}.")
    if not hasattr(embedder, "identity"):
        hint = "Name a model of the catalog by overrides={'embedder': 'NAME'}, or pass an Embedder."
        check_kind("`embedder`", embedder, NoneType, hint)
    check_kind("`plugins`", plugins, Plugins, "Pass your own parts as plugins=Plugins(...).")
    check_kind("`as_of`", as_of, str, "Name a snapshot, or give a date: '2026-11-16'.")


class Collection:
    """Documents that can be searched and listed. `Index` is one too, and can change it.

    `as_of` opens it as it was at a snapshot; see `at`. `store` brings a store of your own, which is closed with it.

    Commands that change nothing open this one: it loads none of what reads, cuts and enriches documents. Arguments and
    errors as for `Index`.
    """

    def __init__(  # noqa: PLR0913  # each may be left out
        self,
        where: str | Path = "default",
        *,
        settings: Settings | None = None,
        config: str | Path | None = None,
        overrides: Mapping[str, object] = NO_SETTINGS,
        embedder: Embedder | None = None,
        create: bool = False,
        on_model: Callable[[Progress], None] = ignore,
        plugins: Plugins = NO_PLUGINS,
        as_of: str = "",
        store: Store | None = None,
    ) -> None:
        _check_kinds(settings, embedder, plugins, as_of)
        self._where = where
        self._again: Callable[..., Any] = partial(
            type(self), where, settings=settings, config=config, overrides=overrides, on_model=on_model, plugins=plugins
        )
        found = Resolved(settings, ()) if settings else resolve(config=config, overrides=overrides)
        self._own_embedder = embedder
        self._base = open_store(where, found.settings, create=create and not as_of) if store is None else store
        self._store = self._whole = _opened_at(self._base, as_of) if as_of else self._base
        self._viewer: Viewer | None = None
        self._views: OrderedDict[str, Self] = OrderedDict()
        self._turn = threading.Lock()
        own, fingerprint = stored_settings(self._store)
        if settings is None and own:
            found = resolve(config=config, collection=own, overrides=overrides)
        self._asked = found.settings
        self._held = effective_settings(found.settings, fingerprint, embedder, plugins)
        self._settings = self._held.settings
        self._ignored = (*found.ignored, *self._held.ignored)
        self._openers = model_openers(self._settings, on_model, OpenPlugins(plugins))
        used = self._held.embedder if embedder is None else embedder
        self._searching = search_components(self._store, self._settings, used, on_model, self._openers.plugins)
        self._searching = with_ignored(self._searching, [one.note for one in found.ignored if one.origin == MADE_BY])
        kept = query_log_of(where, self._settings) if self._settings.log.queries else None
        self._searcher = search_engine(self._searching, self._settings, self._openers, kept)

    def as_principals(self, principals: Iterable[str]) -> Self:
        """Return the same index as somebody with these principals may use it: `user:ann`, `group:legal`.

        What they may not read is not there: no method finds, counts or names it, and scores are those of an index
        without it. They change documents that they may read, and nothing that concerns all. Closing it does nothing.
        Raises InvalidInputError for what is no principal.
        """
        said = self._settings.acl
        viewer = viewer_of(principals, default_readers(said.default), said.statistics)
        with self._turn:
            found = self._views.get(viewer.key)
            if found is None:
                found = self._views[viewer.key] = self._for_viewer(viewer)
                while len(self._views) > MAX_VIEWS:
                    self._views.popitem(last=False)
            self._views.move_to_end(viewer.key)
            return found

    def _for_viewer(self, viewer: Viewer) -> Self:
        made, store = copy(self), ViewerStore(self._whole, viewer)
        searching, searcher = replace(self._searching, store=store), self._searcher.for_viewer(store)
        vars(made).update(_viewer=viewer, _store=store, _searching=searching, _searcher=searcher)
        return made

    @property
    def viewer(self) -> Viewer | None:
        """For whom it was opened by `as_principals`; None for the owner, who may read everything."""
        return self._viewer

    @property
    def settings(self) -> Settings:
        """The settings in force, the index's own included."""
        return self._settings

    @property
    def folder(self) -> Path | None:
        """The folder it is kept in, or that this machine keeps of one in a database; None in memory."""
        return None if self._where == MEMORY else folder_of(self._where, self._asked.home)

    @property
    def ignored(self) -> Sequence[Ignored]:
        """The settings of the current folder's file and of the index itself that are ignored; see docs/security.md."""
        return self._ignored

    @property
    def searcher(self) -> SearchEngine:
        """What searches it; several indexes are searched together by theirs."""
        return self._searcher

    def snapshots(self) -> Sequence[SnapshotInfo]:
        """List the snapshots in the order in which they were made, with the bytes that are retained for each."""
        if self._viewer is not None:
            raise NotAllowedError("Snapshots are of all documents of the index.", "Only its owner can list them.")
        return with_snapshots(self._store).snapshots()

    def at(self, when: str) -> Self:
        """Open the collection as it was when a snapshot was made: every answer is the one of that time, bit for bit.

        `when` is its name, or a date or time in ISO 8601 (UTC) for the last snapshot by then. It cannot be changed;
        close it before this one. Raises NotFoundError.
        """
        past = past_store(self._whole, when)
        held, now = past.fingerprint(), self._store.fingerprint()
        same = held is not None and now is not None and held.embedder == now.embedder
        opened: Self = self._again(embedder=self._searching.embedder if same else self._own_embedder, store=past)
        return opened if self._viewer is None else opened.as_principals(self._viewer.principals)

    def documents(self, *, filter: FilterLike = MATCH_ALL) -> Sequence[DocumentInfo]:  # noqa: A002
        """List all documents by source, or those that pass a filter; see `search` for how one is written."""
        condition = filter_of(filter)
        with self._store.view(rows_only=True) as view:
            return [info for info in view.documents() if matches(condition, fields_of(info))]

    def documents_page(self, offset: int, limit: int, *, containing: str = "") -> tuple[Sequence[DocumentInfo], int]:
        """Return `limit` documents by source from `offset` on, and how many there are.

        `containing` keeps those whose source or title has this text, capitals aside.
        """
        for what, given in (("offset", offset), ("limit", limit)):
            check_kind(f"`{what}`", given, int, f"Write a whole number: {what}=10.")
            if given < 0:
                raise InvalidInputError(f"`{what}` cannot be {given}.", "Give 0 or more.")
        check_kind("`containing`", containing, str, "Give a part of a name or a title.")
        sought = containing.casefold()
        with self._store.view() as view:
            found = view.documents()
            if not sought:
                return list(islice(found, offset, offset + limit)), view.sizes().documents
            kept = [info for info in found if sought in info.source.casefold() or sought in info.title.casefold()]
        return kept[offset : offset + limit], len(kept)

    def __len__(self) -> int:
        """Count the documents."""
        return self._store.info().documents

    def __bool__(self) -> bool:
        """Return true: an index is something, also without documents."""
        return True

    def document(self, name: str) -> Document:
        """Return a document with its text; named as in `delete`."""
        identity = self._named(name).id
        with self._store.view(rows_only=True) as view:
            found = view.document(identity)
        if found is None:
            raise no_document(name)
        return found

    def chunks(self, name: str) -> Sequence[Chunk]:
        """Return a document's passages in reading order; named as in `delete`."""
        identity = self._named(name).id
        with self._store.view(rows_only=True) as view:
            return view.chunks_of(identity)

    def search(  # noqa: PLR0913  # each may be left out
        self,
        query: str,
        *,
        k: int | None = None,
        mode: str | None = None,
        filter: FilterLike = MATCH_ALL,  # noqa: A002
        rerank: str | Reranker | None = None,
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
        offset: int = 0,
        cursor: str = "",
        facets: Sequence[str] = (),
        sort: Sequence[str] = (),
        collapse: bool = False,
        boosts: Mapping[str, float] = NO_BOOSTS,
        recency: str = "",
        pin: Sequence[str] = (),
        hide: Sequence[str] = (),
        mmr: float | None = None,
        score: str = "",
        extract_filters: bool | None = None,
        keep: Sequence[str] = (),
    ) -> SearchResult:
        """Find the `k` passages (1 to 1,000) that answer a question best.

        `mode` is `hybrid` (BM25 and vectors), `bm25` or `vector`. In the question,
        `"quoted phrases"` must occur verbatim, `+word` must occur and `-word` must not. `filter` acts before the cut: a
        text such as `"type == .md and year >= 2020"`, a mapping as in JSON, or a `Filter`.
        `rerank` names a model that reads the best again, or is one of your own; `none` leaves it out. `profile` names
        another profile, `settings` other settings by their dotted names, such as `{"fusion.method": "rrf"}`. `history`
        are the turns before a follow-up question; `session` says whose remembered answers may be given again.
        `offset` skips the best: with k 10, 10 gives ranks 11 to 20 of the same ranking. The other arguments are about
        the results; docs/results.md says what each does: `cursor` is `"start"` or a result's `next_cursor`, `facets`
        such as `["author", "modified:year"]`, `sort` such as `"modified:desc"`, `boosts` such as `{"title": 3}`,
        `recency` such as `"modified:30d"`, `score` such as `"0.7 * score + 0.3 / (1 + age_days)"`; `collapse` shows one
        passage of each document, `pin` and `hide` name documents or passages, `mmr` (0 to 1) trades relevance against
        novelty, `extract_filters` reads filters out of the question but for the phrases in `keep`.
        Raises InvalidInputError for an empty question or a k out of range, MismatchError when the embedder is not the
        one that the index was made with, ModelError when mode is `vector` and the model cannot be loaded.
        """
        asked = (facets, sort, collapse, boosts, recency, pin, hide, mmr, score, extract_filters, keep, cursor)
        results = PLAIN if asked == NOTHING_ASKED else ResultOptions(*asked)
        options = SearchOptions(k, mode, filter, rerank, profile, settings, turns_of(history), session, offset, results)
        return self._searcher.search(query, options)

    asearch = offloaded(search)

    def suggest(
        self,
        typed: str,
        *,
        k: int = 8,
        filter: FilterLike = MATCH_ALL,  # noqa: A002
    ) -> Sequence["Suggestion"]:
        """Return up to `k` (1 to 50) ways for a question to go on while it is typed, in some milliseconds.

        Titles that hold a word with the beginning typed last, phrases and words of passages; none that only documents
        which the filter leaves out have. Raises InvalidInputError for a k out of range.
        """
        return self._searcher.suggest(typed, k, SearchOptions(filter=filter))

    def search_many(self, queries: Sequence[str], options: SearchOptions = DEFAULT_OPTIONS) -> Sequence[SearchResult]:
        """Search for many questions: all embedded at once, each ranked for itself. Errors as for `search`."""
        return self._searcher.search_many(queries, options)

    def get_synonyms(self) -> str:
        """Return the rules of the index's synonyms, as they were written."""
        with self._store.view() as view:
            return view.synonyms

    def metrics(self) -> Metrics:
        """Return how searching went since the index was opened, for everybody: counts, times by stage, memory."""
        if self._viewer is not None:
            raise NotAllowedError("Figures are of everybody's searches.", "Only the index's owner can see them.")
        return self._searcher.metrics()

    def get_settings(self) -> Mapping[str, str]:
        """Return the settings that the index keeps for itself, by their dotted names."""
        return self._store.get_settings()

    def info(self) -> IndexInfo:
        """Return what the index holds and how it was made."""
        held = self._store.info()
        folder = MEMORY if self._where == MEMORY else shown_place(self._where, self._asked.home)
        counts = (held.documents, held.chunks, held.generation, held.segments, held.bytes_on_disk)
        return IndexInfo(short_name(self._where), folder, held.fingerprint, *counts, held.pending)

    def load_changes(self) -> None:
        """Load what other processes have written, so that the next question need not wait for it."""
        with self._store.view() as view:
            view.sizes()

    def close(self, *, free: bool = True) -> None:
        """Leave a state that opens fast, and close. Calling it twice does nothing more.

        With `free=False` the embedder's model stays in memory, for a process that ends now: freeing it takes 40 ms.
        """
        if self._viewer is not None:
            return
        try:
            self._base.close()
        finally:
            self._openers.close()
            if self._own_embedder is None and free:
                self._searching.embedder.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown_name(self._where)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _named(self, name: str) -> DocumentInfo:
        with self._store.view(rows_only=True) as view:
            return document_named(view, name)
