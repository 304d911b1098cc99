"""An index, as a Python program uses it."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, overload

from twofold.answering import Answering
from twofold.config.load import Settings, merge, resolve, with_values
from twofold.config.trust import index_may_say
from twofold.config.values import as_text, value_from_text
from twofold.domain.access import Viewer, default_readers, readers_of
from twofold.domain.errors import (
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    ReadError,
    TwofoldError,
    check_kind,
    check_path,
    check_table,
)
from twofold.domain.ports import Embedder, Finding, Store
from twofold.domain.snapshots import SnapshotInfo
from twofold.domain.types import Document, DocumentInfo, Metadata
from twofold.evaluation.changes import IndexDiff, RankedPassage, document_changes, ranking_change
from twofold.factory.copies import copy_index, export_index, import_index
from twofold.factory.indexing import filled, limits_of
from twofold.factory.places import remove_index
from twofold.factory.ray_workers import ray_spread
from twofold.factory.search import MEMORY, query_log_of
from twofold.index_reader import Collection
from twofold.indexing.components import IndexingComponents
from twofold.indexing.diff import Root, with_fields
from twofold.indexing.embed import embed_pending
from twofold.indexing.prepare import prepare
from twofold.indexing.reindex import reindex
from twofold.indexing.sync import OnProgress, plan_sync, sync
from twofold.indexing.types import Phase, SyncPlan, SyncProgress, SyncReport, VectorTiming, no_progress
from twofold.indexing.watch import looks
from twofold.ingest.document import METADATA_HINT, check_documents, document_of_text
from twofold.ingest.pool import Failed, ReaderPool
from twofold.ingest.readers.custom import CustomReader
from twofold.ingest.source_types import LOCAL_FILE, from_origin
from twofold.ingest.walk import Skipped, load, walk
from twofold.models.catalog.progress import Progress, ignore
from twofold.plugins import NO_PLUGINS, Plugins
from twofold.query.synonyms import SynonymRule, read_rules
from twofold.search.engine import DEFAULT_OPTIONS, NO_SETTINGS, SearchOptions
from twofold.search.pins import MAX_NAMES, pins_with
from twofold.search.result import SearchResult
from twofold.search.result_plan import texts_given
from twofold.search.why_not import WhyNot
from twofold.stores.memory import MemoryStore
from twofold.stores.past import NOW, check_name, snapshot_at, with_snapshots
from twofold.stores.sessions import Sessions, sessions_folder
from twofold.stores.viewer_store import named_for

NO_METADATA: Metadata = {}
ACL = "acl"
VECTORS_BETWEEN_LOOKS = 5.0  # seconds


class Index(Collection, Answering):
    """A searchable collection of documents.

    `where` is a name (kept under `TWOFOLD_HOME`), a path (kept there), or `":memory:"`. One that is not there yet is
    made by the first change, `add`, `sync` or `set_settings`; until then what reads raises NotFoundError and leaves
    nothing behind. `config` names a file to read instead of `twofold.yaml`, `overrides` are settings by their dotted
    names that are stronger than all else; `settings` replaces everything that a file, the environment and the index
    itself say. Where settings are left at their defaults an existing index is opened as it was made. `embedder` brings
    one of your own, `plugins` other parts. `on_model` hears of a model being fetched. `as_of` opens it as it was at a
    snapshot, to be read only: its name, or a date. `store` brings a store of your own, which is closed with it.

    >>> from twofold import Index
    >>> from twofold.models.embedders.hashing import HashingEmbedder
    >>> with Index(":memory:", embedder=HashingEmbedder()) as index:
    ...     _ = index.add("The cat sat on the mat.", source="cat.txt")
    ...     [hit.source for hit in index.search("cat").hits]
    ['cat.txt']

    Raises NotFoundError when `create` is false and there is no such index, InvalidInputError for an invalid name.
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
        plugins: Plugins = NO_PLUGINS,
        as_of: str = "",
        store: Store | None = None,
    ) -> None:
        super().__init__(
            where,
            settings=settings,
            config=config,
            overrides=overrides,
            embedder=embedder,
            create=create,
            on_model=on_model,
            plugins=plugins,
            as_of=as_of,
            store=store,
        )
        name = self._settings.embedder if embedder is None else embedder.identity.name
        default_readers(self._settings.acl.default)
        self._parts = filled(self._searching, self._settings, name, self._openers.plugins)
        self._passages = self._searcher
        folder = self.folder
        self._sessions = Sessions(None if folder is None else sessions_folder(self._asked.home, folder))

    def _for_viewer(self, viewer: Viewer) -> Self:
        made = super()._for_viewer(viewer)
        own = vars(made)
        parts, sessions = replace(self._parts, store=own["_store"]), self._sessions.of(viewer.key)
        own.update(_parts=parts, _passages=own["_searcher"], _sessions=sessions)
        own.pop("_asker", None)  # it answers from what it was made for
        return made

    def _check_owner(self) -> None:
        """Raise NotAllowedError for somebody who may not read everything."""
        if self._viewer is not None:
            raise NotAllowedError("This concerns all documents of the index.", "Only its owner can do it.")

    @overload
    def sync(self, *paths: Root, dry_run: Literal[True], metadata: Metadata = NO_METADATA) -> SyncPlan: ...

    @overload
    def sync(
        self,
        *paths: Root,
        dry_run: Literal[False] = False,
        progress: OnProgress = no_progress,
        metadata: Metadata = NO_METADATA,
        vectors: VectorTiming = "follow",
        on: str = "",
    ) -> SyncReport: ...

    def sync(
        self,
        *paths: Root,
        dry_run: bool = False,
        progress: OnProgress = no_progress,
        metadata: Metadata = NO_METADATA,
        vectors: VectorTiming = "follow",
        on: str = "",
    ) -> SyncPlan | SyncReport:
        """Make the index match these files and folders: add, update and delete documents.

        A path may also be a connector of `twofold.connectors`, which follows a git revision, pages of the web or rows
        of a database in the same way.

        With `dry_run` it only says what it would do. Documents are committed a few at a time, each whole: it may be
        stopped at any moment and run again. Files that cannot be read are in the report's `failed`; nothing else is
        lost. First all documents can be found by their words; then their `vectors` follow, a batch at a time. With
        `vectors="atomic"` a document comes with its vectors in one transaction; with `"later"` they are left to
        `embed_pending`, or to the next sync. Every document below the paths has the fields of `metadata`, over those
        that its file states; documents keep such fields in later syncs, files that are new then do not have them, and
        an empty text takes one away. `on` names a Ray cluster whose actors read, cut and embed, `ray:local` or
        `ray://HOST:PORT`; then documents come with their vectors.
        Raises InvalidInputError for a field that the sync keeps itself, NotFoundError for a path that is not there,
        MismatchError (also where the index was made with a model or an extension that you did not name),
        WriterBusyError, StorageFullError and ModelError.
        """
        self._check_owner()
        if not paths:
            raise InvalidInputError("There is nothing to sync.", "Name a file or a folder.")
        self._held.check_fillable()
        limits = limits_of(self._settings)
        if dry_run:
            return plan_sync(self._planned(), paths, limits, metadata)
        if on:
            with ray_spread(on, self._settings, self._parts.fingerprint) as spread:
                return sync(replace(self._parts, spread=spread), paths, limits, progress, metadata, vectors)
        return sync(self._parts, paths, limits, progress, metadata, vectors)

    def embed_pending(
        self, *, progress: OnProgress = no_progress, seconds: float = math.inf, passages: float = math.inf
    ) -> int:
        """Embed passages that have no vector yet; return how many still have none.

        Those that queries of this index found come first. It ends after the batch in hand when `seconds` are
        over or `passages` of them have got their vectors, and may be stopped at any moment. Raises ModelError,
        WriterBusyError, StorageFullError.
        """
        self._check_owner()
        self._held.check_fillable()
        started, given = time.monotonic(), 0

        def count(more: int, pending: int) -> None:
            nonlocal given
            given += more
            progress(SyncProgress(Phase.EMBED, 0, 0, "", given, pending))

        def goes_on() -> bool:
            return given < passages and time.monotonic() - started < seconds

        return embed_pending(self._parts, count, goes_on).pending

    def _planned(self) -> IndexingComponents:
        """Return the parts to plan with: those of an empty index in memory if it does not exist yet."""
        try:
            self._store.info()
        except NotFoundError:
            return replace(self._parts, store=MemoryStore())
        return self._parts

    def watch(
        self,
        *paths: str | os.PathLike[str],
        progress: OnProgress = no_progress,
        metadata: Metadata = NO_METADATA,
    ) -> Iterator[SyncReport]:
        """Sync now, and again whenever something below the paths changes; give a report each time. It never ends.

        Documents can be found by their words when their report is given. Their vectors follow while nothing changes,
        some seconds' worth at a time, and when all are there another report says so.
        """
        first, waiting = True, False
        for changed in looks(paths):
            report = SyncReport()
            if changed:
                report = self.sync(*paths, progress=progress, metadata=metadata, vectors="later")
            elif waiting:
                report = SyncReport(pending=self.embed_pending(progress=progress, seconds=VECTORS_BETWEEN_LOOKS))
            news = report.added or report.updated or report.renamed or report.deleted or report.failed
            if first or news or (waiting and not changed and not report.pending):
                yield report
            first, waiting = False, report.pending > 0

    def add(
        self,
        text: str,
        *,
        source: str = "",
        title: str = "",
        metadata: Metadata = NO_METADATA,
        id: str | None = None,  # noqa: A002
        readers: Iterable[str] | None = None,
    ) -> DocumentInfo:
        """Add or replace one document by its text; durable when it returns.

        `source` names it for people and gives its id; without one the text itself does. `id` sets the id instead: keep
        it to letters, digits, `.`, `_` and `-`. `readers` may read it: principals such as `user:ann`, `group:legal` or
        `public`. Left out, a document that is replaced keeps those it had, and a new one has the index's default.
        Its vectors are there when it returns, as after `add_file` and
        `add_many`; those that a sync left are not touched.
        """
        made = document_of_text(text, source, title, metadata, id)
        return self.add_many([replace(made, readers=readers_of(readers))])[0]

    def add_file(
        self,
        path: str | os.PathLike[str],
        *,
        metadata: Metadata = NO_METADATA,
        readers: Iterable[str] | None = None,
    ) -> DocumentInfo:
        """Read one file, of any format that `sync` reads, and add or replace its document; `readers` as for `add`.

        Raises NotFoundError, or ReadError when it cannot be read.
        """
        check_table("`metadata`", metadata, METADATA_HINT)
        found = next(walk(path, limits_of(self._settings)), None)
        if found is None or isinstance(found, Skipped) or Path(path).is_dir():
            reason = found.reason if isinstance(found, Skipped) else "it is a folder"
            raise InvalidInputError(f"{os.fspath(path)} cannot be added: {reason}.", "Use `sync` for folders.")
        with ReaderPool(own=self._parts.readers) as pool:
            (outcome,) = pool.read_all([load(found, limits_of(self._settings))])
        if isinstance(outcome, Failed):
            error = outcome.error
            raise ReadError(f"{outcome.source}: {error.message}", error.hint, error.kind)
        read = from_origin(outcome, LOCAL_FILE)
        made = replace(read, metadata={**read.metadata, **metadata}, readers=readers_of(readers))
        return self.add_many([made])[0]

    @property
    def readers(self) -> Sequence[CustomReader]:
        """What reads files before the readers that are built in: the user's own, and what hears recordings."""
        return self._parts.readers

    def add_many(self, documents: Sequence[Document]) -> Sequence[DocumentInfo]:
        """Add or replace documents of your own making, all of them or none; durable when it returns."""
        check_documents(documents)
        self._held.check_fillable()
        self._store.ensure_fingerprint(self._parts.fingerprint)
        with self._store.view(rows_only=True) as view:
            if self._viewer is not None:
                documents = [named_for(view, self._viewer, one) for one in documents]
            prepared = prepare(documents, self._parts, view, lambda _: None)
        self._store.upsert(prepared.entries)
        with self._store.view(rows_only=True) as view:
            infos = view.describe([document.id for document in documents])
        return [infos[document.id] for document in documents]

    def delete(self, *names: str) -> int:
        """Delete documents, each named by its id, its source or an ending of its source that is no other's.

        Returns how many there were. Raises NotFoundError for a name that fits none, and then deletes nothing.
        """
        return self._store.delete([self._named(name).id for name in names])

    def set_readers(self, name: str, readers: Iterable[str] | None) -> DocumentInfo:
        """Set who may read a document, named as in `delete`: from the next search on, and nothing is embedded again.

        None gives it the index's default, no principal at all leaves it to the owner of the index. Raises
        NotFoundError, InvalidInputError for what is no principal.
        """
        found = self._named(name)
        kept = readers_of(readers)
        self._store.set_readers({found.id: kept})
        return replace(found, readers=kept)

    def set_metadata(self, name: str, fields: Metadata) -> DocumentInfo:
        """Set fields of a document, named as in `delete`; an empty text takes one away. Nothing is embedded again.

        Later syncs keep them, as they keep the fields that a sync was given. Raises NotFoundError, InvalidInputError
        for a field that a sync keeps itself.
        """
        found = self._named(name)
        self._store.set_metadata({found.id: with_fields(found.metadata, fields)})
        return self._named(found.id)

    def why_not(self, query: str, document: str, options: SearchOptions = DEFAULT_OPTIONS) -> WhyNot:
        """Return which stage of a search dropped a document, and the smallest change that brings it back.

        `document` is named as in `delete`, or a passage's own id. What was never ingested is an answer too.
        """
        return self._searcher.why_not(query, document, options)

    def set_settings(self, values: Mapping[str, object]) -> None:
        """Let the index keep these settings for itself, instead of those it kept before; they hold when it is opened.

        Raises InvalidInputError for what is no setting of a search, and for what no index may say: an address, a model
        outside the catalog, an extension, a prompt.
        """
        self._check_owner()
        check_table("`values`", values, "Write names and values: {'search.k': 5}.")
        merge(Settings(), {key: value for key, value in values.items() if key != ACL})
        own = {key: value_from_text(key, as_text(value)) for key, value in values.items()}
        for key, value in own.items():
            if not index_may_say(key, value):
                raise InvalidInputError(
                    f"An index cannot keep this value of {key}.", "Put it in twofold.yaml of TWOFOLD_HOME."
                )
        if ACL in own:
            default_readers(with_values(Settings(), {ACL: own[ACL]}).acl.default)
        self._store.set_settings({key: as_text(value) for key, value in own.items()})

    def pin(self, query: str, documents: str | Sequence[str] = (), *, hide: str | Sequence[str] = ()) -> None:
        """Let the index keep what it shows first for a question, in this order, and what it leaves out.

        Documents are named as in `delete`, passages by their ids; with neither the question is forgotten. Questions are
        compared without capitals and punctuation. It holds when the index is opened next, as all of its settings.
        Raises NotFoundError for a name that fits none, InvalidInputError for an empty question or too many of them.
        """
        given = texts_given("documents", documents, MAX_NAMES), texts_given("hide", hide, MAX_NAMES)
        pins = pins_with(self.pins(), query, *(tuple(map(self._pinnable_name, names)) for names in given))
        kept = {name: value for name, value in self.get_settings().items() if name != "results"}
        results = {**self._stored_results_settings(), "pins": pins}
        self.set_settings({**kept, "results": {name: value for name, value in results.items() if value}})

    def pins(self) -> Mapping[str, Sequence[str]]:
        """Return what the index shows first by question; what it leaves out stands behind a `-`."""
        self._check_owner()
        pins: Mapping[str, Sequence[str]] = self._stored_results_settings().get("pins", {})
        return pins

    def _stored_results_settings(self) -> Mapping[str, Any]:
        return value_from_text("results", self.get_settings().get("results", "{}"))  # type: ignore[return-value]

    def _pinnable_name(self, name: str) -> str:
        """Return a passage's id as it is, and a document's source."""
        document, _, ordinal = name.rpartition("_chunk_")
        if ordinal.isdecimal() and document:
            with self._store.view() as view:
                if view.stretch(document, int(ordinal[:9]), int(ordinal[:9])):
                    return name
        return self._named(name).source

    def set_synonyms(self, rules: str) -> Sequence[SynonymRule]:
        """Replace the index's synonyms by these rules, one a line, and return them; empty text removes all.

        `car, automobile` finds each by the other, `nyc => new york city^0.5` one by the other; see
        docs/query-language.md. Raises InvalidInputError that names the line of a rule that cannot be.
        """
        check_kind("What rules are read from", rules, str, "Write one rule a line: 'car, automobile'.")
        read = read_rules(rules)
        self._store.set_synonyms(rules if read else "")
        return read

    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum and hold both retrievers against the catalog; nothing found means all is well."""
        return self._store.verify()

    def compact(self) -> None:
        """Merge segments, rebuild damaged ones, and free disk space. Rankings do not change."""
        self._store.compact()

    def reindex(self, progress: OnProgress = no_progress) -> None:
        """Make all passages again by the settings that were asked for, next to the old ones, then switch over.

        Searches see the old passages until then. Interrupted, it goes on where it stopped.
        """
        self._check_owner()
        reindex(self._parts, progress)

    def snapshot(self, name: str) -> SnapshotInfo:
        """Name the present state, durable when it returns: `at(name)` reads it from then on. Nothing is copied.

        Raises InvalidInputError for a name that is taken.
        """
        self._check_owner()
        check_name(name)
        held = with_snapshots(self._store)
        held.create_snapshot(name, int(time.time()))
        return snapshot_at(held.snapshots(), name)

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot, and what was retained for it alone. Raises NotFoundError."""
        self._check_owner()
        check_name(name)
        with_snapshots(self._store).delete_snapshot(name)

    def export(self, path: str | os.PathLike[str]) -> str:
        """Write the whole collection to one new file, for `from_export`; return the file's SHA-256.

        Equal collections make equal files. Raises InvalidInputError for a file that is there.
        """
        self._check_owner()
        check_path("`path`", path, "Name a new file.")
        return export_index(self._store, Path(path))

    def diff(self, before: str, after: str = NOW, queries: Sequence[str] = (), k: int = 10) -> IndexDiff:
        """Return which documents, and which rankings of some questions, changed between two states.

        `before` and `after` are snapshots, named as for `at`, or `now`. Questions are searched at both, by the settings
        that the index kept then. Raises NotFoundError.
        """
        self._check_owner()
        with ExitStack() as stack:
            sides = [self if one == NOW else stack.enter_context(self.at(one)) for one in (before, after)]
            documents = document_changes(*(side.documents() for side in sides))
            options = SearchOptions(k=k)
            found = [[_passages(one) for one in side.search_many(queries, options)] for side in sides]
        pairs = zip(queries, *found, strict=True)
        changed = (ranking_change(query, old, new) for query, old, new in pairs)
        return IndexDiff(documents, len(queries), tuple(one for one in changed if one is not None))

    def branch(self, name: str | Path) -> None:
        """Make a new index of all that this one holds, the settings that it keeps included.

        Interrupted, it leaves no index. Raises InvalidInputError for a name that is taken.
        """
        self._check_owner()
        copy_index(self._store, name, self._asked)

    @classmethod
    def from_export(cls, path: str | os.PathLike[str], where: str | Path, config: str | Path | None = None) -> Self:
        """Make the new index `where` of a file that `export` wrote, and open it. What the file says is data.

        Raises NotFoundError, CorruptError for a file that is damaged or none of ours, MismatchError for another format,
        InvalidInputError for a name that is taken.
        """
        settings = resolve(config=config).settings
        check_path("`path`", path, "Name a file that `export` wrote.")
        import_index(Path(path), where, settings)
        try:
            return cls(where, config=config, create=False)
        except TwofoldError:  # it says what no index can be opened by, such as an analyzer that there is not
            remove_index(where, settings)
            raise

    def drop(self) -> None:
        """Delete the index for good, and close it. The documents' own files are left alone.

        Raises InvalidInputError, deleting nothing, when its folder holds anything else.
        """
        self._check_owner()
        self.close()
        if self._where != MEMORY:
            remove_index(self._where, self._asked)
            self._sessions.forget()
            kept = query_log_of(self._where, self._asked)
            if kept is not None:
                kept.clear()


def _passages(found: SearchResult) -> list[RankedPassage]:
    return [RankedPassage(hit.chunk_id, hit.source, tuple(hit.heading), hit.rank) for hit in found.hits]
