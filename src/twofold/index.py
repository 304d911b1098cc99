"""An index, as a Python program uses it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self, overload

from twofold.asked import Answering
from twofold.compose import MEMORY, folder_of, limits_of, make_parts, open_store, openers_for, remove_index, settings_of
from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.domain.filters import EVERYTHING, Filter
from twofold.domain.ports import Embedder, Finding, Reranker
from twofold.domain.types import Chunk, Document, DocumentInfo, Metadata
from twofold.extensions import NONE_OWN, Extensions, OpenExtensions
from twofold.ingest.documents import document_of_text
from twofold.ingest.pool import Failed, ReaderPool
from twofold.ingest.walk import Skipped, load, walk
from twofold.models.progress import Progress, ignore
from twofold.pipeline.metrics import Metrics
from twofold.pipeline.naming import document_named
from twofold.pipeline.prepare import prepare
from twofold.pipeline.reindex import reindex
from twofold.pipeline.results import SearchResult
from twofold.pipeline.sync import OnProgress, plan_sync, sync
from twofold.pipeline.types import IndexInfo, SyncPlan, SyncReport, say_nothing
from twofold.pipeline.watch import changes
from twofold.pipeline.whynot import WhyNot
from twofold.query.history import Turn
from twofold.searcher import AS_SET, NO_SETTINGS, Asking, Searcher
from twofold.setting_values import as_text
from twofold.settings import Settings, load_settings, merge, value_of
from twofold.stores.sessions import Sessions, sessions_folder

NO_METADATA: Metadata = {}


class Index(Answering):
    """A searchable collection of documents.

    `where` is a name (kept under `TWOFOLD_HOME`), a path (kept there), or `":memory:"`. `config` names a file to read
    instead of `twofold.yaml`, `overrides` are settings by their dotted names that are stronger than all else;
    `settings` replaces everything that a file, the environment and the index itself say. Where settings are left at
    their defaults an existing index is opened as it was made. `embedder` brings one of your own, `extensions` other
    parts. `on_model` hears of a model being fetched.

    >>> from twofold import Index
    >>> from twofold.models.hashing import HashingEmbedder
    >>> with Index(":memory:", embedder=HashingEmbedder()) as index:
    ...     _ = index.add("The cat sat on the mat.", source="cat.txt")
    ...     [hit.source for hit in index.search("cat").hits]
    ['cat.txt']

    Raises NotFoundError when `create` is false and there is no such index, InvalidInputError for a name that is none.
    """

    def __init__(  # noqa: PLR0913  # each may be left out
        self,
        where: str | Path = "default",
        *,
        settings: Settings | None = None,
        config: str | Path | None = None,
        overrides: Mapping[str, object] = NO_SETTINGS,
        embedder: Embedder | None = None,
        create: bool = True,
        on_model: Callable[[Progress], None] = ignore,
        extensions: Extensions = NONE_OWN,
    ) -> None:
        self._where = where
        self._asked = settings or load_settings(config=config, overrides=overrides)
        self._own_embedder = embedder
        self._store = open_store(where, self._asked, create=create)
        own = self._store.preferences()
        if settings is None and own:
            self._asked = load_settings(config=config, collection=own, overrides=overrides)
        self._settings = settings_of(self._asked, self._store.info().recipe)
        self._openers = openers_for(self._settings, on_model, OpenExtensions(extensions))
        self._parts = make_parts(self._store, self._settings, embedder, on_model, self._openers.extensions)
        self._searcher = Searcher(self._parts, self._settings, self._openers)
        folder = None if where == MEMORY else folder_of(where, self._asked.home)
        self._sessions = Sessions(None if folder is None else sessions_folder(self._asked.home, folder))

    @property
    def settings(self) -> Settings:
        """The settings in force, the index's own included."""
        return self._settings

    @property
    def searcher(self) -> Searcher:
        """What searches it; several indexes are searched together by theirs."""
        return self._searcher

    @overload
    def sync(self, *paths: str | os.PathLike[str], plan: Literal[True]) -> SyncPlan: ...

    @overload
    def sync(
        self, *paths: str | os.PathLike[str], plan: Literal[False] = False, progress: OnProgress = say_nothing
    ) -> SyncReport: ...

    def sync(
        self, *paths: str | os.PathLike[str], plan: bool = False, progress: OnProgress = say_nothing
    ) -> SyncPlan | SyncReport:
        """Add, update and delete documents until the index says what these files and folders say.

        With `plan` it only says what it would do. Documents are committed a few at a time, each whole: it may be
        stopped at any moment and run again. Files that cannot be read are in the report's `failed`; nothing else is
        lost. Raises NotFoundError for a path that is not there, MismatchError, WriterBusyError, StorageFullError and
        ModelError.
        """
        if not paths:
            raise InvalidInputError("There is nothing to sync.", "Name a file or a folder.")
        limits = limits_of(self._settings)
        if plan:
            return plan_sync(self._parts, paths, limits)
        return sync(self._parts, paths, limits, progress)

    def watch(self, *paths: str | os.PathLike[str], progress: OnProgress = say_nothing) -> Iterator[SyncReport]:
        """Sync now, and again whenever something below the paths changes; give a report each time. It never ends."""
        for number, _ in enumerate(changes(paths)):
            report = self.sync(*paths, progress=progress)
            if not number or report.added or report.updated or report.renamed or report.deleted or report.failed:
                yield report

    def add(
        self,
        text: str,
        *,
        source: str = "",
        title: str = "",
        metadata: Metadata = NO_METADATA,
        id: str | None = None,  # noqa: A002
    ) -> DocumentInfo:
        """Add or replace one document by its text; durable when it returns.

        `source` names it for people and gives its id; without one the text itself does. `id` sets the id instead: keep
        it to letters, digits, `.`, `_` and `-`.
        """
        return self.add_all([document_of_text(text, source, title, metadata, id)])[0]

    def add_file(self, path: str | os.PathLike[str], *, metadata: Metadata = NO_METADATA) -> DocumentInfo:
        """Read one file, of any format that `sync` reads, and add or replace its document.

        Raises NotFoundError, or ReadError when it cannot be read.
        """
        found = next(walk(path, limits_of(self._settings)), None)
        if found is None or isinstance(found, Skipped) or Path(path).is_dir():
            reason = found.reason if isinstance(found, Skipped) else "it is a folder"
            raise InvalidInputError(f"{os.fspath(path)} cannot be added: {reason}.", "Use `sync` for folders.")
        with ReaderPool(own=self._parts.readers) as pool:
            (outcome,) = pool.read_all([load(found, limits_of(self._settings))])
        if isinstance(outcome, Failed):
            error = outcome.error
            raise ReadError(f"{outcome.source}: {error.message}", error.remedy, error.kind)
        return self.add_all([replace(outcome, metadata={**outcome.metadata, **metadata})])[0]

    def add_all(self, documents: Sequence[Document]) -> Sequence[DocumentInfo]:
        """Add or replace documents of your own making, all of them or none; durable when it returns."""
        self._store.adopt(self._parts.recipe)
        with self._store.view() as view:
            prepared = prepare(documents, self._parts, view, lambda _: None)
        self._store.put(prepared.entries)
        with self._store.view() as view:
            infos = view.describe([document.id for document in documents])
        return [infos[document.id] for document in documents]

    def delete(self, *names: str) -> int:
        """Delete documents, each named by its id, its source or an ending of its source that is no other's.

        Gives how many there were. Raises NotFoundError for a name that fits none, and then deletes nothing.
        """
        return self._store.delete([self._named(name).id for name in names])

    def documents(self) -> Sequence[DocumentInfo]:
        """List all documents by source."""
        with self._store.view() as view:
            return list(view.documents())

    def document(self, name: str) -> Document:
        """Give a document with its text; named as in `delete`."""
        identity = self._named(name).id
        with self._store.view() as view:
            found = view.document(identity)
        if found is None:
            raise NotFoundError(f"There is no document {name!r}.", "`twofold ls` lists the documents.")
        return found

    def chunks(self, name: str) -> Sequence[Chunk]:
        """Give a document's passages in reading order; named as in `delete`."""
        identity = self._named(name).id
        with self._store.view() as view:
            return view.chunks_of(identity)

    def search(  # noqa: PLR0913  # each may be left out
        self,
        query: str,
        *,
        k: int | None = None,
        mode: str | None = None,
        filter: Filter = EVERYTHING,  # noqa: A002
        rerank: str | Reranker | None = None,
        profile: str | None = None,
        settings: Mapping[str, object] = NO_SETTINGS,
        history: Sequence[Turn] = (),
        session: str = "",
    ) -> SearchResult:
        """Find the `k` passages (1 to 1,000) that answer a question best.

        `mode` is `hybrid` (words and meaning), `bm25` (words alone) or `semantic` (meaning alone). In the question,
        `"quoted phrases"` must occur verbatim, `+word` must occur and `-word` must not. `filter` acts before the cut.
        `rerank` names a model that reads the best again, or is one of your own; `none` leaves it out. `profile` names
        another profile, `settings` other settings by their dotted names, such as `{"fusion.form": "rrf"}`. `history`
        are the turns before a follow-up question; `session` says whose remembered answers may be given again.
        Raises InvalidInputError for an empty question or a k out of range, MismatchError when the embedder is not the
        one that the index was made with, ModelError when mode is `semantic` and the model cannot be had.
        """
        asking = Asking(k, mode, filter, rerank, profile, settings, tuple(history), session)
        return self._searcher.search(query, asking)

    def search_many(self, queries: Sequence[str], asking: Asking = AS_SET) -> Sequence[SearchResult]:
        """Search for many questions: all embedded at once, each ranked for itself. Errors as for `search`."""
        return self._searcher.search_many(queries, asking)

    def why_not(self, query: str, document: str, asking: Asking = AS_SET) -> WhyNot:
        """Say which stage of a search lost a document, and the smallest change that brings it back, proved by doing it.

        `document` is named as in `delete`, or a passage's own id. What was never ingested is an answer too.
        """
        return self._searcher.why_not(query, document, asking)

    def metrics(self) -> Metrics:
        """Say how searching went since the index was opened: counts, times by stage, memory."""
        return self._searcher.metrics()

    def preferences(self) -> Mapping[str, str]:
        """Give the settings that the index keeps for itself, by their dotted names."""
        return self._store.preferences()

    def prefer(self, values: Mapping[str, object]) -> None:
        """Let the index keep these settings for itself, instead of those it kept before; they hold when it is opened.

        Raises InvalidInputError for what is no setting of a search.
        """
        checked = merge(Settings(), values)
        self._store.prefer({key: as_text(value_of(checked, key)) for key in values})

    def info(self) -> IndexInfo:
        """Say what the index holds and how it was made."""
        held = self._store.info()
        folder = MEMORY if self._where == MEMORY else str(folder_of(self._where, self._asked.home))
        counts = (held.documents, held.chunks, held.generation, held.segments, held.bytes_on_disk)
        return IndexInfo(str(self._where), folder, held.recipe, *counts)

    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum and hold both arms against the catalogue; nothing found means all is well."""
        return self._store.verify()

    def compact(self) -> None:
        """Merge what can be merged, make damaged derived files again, and give back space. Rankings do not change."""
        self._store.compact()

    def reindex(self, progress: OnProgress = say_nothing) -> None:
        """Make all passages anew by the settings that were asked for, beside the old ones, then switch over.

        Searches see the old passages until then. Interrupted, it goes on where it stopped.
        """
        reindex(self._parts, progress)

    def drop(self) -> None:
        """Delete the index for good, and close it. The documents' own files are left alone.

        Raises InvalidInputError, deleting nothing, when its folder holds anything else.
        """
        self.close()
        if self._where != MEMORY:
            remove_index(self._where, self._asked)
            self._sessions.forget()

    def close(self) -> None:
        """Leave a state that opens fast, and close. Calling it twice does nothing more."""
        try:
            self._store.close()
        finally:
            self._openers.close()
            if self._own_embedder is None:
                self._parts.embedder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _named(self, name: str) -> DocumentInfo:
        with self._store.view() as view:
            return document_named(view, name)
