"""An index, as a Python program uses it."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, overload

from twofold.compose import MEMORY, folder_of, make_parts, open_store, plan_of, remove_index, rerankers_for, settings_of
from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.domain.filters import EVERYTHING, Filter
from twofold.domain.ports import Embedder, Finding, Recipe, Reranker
from twofold.domain.types import Chunk, Document, DocumentInfo, Metadata, document_id
from twofold.ingest.documents import content_hash
from twofold.ingest.pool import Failed, ReaderPool
from twofold.ingest.reading import Limits, clean
from twofold.ingest.walk import Skipped, load, walk
from twofold.models.progress import Progress, ignore
from twofold.pipeline.naming import document_named
from twofold.pipeline.prepare import prepare
from twofold.pipeline.reindex import reindex
from twofold.pipeline.results import SearchResult
from twofold.pipeline.search import search
from twofold.pipeline.sync import OnProgress, plan_sync, sync
from twofold.pipeline.types import SyncPlan, SyncProgress, SyncReport
from twofold.pipeline.watch import changes
from twofold.settings import Settings, load_settings

NO_METADATA: Metadata = {}


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index holds, where, and how it was made. `recipe` is None until it holds a document."""

    name: str
    folder: str
    recipe: Recipe | None
    documents: int
    chunks: int
    generation: int
    segments: int
    bytes_on_disk: int


def say_nothing(_: SyncProgress) -> None:
    """Report progress to nobody."""


class Index:
    """A searchable collection of documents.

    `where` is a name (kept under `TWOFOLD_HOME`), a path (kept there), or `":memory:"`. `settings` replaces what the
    environment and `twofold.yaml` say; where they are left at their defaults an existing index is opened as it was
    made. `embedder` brings one of your own. `on_model` hears of a model being fetched.

    >>> from twofold import Index
    >>> from twofold.models.hashing import HashingEmbedder
    >>> with Index(":memory:", embedder=HashingEmbedder()) as index:
    ...     _ = index.add("The cat sat on the mat.", source="cat.txt")
    ...     [hit.source for hit in index.search("cat").hits]
    ['cat.txt']

    Raises NotFoundError when `create` is false and there is no such index, InvalidInputError for a name that is none.
    """

    def __init__(
        self,
        where: str | Path = "default",
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        create: bool = True,
        on_model: Callable[[Progress], None] = ignore,
    ) -> None:
        asked = settings or load_settings()
        self._where = where
        self._asked = asked
        self._own_embedder = embedder
        self._store = open_store(where, asked, create=create)
        self._settings = settings_of(asked, self._store.info().recipe)
        self._parts = make_parts(self._store, self._settings, embedder, on_model)
        self._rerankers = rerankers_for(self._settings, on_model)

    @property
    def settings(self) -> Settings:
        """The settings in force, the index's own included."""
        return self._settings

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
        limits = self._limits()
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
        cleaned = clean(text)
        hashed = content_hash(cleaned.encode())
        name = clean(source) or (id if id is not None else f"text {hashed[:12]}")
        document = Document(
            id=id if id is not None else document_id(name),
            source=name,
            text=cleaned,
            title=clean(title),
            metadata=metadata,
            content_hash=hashed,
        )
        return self.add_all([document])[0]

    def add_file(self, path: str | os.PathLike[str], *, metadata: Metadata = NO_METADATA) -> DocumentInfo:
        """Read one file, of any format that `sync` reads, and add or replace its document.

        Raises NotFoundError, or ReadError when it cannot be read.
        """
        found = next(walk(path, self._limits()), None)
        if found is None or isinstance(found, Skipped) or Path(path).is_dir():
            reason = found.reason if isinstance(found, Skipped) else "it is a folder"
            raise InvalidInputError(f"{os.fspath(path)} cannot be added: {reason}.", "Use `sync` for folders.")
        with ReaderPool() as pool:
            (outcome,) = pool.read_all([load(found, self._limits())])
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

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        mode: str | None = None,
        filter: Filter = EVERYTHING,  # noqa: A002
        rerank: str | Reranker | None = None,
    ) -> SearchResult:
        """Find the `k` passages (1 to 1,000) that answer a question best.

        `mode` is `hybrid` (words and meaning), `bm25` (words alone) or `semantic` (meaning alone). In the question,
        `"quoted phrases"` must occur verbatim, `+word` must occur and `-word` must not. `filter` acts before the cut.
        `rerank` names a model that reads the best again, or is one of your own; `none` leaves it out.
        Raises InvalidInputError for an empty question or a k out of range, MismatchError when the embedder is not the
        one that the index was made with, ModelError when mode is `semantic` and the model cannot be had.
        """
        plan = plan_of(self._settings)
        asked = replace(plan, k=plan.k if k is None else k, mode=mode or plan.mode, filter=filter)
        chosen = rerank or self._settings.search.rerank
        reranker = self._rerankers.named(chosen) if isinstance(chosen, str) else chosen
        return search(replace(self._parts, reranker=reranker), query, asked)

    def info(self) -> IndexInfo:
        """Say what the index holds and how it was made."""
        held = self._store.info()
        folder = MEMORY if self._where == MEMORY else str(folder_of(self._where, self._asked.home))
        return IndexInfo(
            name=str(self._where),
            folder=folder,
            recipe=held.recipe,
            documents=held.documents,
            chunks=held.chunks,
            generation=held.generation,
            segments=held.segments,
            bytes_on_disk=held.bytes_on_disk,
        )

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

    def close(self) -> None:
        """Leave a state that opens fast, and close. Calling it twice does nothing more."""
        try:
            self._store.close()
        finally:
            self._rerankers.close()
            if self._own_embedder is None:
                self._parts.embedder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _limits(self) -> Limits:
        chosen = self._settings.sync
        return Limits(
            file_bytes=chosen.file_bytes,
            archive_ratio=chosen.archive_ratio,
            archive_depth=chosen.archive_depth,
            memory_bytes=chosen.memory_bytes,
            cpu_seconds=chosen.cpu_seconds,
        )

    def _named(self, name: str) -> DocumentInfo:
        with self._store.view() as view:
            return document_named(view, name)
