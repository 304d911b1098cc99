"""Jobs: work that takes longer than a request. They are on disk before they are acknowledged, and outlive a restart.

What a job is to read lies in a folder of its own, in files that are named by numbers. The folder goes when the job
ends, however it ends, and whatever lies there without a job goes when the server starts.
"""

import secrets
import shutil
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path

import msgspec

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import TwofoldError
from twofold.domain.types import Scalar
from twofold.server.errors import Problem, refused
from twofold.server.limits import ServerLimits
from twofold.server.state_db import StateDatabase, damaged_records
from twofold.stores.local.durable import make_folder, refusal, write_durably
from twofold.system.files import flush_folder


class JobKind(StrEnum):
    """What a job does: adds documents that were sent, syncs folders of the server, or makes an index of another."""

    DOCUMENTS = "documents"
    SYNC = "sync"
    BRANCH = "branch"


class State(StrEnum):
    """How far something is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
ENDED = frozenset({State.DONE, State.FAILED, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class JobFile:
    """One file or text of a job. `document` is its id and `chunks` its passages when it is done, `problem` why not."""

    name: str
    state: State = State.WAITING
    document: str = ""
    chunks: int = 0
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job as everybody sees it. Times are in UTC; `done` of `total` files were read, with or without success.

    Of a sync `files` are only those that failed. `counts` say what it did: added, updated, renamed, deleted, unchanged,
    failed, passages. While it runs, `pending` counts the passages that words find and that have no vector yet. A job
    that could not go on waits with the phase `retrying`, and `problem` says for what. `by` is the id of the token that
    asked for it.
    """

    id: str
    index: str
    kind: JobKind
    state: State
    created: str
    started: str = ""
    finished: str = ""
    phase: str = ""
    done: int = 0
    total: int = 0
    pending: int = 0
    files: tuple[JobFile, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    problem: Problem | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What is to be read for one file of a job: `data` names a file in the job's folder.

    With `is_text` it is UTF-8 text as it is, else a file of any format. `id` is empty for the one made from the name.
    """

    name: str
    data: str
    is_text: bool = False
    id: str = ""
    title: str = ""
    metadata: Mapping[str, Scalar | tuple[Scalar, ...]] = field(default_factory=dict)
    readers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What a job is to do, kept with its files; `principals` are those of who asked, None for every document.

    A branch makes the index `new`, as its own was at `as_of`.
    """

    parts: tuple[Part, ...] = ()
    paths: tuple[str, ...] = ()
    new: str = ""
    as_of: str = ""
    principals: tuple[str, ...] | None = None
    by: str = ""


_TASK_FILE = "task.json"
_BEGUN_FILE = "begun"
RETRYING = "retrying"


class Jobs:
    """Keeps jobs and hands them out, of each index one at a time. Safe to use from several threads."""

    def __init__(self, folder: Path, state_db: StateDatabase, limits: ServerLimits) -> None:
        self._spool = folder / "spool"
        self._journal = state_db
        self._limits = limits
        self._changed = threading.Condition()
        self._recording = threading.Lock()  # a record is never written after it was deleted
        self._jobs: dict[str, Job] = {}
        self._waiting: deque[str] = deque()
        self._busy: set[str] = set()
        self._cancelled: set[str] = set()
        self._coming = 0
        self._closed = False
        make_folder(self._spool)
        self._resume()

    @property
    def waiting(self) -> int:
        """How many jobs wait or are being handed in."""
        with self._changed:
            return len(self._waiting) + self._coming

    @property
    def closed(self) -> bool:
        """Whether no more jobs are begun; who does one should stop where it can."""
        with self._changed:
            return self._closed

    def new_folder(self) -> Path:
        """Make a folder for the files of a job that is about to be submitted. Raises ProblemError when too many wait.

        It must be given to `submit` or to `abandon`.
        """
        with self._changed:
            if self._closed or len(self._waiting) + self._coming >= self._limits.queued_jobs:
                raise refused(
                    _TOO_MANY, "Too many jobs are waiting.", "Send it again when some have ended.", retry_after=5
                )
            self._coming += 1
        folder = self._spool / secrets.token_hex(8)
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            self.abandon(folder)
            raise refusal(error, "an upload") from error
        return folder

    def abandon(self, folder: Path) -> None:
        """Discard an upload that becomes no job."""
        with self._changed:
            self._coming -= 1
        shutil.rmtree(folder, ignore_errors=True)

    def submit(self, folder: Path, index: str, kind: JobKind, task: Task) -> Job:
        """Make a job of a folder whose files are written and flushed; it is durable when this returns."""
        files = tuple(JobFile(part.name, document=part.id) for part in task.parts)
        job = Job(folder.name, index, kind, State.WAITING, _now(), total=len(files), files=files, by=task.by)
        write_durably(folder / _TASK_FILE, [msgspec.json.encode(task)])
        try:
            flush_folder(self._spool)
        except OSError as error:
            raise refusal(error, "an upload") from error
        self._journal.keep_job(job.id, msgspec.json.encode(job))
        with self._changed:
            self._coming -= 1
            self._jobs[job.id] = job
            self._waiting.append(job.id)
            self._changed.notify_all()
        self._forget_old()
        return job

    def named(self, identity: str) -> Job | None:
        """Return a job as it stands."""
        with self._changed:
            return self._jobs.get(identity)

    def all(self) -> Sequence[Job]:
        """Return all jobs that are remembered, the newest last."""
        with self._changed:
            return list(self._jobs.values())

    def next(self) -> Job | None:
        """Wait for a job to do and say that it runs; None when the server closes.

        An index has one job at a time, in the order in which they came; say `leave` when it is no longer worked on.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._doable() is not None)
            identity = self._doable()
            if self._closed or identity is None:
                return None
            self._waiting.remove(identity)
            job = self._jobs[identity]
            self._busy.add(job.index)
            running = replace(job, state=State.RUNNING, started=_now(), phase="", problem=None)
            self._jobs[job.id] = running
        return running

    def leave(self, job: Job) -> None:
        """Let the next job of the same index be done."""
        with self._changed:
            self._busy.discard(job.index)
            self._changed.notify_all()

    def _doable(self) -> str | None:
        return next((one for one in self._waiting if self._jobs[one].index not in self._busy), None)

    def cancel(self, identity: str) -> None:
        """Stop a job: one that waits ends now, one that runs after the file in hand; what it added stays.

        Raises ProblemError (409) for one that has ended. Raises StorageFullError or StoreError.
        """
        with self._changed:
            job = self._jobs.get(identity)
            waits = identity in self._waiting
            if waits:
                self._waiting.remove(identity)
            elif job is not None and job.state not in ENDED:
                self._cancelled.add(identity)
        if job is None or job.state in ENDED:
            raise refused(HTTPStatus.CONFLICT, "That job has ended.", "What it added can be deleted by document.")
        if waits:
            self.end_cancelled(job)

    def is_cancelled(self, identity: str) -> bool:
        """Return whether somebody stopped a job that runs."""
        with self._changed:
            return identity in self._cancelled

    def end_cancelled(self, job: Job) -> None:
        """Mark a job as stopped, with the files that were not read."""
        with self._changed:
            self._cancelled.discard(job.id)
        files = tuple(
            replace(file, state=State.CANCELLED) if file.state is State.WAITING else file for file in job.files
        )
        self.end(replace(job, state=State.CANCELLED, files=files))

    def put_back(self, identity: str, problem: Problem) -> None:
        """Let a job that could not go on wait again, before all others; nothing is written, for there may be no room.

        It begins again where it stood when `keep` was last called.
        """
        with self._changed:
            job = self._jobs.get(identity)
            if job is not None:
                self._jobs[identity] = replace(job, state=State.WAITING, phase=RETRYING, problem=problem)
                self._waiting.appendleft(identity)

    def room(self) -> int:
        """Return how many bytes are free where jobs are kept; 0 where nobody knows."""
        with suppress(OSError):
            return shutil.disk_usage(self._spool).free
        return 0

    def rest(self, seconds: float) -> bool:
        """Wait some seconds, less when the server closes; say whether it does."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed, seconds)

    def task_of(self, job: Job) -> Task:
        """Return what a job is to do."""
        return msgspec.json.decode((self._spool / job.id / _TASK_FILE).read_bytes(), type=Task)

    def has_begun(self, job: Job) -> bool:
        """Return whether `begin` was called for a job, also by a process that was killed since."""
        return (self._spool / job.id / _BEGUN_FILE).exists()

    def begin(self, job: Job) -> None:
        """Note, durably, that a job makes from now on what nobody else makes."""
        write_durably(self._spool / job.id / _BEGUN_FILE, [b""])

    def data_of(self, job: Job, part: Part) -> Path:
        """Return the file that holds what is to be read."""
        return self._spool / job.id / part.data

    def show(self, job: Job) -> None:
        """Let everybody see how far a job is; after a restart it stands where it stood when `keep` was last called."""
        with self._changed:
            if job.id in self._jobs:  # its index may have been deleted meanwhile
                self._jobs[job.id] = job

    def keep(self, job: Job) -> None:
        """Let everybody see how far a job is, after a restart too. Raises StorageFullError or StoreError."""
        with self._recording:
            if self.named(job.id) is not None:
                self._journal.keep_job(job.id, msgspec.json.encode(job))
        self.show(job)

    def end(self, job: Job) -> None:
        """Mark a job as ended, and delete its uploads."""
        self.keep(replace(job, finished=_now(), phase=""))
        shutil.rmtree(self._spool / job.id, ignore_errors=True)

    def forget_index(self, index: str) -> None:
        """Delete all jobs of an index that is gone, those that wait too, and what they were to read."""
        with self._recording:
            with self._changed:
                gone = [job.id for job in self._jobs.values() if job.index == index]
                for identity in gone:
                    del self._jobs[identity]
                self._waiting = deque(identity for identity in self._waiting if identity in self._jobs)
            for identity in gone:
                shutil.rmtree(self._spool / identity, ignore_errors=True)
            self._journal.forget_jobs(gone)

    def close(self) -> None:
        """Begin no more jobs; those that wait or run are taken up again after the next start."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _resume(self) -> None:
        for record in self._journal.jobs():
            try:
                job = msgspec.json.decode(record, type=Job)
            except msgspec.DecodeError as error:
                raise damaged_records() from error
            if job.state not in ENDED:
                job = replace(job, state=State.WAITING, phase="")
                self._waiting.append(job.id)
            self._jobs[job.id] = job
        for folder in self._spool.iterdir():
            if folder.name not in self._waiting:
                shutil.rmtree(folder, ignore_errors=True)

    def _forget_old(self) -> None:
        with self._changed:
            ended = [job.id for job in self._jobs.values() if job.state in ENDED]
        old = ended[: max(0, len(ended) - self._limits.kept_jobs)]
        with suppress(TwofoldError):  # they stay, and are tried again with the next job; this one is acknowledged
            with self._recording:
                self._journal.forget_jobs(old)
            with self._changed:
                for identity in old:
                    self._jobs.pop(identity, None)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
