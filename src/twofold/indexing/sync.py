"""The sync: make an index say what some folders say. It may be killed at any moment and run again."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from twofold.domain.errors import ReadError
from twofold.domain.ports import Snapshot, Store
from twofold.domain.types import Document, Metadata
from twofold.indexing.components import IndexingComponents
from twofold.indexing.diff import GIVEN, NONE_GIVEN, Diff, Root, SyncTarget, is_below, root_name, survey, sync_fields
from twofold.indexing.embed import embed_pending
from twofold.indexing.prepare import prepare
from twofold.indexing.spread import Prepared, Reads
from twofold.indexing.types import Failure, Phase, SkippedPath, SyncPlan, SyncProgress, SyncReport, Unread, VectorTiming
from twofold.ingest.boilerplate import SharedBlocks
from twofold.ingest.pool import Failed, ReaderPool
from twofold.ingest.readers.ocr.engine import WITHOUT_TEXT, hint_for_pictures
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.source_types import from_origin
from twofold.ingest.walk import check_there

CHARACTER_BATCH_SIZE = 200_000  # of text between two commits: a second or two of embedding
DOCUMENT_BATCH_SIZE = 64
SAMPLE = 64  # documents of the index whose blocks are compared with those of files that are added later

OnProgress = Callable[[SyncProgress], None]


def plan_sync(
    parts: IndexingComponents, roots: Sequence[Root], limits: Limits, metadata: Metadata = NONE_GIVEN
) -> SyncPlan:
    """Return what a sync would do."""
    with parts.store.view(rows_only=True) as view:
        return replace(survey(view, roots, limits, metadata).plan, pending=view.pending)


def sync(  # each may be left out but the first four
    parts: IndexingComponents,
    roots: Sequence[Root],
    limits: Limits,
    on_progress: OnProgress,
    metadata: Metadata = NONE_GIVEN,
    vectors: VectorTiming = "follow",
) -> SyncReport:
    """Add, update and delete documents until the index says what the roots say.

    Documents are committed a few at a time, each whole, then what is gone is deleted. Then `vectors` follow: until a
    passage has its own, its words find it, and a sync that is stopped goes on with those that wait. A file that cannot
    be read becomes one failure, and what the index held of it stays. Raises NotFoundError for a root that is not there,
    MismatchError when the index was made with other parts, WriterBusyError, StorageFullError, ModelError; what was
    committed stays.
    """
    started = time.monotonic()
    on_progress(SyncProgress(Phase.WALK, 0, 0))
    check_there(
        [root for root in roots if isinstance(root, str | os.PathLike)]
    )  # before an index is made that nothing would be in
    parts.store.ensure_fingerprint(parts.fingerprint)
    with parts.store.view(rows_only=True) as view:
        found = survey(view, roots, limits, metadata)
        shared = SharedBlocks(_sample(view, found))
    if found.readers:
        parts.store.set_readers(found.readers)  # before anything else: what was taken away is hidden at once
    run = _Run(parts, found, on_progress, at_once=vectors == "atomic" or parts.embeds_at_once)
    if parts.spread is not None:
        for prepared in parts.spread.prepare_all(map(shared.cleaned, run.batches(parts.spread, limits))):
            run.take(prepared)
    else:
        with ReaderPool(own=parts.readers, on_picture=run.see_picture) as pool:
            for batch in run.batches(pool, limits):
                run.write(shared.cleaned(batch))
    failed = run.failed
    on_progress(SyncProgress(Phase.WRITE, len(found.to_read), len(found.to_read), "", run.embedded))
    kept = {rename.old for rename in found.plan.renamed if rename.new in failed}
    parts.store.delete([info.id for info in found.to_delete if info.source not in kept])
    _touch(parts.store, found.touched)
    _note_roots(parts.store, roots, changed=bool(found.to_read or found.to_delete or found.touched))
    pending = run.embed_rest() if vectors != "later" else parts.store.info().pending
    return run.report(found.plan, pending, time.monotonic() - started)


def _sample(view: Snapshot, found: Diff) -> list[Document]:
    """Return some documents of the index, evenly by source, with what was dropped of them: what files share shows."""
    if not found.to_read:
        return []
    held = [info.id for info in view.documents()]
    some = held[:: max(1, -(-len(held) // SAMPLE))]
    return [document for document in map(view.document, some) if document is not None]


def _touch(store: Store, touched: Mapping[str, Metadata]) -> None:
    """Store the times of files with their documents, a few in each transaction; nothing is embedded."""
    names = list(touched)
    for first in range(0, len(names), DOCUMENT_BATCH_SIZE):
        store.set_metadata({name: touched[name] for name in names[first : first + DOCUMENT_BATCH_SIZE]})


def _note_roots(store: Store, roots: Sequence[Root], *, changed: bool) -> None:
    """Note what was synced: where something changed, and for a root that is new. One below another is that other's."""
    known = store.info().roots
    named = {root_name(root) for root in roots}
    whole = {next((one for one in known if is_below(root, one)), root) for root in named}
    if changed or not whole <= known.keys():
        store.note_roots(dict.fromkeys(sorted(whole), time.time_ns()))


class _Run:
    """The counts of one sync on its way."""

    def __init__(self, parts: IndexingComponents, found: Diff, on_progress: OnProgress, *, at_once: bool) -> None:
        self._parts = parts
        self._at_once = at_once
        self._pending = 0
        self._wanted = {one.found.source: one for one in found.to_read}
        self._on_progress = on_progress
        self._done = 0
        self._last = ""
        self._new = frozenset(found.plan.added)
        self.failures: list[Failure] = []
        self.blank: list[SkippedPath] = []
        self.unread: list[Unread] = []
        self.passages = 0
        self.embedded = 0
        self.truncated = 0

    def batches(self, pool: Reads, limits: Limits) -> Iterator[list[Document]]:
        """Read the wanted files, a batch between two commits."""
        batch: list[Document] = []
        for outcome in pool.read_all(self._sources(limits)):
            self._done += 1
            self._last = outcome.source
            self._report(Phase.READ)
            if isinstance(outcome, Failed):
                self._fail(outcome.source, outcome.error)
            else:
                self._note_unread(outcome)
                batch.append(placed(outcome, self._wanted[outcome.source]))
            if len(batch) >= DOCUMENT_BATCH_SIZE or sum(len(one.text) for one in batch) >= CHARACTER_BATCH_SIZE:
                yield batch
                batch = []
        if batch:
            yield batch

    def see_picture(self, source: str, number: int, count: int) -> None:
        """Report that a picture of a file is read now."""
        self._on_progress(replace(self._progress(Phase.READ), source=source, picture=number, pictures=count))

    def _note_unread(self, document: Document) -> None:
        pages = document.metadata.get(WITHOUT_TEXT)
        if isinstance(pages, int) and pages:
            self.unread.append(Unread(document.source, pages, hint_for_pictures()))

    def write(self, batch: Sequence[Document]) -> None:
        """Commit a batch: with the vectors of what is new, or without vectors."""
        with self._parts.store.view(rows_only=True) as view:
            prepared = prepare(batch, self._parts, view, self._embedded, embed=self._at_once)
        self._put(prepared)

    def take(self, prepared: Prepared) -> None:
        """Commit a batch that was prepared elsewhere, with its vectors."""
        self._embedded(prepared.embedded)
        self._put(prepared)

    def _put(self, prepared: Prepared) -> None:
        self._report(Phase.WRITE)
        self._parts.store.upsert(prepared.entries)
        self.passages += sum(len(entry.chunks) for entry in prepared.entries)
        self.truncated += prepared.truncated
        self._pending += sum(one.vector is None for entry in prepared.entries for one in entry.chunks)

    @property
    def failed(self) -> frozenset[str]:
        """The sources that could not be read, or hold nothing to be found."""
        return frozenset((*(failure.source for failure in self.failures), *(one.path for one in self.blank)))

    def report(self, plan: SyncPlan, pending: int, seconds: float) -> SyncReport:
        """Return what was done of a plan."""
        failed = self.failed
        return SyncReport(
            added=tuple(source for source in plan.added if source not in failed),
            updated=tuple(source for source in plan.updated if source not in failed),
            renamed=tuple(rename for rename in plan.renamed if rename.new not in failed),
            deleted=plan.deleted,
            unchanged=plan.unchanged,
            failed=tuple(self.failures),
            skipped=(*plan.skipped, *self.blank),
            passages=self.passages,
            embedded=self.embedded,
            truncated=self.truncated,
            pending=pending,
            seconds=seconds,
            readers=plan.readers,
            unread=tuple(self.unread),
        )

    def embed_rest(self) -> int:
        """Embed all passages, also those that earlier runs left; return how many still have none."""
        vectors = 0

        def count(given: int, pending: int) -> None:
            nonlocal vectors
            vectors += given
            self._pending = pending
            self._on_progress(SyncProgress(Phase.EMBED, self._done, len(self._wanted), "", vectors, pending))

        rest = embed_pending(self._parts, count)
        self.embedded += rest.embedded
        self.truncated += rest.truncated
        return rest.pending

    def _sources(self, limits: Limits) -> Iterator[Source]:
        for one in self._wanted.values():
            try:
                yield one.load(limits)
            except ReadError as error:
                self._done += 1
                self._fail(one.found.source, error)

    def _fail(self, source: str, error: ReadError) -> None:
        """Note why a file could not be read. A new one without text, as `__init__.py` often is, lacks nothing.

        One that the index has a text of is a failure: it may be half written, and its text stays.
        """
        failure = Failure(source, error.kind, error.message, error.hint)
        if failure.kind == "empty" and source in self._new:
            self.blank.append(SkippedPath(source, failure.reason))
        else:
            self.failures.append(failure)

    def _embedded(self, count: int) -> None:
        self.embedded += count
        self._report(Phase.EMBED)

    def _report(self, phase: Phase) -> None:
        self._on_progress(self._progress(phase))

    def _progress(self, phase: Phase) -> SyncProgress:
        return SyncProgress(phase, self._done, len(self._wanted), self._last, self.embedded, self._pending)


def placed(document: Document, wanted: SyncTarget) -> Document:
    """Note where a document came from, so that the next sync knows whether it changed, and filters can ask.

    Fields that the caller of the sync gave win over what the file states.
    """
    local = from_origin(document, wanted.origin)
    names: Metadata = {GIVEN: tuple(wanted.given)} if wanted.given else {}
    metadata = {**local.metadata, **sync_fields(wanted), **wanted.given, **names}
    return replace(local, metadata=metadata, readers=wanted.to_read())
