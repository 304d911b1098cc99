"""The routes of jobs: how far one is, and its progress as it goes."""

import asyncio
from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response

from twofold.domain.dataclass import dataclass
from twofold.server.auth import Action
from twofold.server.errors import refused
from twofold.server.jobs.store import ENDED, Job, JobKind
from twofold.server.service import (
    ANY_GRANT,
    SCOPE,
    Caller,
    GuardedRoute,
    Here,
    Service,
    encoded,
    json_response,
    require,
)
from twofold.server.streaming import EVENTS, check_room, event, event_stream

POLL_SECONDS = 0.1

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=GuardedRoute)
JobId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="The id of a job.")]


@dataclass(frozen=True, slots=True)
class JobList:
    """The jobs of the indexes that the caller may read, the newest last; finished ones are forgotten in time."""

    jobs: tuple[Job, ...]


@router.get("", response_model=JobList, openapi_extra={SCOPE: ANY_GRANT})
async def list_jobs(service: Here) -> Response:
    """List jobs."""

    def listed() -> JobList:
        return JobList(tuple(service.visible_jobs()))

    return await service.answer(listed)


@router.get("/{job}", response_model=Job, openapi_extra={SCOPE: ANY_GRANT})
async def job_state(job: JobId, service: Here) -> Response:
    """Return how far a job is."""
    return json_response(encoded(await service.run(lambda: _visible_job(service, job))))


@router.get(
    "/{job}/events",
    response_class=Response,
    responses={200: {"content": EVENTS}},
    openapi_extra={SCOPE: ANY_GRANT},
)
async def job_events(job: JobId, service: Here) -> Response:
    """Follow a job: an event `progress` with the job whenever it has moved, and `done` at its end."""
    await service.run(lambda: _visible_job(service, job))
    check_room(service)
    return event_stream(service, _progress(service, job))


@router.delete("/{job}", status_code=204, response_class=Response, openapi_extra={SCOPE: ANY_GRANT})
async def cancel_job(job: JobId, service: Here, caller: Caller) -> Response:
    """Stop a job: what it added stays, the rest is not read. It takes what beginning the job took."""
    found = await service.run(lambda: _visible_job(service, job))
    require(caller, Action.ADMIN if found.kind is JobKind.SYNC else Action.WRITE, found.index)
    await service.run(lambda: service.jobs.cancel(job))
    return Response(status_code=204)


async def _progress(service: Service, identity: str) -> AsyncGenerator[bytes]:
    last: Job | None = None
    while (job := service.jobs.named(identity)) is not None and not service.state.closing:
        if job != last:
            last = job
            yield event("done" if job.state in ENDED else "progress", job)
        if job.state in ENDED:
            return
        await asyncio.sleep(POLL_SECONDS)


def _visible_job(service: Service, identity: str) -> Job:
    job = next((one for one in service.visible_jobs() if one.id == identity), None)
    if job is None:
        raise refused(HTTPStatus.NOT_FOUND, "There is no such job.", "Finished jobs are forgotten after a while.")
    return job
