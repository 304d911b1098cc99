"""What the routes work with, and how each of them says what a caller must be allowed to do."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field, replace
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Depends, Path, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from twofold.domain.access import PrincipalResolver
from twofold.domain.dataclass import dataclass
from twofold.domain.types import Document
from twofold.index import Index
from twofold.models.transcribers.opening import Speech
from twofold.server.answer_models import AnswerModels
from twofold.server.auth import ALL, Action, Grant, TokenStore
from twofold.server.callers import Speaker
from twofold.server.errors import ProblemError, refused
from twofold.server.index_pool import IndexPool
from twofold.server.jobs.runner import JobRunner
from twofold.server.jobs.store import Job, Jobs
from twofold.server.limits import ServerLimits
from twofold.server.metrics import RequestCounts
from twofold.server.middleware import GRANT
from twofold.server.schemas.json_keys import check_keys
from twofold.server.sent_files import SentFiles
from twofold.server.state_db import StateDatabase
from twofold.server.thread_pool import ThreadPool
from twofold.server.uploads_store import UploadsStore

Answer = TypeVar("Answer")
SCOPE = "x-twofold-scope"
PUBLIC_SCOPE = "public"
MAX_INLINE_JSON_BYTES = 1 << 16
"""Bytes of JSON that may be looked through while everybody else waits; it takes a millisecond."""
_JSON = re.compile(r"application/([\w.-]+\+)?json", re.IGNORECASE)
ANY_GRANT = "any"


@dataclass(slots=True)
class ServerState:
    """Whether the server takes requests; how many streams are read, answers written in threads, uploads taken in."""

    ready: bool = False
    closing: bool = False
    streams: int = 0
    writing: int = 0
    uploads: int = 0


@dataclass(frozen=True, slots=True)
class Service:
    """Everything a route may use. `roots` are the folders that may be synced, `index` the one that is meant by none."""

    indexes: IndexPool
    workers: ThreadPool
    writers: ThreadPool
    pages: ThreadPool
    jobs: Jobs
    runner: JobRunner
    state_db: StateDatabase
    originals: UploadsStore
    files: SentFiles
    tokens: TokenStore
    models: AnswerModels
    speech: Speech
    limits: ServerLimits
    counts: RequestCounts
    roots: tuple[str, ...] = ()
    index: str = "default"
    state: ServerState = field(default_factory=ServerState)
    resolver: PrincipalResolver | None = None
    speaker: Speaker = field(default_factory=Speaker)

    @property
    def alive(self) -> bool:
        """Whether every thread that the server needs is at work."""
        return self.workers.alive and self.writers.alive and self.pages.alive and self.runner.alive

    def forget_index(self, index: str) -> None:
        """Delete all that is kept for an index that is gone. Raises StorageFullError or StoreError."""
        self.originals.forget_index(index)
        self.jobs.forget_index(index)
        self.state_db.forget_index(index)

    @contextmanager
    def open_index(self, index: str, as_of: str = "") -> Iterator[Index]:
        """Hold an index open as the caller may see it, today or as it was at a snapshot.

        Every route that gives what documents hold goes through here. Raises AccessUnknownError where it cannot be said
        who asks.
        """
        with self.indexes.open_index(index, as_of) as opened:
            yield self.speaker.restrict(opened)

    def visible_jobs(self) -> Sequence[Job]:
        """Return the jobs that the caller may see: who may not read every document sees what it asked for itself."""
        grant, found = self.speaker.grant, self.jobs.all()
        whole = self.speaker.principals() is None
        return [job for job in found if grant.allows(Action.READ, job.index) and (whole or job.by == grant.id)]

    def forget_original(self, index: str, document: Document) -> None:
        """Delete what was kept of a document that is gone, unless another one, of anybody's, has the same bytes."""
        with self.indexes.open_index(index) as whole:
            self.originals.forget(index, document, whole.documents)

    def drop(self, index: str) -> None:
        """Delete an index for good, with all that is kept for it. Raises NotAllowedError as `Speaker.check_owner`."""
        self.speaker.check_owner()
        self.indexes.drop(index)
        self.forget_index(index)

    def speaking(self, grant: Grant | None) -> "Service":
        """Return the service as one caller may use it; without a grant, what everybody may."""
        return self if grant is None else replace(self, speaker=Speaker(grant, self.resolver))

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Run a call of the engine in a worker thread; errors as for `ThreadPool.run`."""
        return await self.workers.run(call, self.limits.request_seconds)

    async def draw(self, call: Callable[[], bytes]) -> bytes:
        """Run a call that draws a page in a thread for such, so that no search waits for it."""
        return await self.pages.run(call, self.limits.request_seconds)

    async def write(self, call: Callable[[], object], status: int = 200) -> Response:
        """Run a call that changes something in the one thread for such, and send what it gives as JSON."""
        return json_response(await self.writers.run(lambda: encoded(call()), self.limits.request_seconds), status)

    async def answer(self, call: Callable[[], object], status: int = 200) -> Response:
        """Run a call in a worker thread and send what it gives as JSON."""
        return json_response(await self.run(lambda: encoded(call())), status)


def encoded(value: object) -> bytes:
    """Write one of our nouns as JSON; a dataclass becomes an object with its fields in their order."""
    return msgspec.json.encode(value, enc_hook=_plain)


def json_response(data: bytes, status: int = 200) -> Response:
    """Send JSON."""
    return Response(data, status, media_type="application/json")


def _plain(value: Any) -> Any:  # noqa: ANN401  # what JSON does not know
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return value.tolist()
    if isinstance(value, Mapping):  # a read-only view of a dict
        return dict(value)
    message = f"{type(value).__name__} has no form in JSON"
    raise NotImplementedError(message)


async def service_of(request: Request) -> Service:
    """Return the service as the caller of a request may use it."""
    service: Service = request.app.state.service
    return service.speaking(request.scope.get(GRANT))


async def grant_of(request: Request) -> Grant:
    """Return what the caller may do."""
    grant: Grant = request.scope[GRANT]
    return grant


Here = Annotated[Service, Depends(service_of)]
Caller = Annotated[Grant, Depends(grant_of)]
IndexName = Annotated[
    str, Path(pattern="^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$", description="The name of an index.", examples=["notes"])
]
AsOf = Annotated[str, Query(max_length=64, description="A snapshot's name, or a date or time in UTC.")]
DocumentId = Annotated[str, Path(min_length=1, max_length=128, description="The id of a document.")]


def needs(action: Action) -> dict[str, Any]:
    """Return the scope that a route requires, for the index in its path, or for the server without one."""
    return {SCOPE: action.value}


def require(grant: Grant, action: Action, index: str = ALL) -> None:
    """Raise ProblemError (403) unless the caller may do this; before anything is looked up."""
    if not grant.allows(action, index):
        raise refused(
            HTTPStatus.FORBIDDEN, "The token does not allow this.", f"It would need the scope {action.value}:{index}."
        )


class GuardedRoute(APIRoute):
    """A route that says in its `openapi_extra` what it needs; the caller is asked for it before the body is read."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  # as they are
        super().__init__(*arguments, **named)
        if (self.openapi_extra or {}).get(SCOPE) is None:
            message = f"{self.path} does not say what it needs"
            raise ValueError(message)

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Put the question of who asks before the reading of the body."""
        inner = super().get_route_handler()
        scope_name = str((self.openapi_extra or {})[SCOPE])

        async def guarded(request: Request) -> Response:
            if scope_name not in (PUBLIC_SCOPE, ANY_GRANT):
                require(request.scope[GRANT], Action(scope_name), request.path_params.get("index", ALL))
            with self.taking(request):
                if _JSON.fullmatch(request.headers.get("content-type", "").partition(";")[0].strip()):
                    body = await request.body()  # here its size and its time are held to the limits as they are
                    await run_in_threadpool(check_keys, body) if len(body) > MAX_INLINE_JSON_BYTES else check_keys(body)
                return await inner(request)

        return guarded

    def taking(self, _: Request) -> AbstractContextManager[object]:
        """Hold what a request takes up, from before its body is read. Raises ProblemError where there is no room."""
        return nullcontext()


class UploadRoute(GuardedRoute):
    """A route that takes in documents, a few at once."""

    @contextmanager
    def taking(self, request: Request) -> Iterator[None]:
        """Count an upload. Raises ProblemError (429) for one too many."""
        service: Service = request.app.state.service
        if service.state.uploads >= service.limits.uploads:
            raise too_many("Too many uploads are under way.")
        service.state.uploads += 1
        try:
            yield
        finally:
            service.state.uploads -= 1


def too_many(detail: str) -> ProblemError:
    """Refuse what goes beyond a limit that passes."""
    return refused(HTTPStatus.TOO_MANY_REQUESTS, detail, "Ask again after a moment.", retry_after=1)
