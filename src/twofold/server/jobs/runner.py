"""The threads that do jobs: those of one index one after the other, those of others meanwhile.

Each file is read in a process of its own and added whole, or not. A job that finds no room on the disk waits and is
tried again as soon as there is more; nothing that can go wrong with a job, or with its record, ends a thread.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError, StorageFullError, StoreError, TwofoldError
from twofold.domain.types import Document
from twofold.factory.indexing import limits_of
from twofold.index import Index
from twofold.indexing.types import SyncProgress, SyncReport
from twofold.ingest.document import document_of_text
from twofold.ingest.pool import Failed, Outcome, ReaderPool
from twofold.ingest.readers.types import Source
from twofold.ingest.source_types import UPLOAD, from_origin
from twofold.server.errors import Problem, ProblemError, problem_of
from twofold.server.index_pool import IndexPool
from twofold.server.jobs.store import Job, JobFile, JobKind, Jobs, Part, State
from twofold.server.uploads_store import UploadsStore

CHARACTER_BATCH_SIZE = 100_000
DOCUMENT_BATCH_SIZE = 32
MAX_FAILURES = 1_000
POLL_SECONDS = 0.25
FIRST_PAUSE, MAX_PAUSE = 0.5, 8.0
"""Seconds until a job is tried again although the disk has no more room than before; each pause is twice the last."""

logger = logging.getLogger("twofold.server")


class _StoppedError(Exception):
    """The server closes; the job goes on after the next start."""


class _CancelledError(Exception):
    """Somebody stopped the job."""


class JobRunner:
    """Owns the threads that do jobs: as many as indexes that are filled at once."""

    def __init__(self, jobs: Jobs, indexes: IndexPool, originals: UploadsStore, count: int) -> None:
        self._jobs = jobs
        self._indexes = indexes
        self._originals = originals
        self._threads = [
            threading.Thread(target=self._work, name=f"twofold jobs {at}", daemon=True) for at in range(count)
        ]

    def start(self) -> None:
        """Begin with what waits."""
        for thread in self._threads:
            thread.start()

    @property
    def alive(self) -> bool:
        """Whether jobs are being done."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self, seconds: float) -> None:
        """Stop after the file in hand; one that takes longer is broken off with the process, and read again later."""
        self._jobs.close()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        pause = FIRST_PAUSE
        while (job := self._jobs.next()) is not None:
            try:
                self._do(job)
                pause = FIRST_PAUSE
            except _StoppedError:
                return
            except Exception as error:  # noqa: BLE001 - this is a door: the thread must live, and no job may be lost
                if self._jobs.closed:  # its index was closed under it; it goes on after the next start
                    return
                logger.warning("a job waits because of %s", type(error).__name__)
                self._jobs.put_back(job.id, _problem(error))
                self._wait_for_room(pause)
                pause = min(2.0 * pause, MAX_PAUSE)
            finally:
                self._jobs.leave(job)

    def _do(self, job: Job) -> None:
        """Do a job, or say why it failed. Raises what keeps it from being done or its end from being recorded."""
        try:
            if job.kind is JobKind.BRANCH:
                self._branch(job)
                return
            with self._indexes.open_index(job.index) as opened:
                principals = self._jobs.task_of(job).principals
                index = opened if principals is None else opened.as_principals(principals)
                if job.kind is JobKind.SYNC:
                    self._sync(job, index)
                else:
                    self._add(job, index)
        except (_StoppedError, StorageFullError):
            raise
        except _CancelledError:
            self._jobs.end_cancelled(self._jobs.named(job.id) or job)
        except Exception as error:  # a door, as above
            if self._jobs.closed:
                raise _StoppedError from error
            if not isinstance(error, TwofoldError | ProblemError):
                logger.error("job ended by %s", type(error).__name__)  # noqa: TRY400 - a traceback may quote documents
            self._end_with(job.id, _problem(error))

    def _wait_for_room(self, pause: float) -> None:
        """Wait until the disk has more room than now; a quota does not show there, so not for ever."""
        before, rested = self._jobs.room(), 0.0
        while rested < pause and not self._jobs.rest(POLL_SECONDS) and self._jobs.room() <= before:
            rested += POLL_SECONDS

    def _sync(self, job: Job, index: Index) -> None:
        def on_progress(progress: SyncProgress) -> None:
            self._check(job)
            told = replace(job, phase=progress.phase.value, done=progress.done, total=progress.total)
            self._jobs.show(replace(told, pending=progress.pending))

        report = index.sync(*self._jobs.task_of(job).paths, progress=on_progress)
        self._jobs.end(_synced(job, report))

    def _branch(self, job: Job) -> None:
        self._check(job)
        task = self._jobs.task_of(job)
        taken = self._indexes.exists(task.new)
        if taken and self._jobs.has_begun(job):  # it was made, and what would have recorded so was interrupted
            made = self._indexes.info(task.new)
        else:
            if not taken:
                self._jobs.begin(job)
            made = self._indexes.branch(job.index, task.as_of, task.new)
        counts = {"added": made.documents, "passages": made.chunks}
        self._jobs.end(replace(job, state=State.DONE, counts=counts))

    def _add(self, job: Job, index: Index) -> None:
        run = _Adding(self._jobs, self._originals, index, job)
        with ReaderPool(own=index.readers, on_picture=lambda *_: self._check(job)) as pool:
            for part, outcome in _outcomes(self._jobs, run, pool, index):
                self._check(job)
                run.take(part, outcome)
        run.flush()
        ended = run.job
        good = sum(file.state is State.DONE for file in ended.files)
        counts = {"added": good, "failed": len(ended.files) - good, "passages": sum(one.chunks for one in ended.files)}
        state = State.DONE if good or not ended.files else State.FAILED
        self._jobs.end(replace(ended, state=state, counts=counts))

    def _check(self, job: Job) -> None:
        """Raise _StoppedError when the server closes, _CancelledError when somebody stopped the job."""
        if self._jobs.closed:
            raise _StoppedError
        if self._jobs.is_cancelled(job.id):
            raise _CancelledError

    def _end_with(self, identity: str, problem: Problem) -> None:
        job = self._jobs.named(identity)
        if job is not None:
            files = tuple(
                replace(file, state=State.FAILED, problem=problem) if file.state is State.WAITING else file
                for file in job.files
            )
            self._jobs.end(replace(job, state=State.FAILED, files=files, problem=problem))


@dataclass(slots=True)
class _Adding:
    """One job on its way: what was read and is not yet committed."""

    jobs: Jobs
    originals: UploadsStore
    index: Index
    job: Job
    held: dict[str, tuple[int, Part, Document]] = field(default_factory=dict)

    def waiting(self) -> Iterator[tuple[int, Part]]:
        """Return the parts that are still to be read; after a restart some are not."""
        parts = self.jobs.task_of(self.job).parts
        yield from (one for one in enumerate(parts) if self.job.files[one[0]].state is State.WAITING)

    def take(self, part: tuple[int, Part], outcome: Outcome) -> None:
        """Take in one file that was read, and commit when there is enough."""
        place, read = part
        if isinstance(outcome, Failed):
            self._say({place: JobFile(read.name, State.FAILED, read.id, problem=problem_of(outcome.error))})
            return
        if outcome.id in self.held:
            self.flush()
        self.held[outcome.id] = (place, read, outcome)
        characters = sum(len(one.text) for _, _, one in self.held.values())
        if len(self.held) >= DOCUMENT_BATCH_SIZE or characters >= CHARACTER_BATCH_SIZE:
            self.flush()

    def flush(self) -> None:
        """Commit what is held, all of it or none."""
        if not self.held:
            return
        held, self.held = list(self.held.values()), {}
        infos = self.index.add_many([document for _, _, document in held])
        for _, part, document in held:
            if not part.is_text:
                self.originals.keep(self.job.index, document, self.jobs.data_of(self.job, part).read_bytes())
        self._say(
            {
                place: JobFile(part.name, State.DONE, info.id, info.chunks)
                for (place, part, _), info in zip(held, infos, strict=True)
            }
        )

    def _say(self, changed: dict[int, JobFile]) -> None:
        files = tuple(changed.get(place, file) for place, file in enumerate(self.job.files))
        self.job = replace(self.job, files=files, done=self.job.done + len(changed))
        self.jobs.keep(self.job)


def _outcomes(jobs: Jobs, run: _Adding, pool: ReaderPool, index: Index) -> Iterator[tuple[tuple[int, Part], Outcome]]:
    """Read the parts of a job, one at a time."""
    limits = limits_of(index.settings)
    for place, part in run.waiting():
        data = jobs.data_of(run.job, part).read_bytes()
        if part.is_text:
            document = document_of_text(data.decode("utf-8"), part.name, part.title, part.metadata, part.id or None)
            yield (place, part), replace(document, readers=part.readers)
        else:
            (outcome,) = pool.read_all([Source(part.name, data, limits)])
            yield (place, part), _named(outcome, part)


def _named(outcome: Outcome, part: Part) -> Outcome:
    """Put what the sender said of a file over what was found in it."""
    if isinstance(outcome, Failed):
        return outcome
    sent = from_origin(outcome, UPLOAD)
    return replace(
        sent,
        id=part.id or sent.id,
        title=part.title or sent.title,
        readers=part.readers,
        metadata={**sent.metadata, **part.metadata},
    )


def _synced(job: Job, report: SyncReport) -> Job:
    named: Sequence[tuple[str, int]] = (
        ("added", len(report.added)),
        ("updated", len(report.updated)),
        ("renamed", len(report.renamed)),
        ("deleted", len(report.deleted)),
        ("unchanged", report.unchanged),
        ("failed", len(report.failed)),
        ("pages_without_text", sum(one.pages for one in report.unread)),
        ("passages", report.passages),
    )
    files = tuple(
        JobFile(one.source, State.FAILED, problem=problem_of(ReadError(one.message, one.hint, one.kind)))
        for one in report.failed[:MAX_FAILURES]
    )
    total = len(report.added) + len(report.updated) + len(report.renamed) + len(report.failed)
    return replace(job, state=State.DONE, counts=dict(named), files=files, done=total, total=total)


def _problem(error: Exception) -> Problem:
    if isinstance(error, ProblemError):
        return error.problem
    if isinstance(error, TwofoldError):
        return problem_of(error)
    return problem_of(StoreError("Something went wrong that was not foreseen.", "The server's log names the place."))
