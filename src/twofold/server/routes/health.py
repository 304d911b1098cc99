"""The routes about the server itself: that it lives, that it is ready, its figures, its page and its documentation."""

from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from twofold.domain.dataclass import dataclass
from twofold.search.metrics import MEGABYTE
from twofold.server.auth import Action
from twofold.server.errors import refused
from twofold.server.metrics import MEDIA_TYPE, gauge, index_lines
from twofold.server.middleware import VIEWS
from twofold.server.routes.static_files import PageFile, PageFiles
from twofold.server.service import PUBLIC_SCOPE, SCOPE, GuardedRoute, Here, Service, encoded, json_response, needs
from twofold.system.memory import resident_bytes

router = APIRouter(tags=["server"], route_class=GuardedRoute)
_PUBLIC = {SCOPE: PUBLIC_SCOPE}


@dataclass(frozen=True, slots=True)
class Health:
    """That the server answers."""

    status: str = "ok"


@router.get("/healthz", response_model=Health, openapi_extra=_PUBLIC)
async def healthz() -> Response:
    """Return that the process is alive."""
    return json_response(encoded(Health()))


@router.get("/readyz", response_model=Health, openapi_extra=_PUBLIC)
async def readyz(service: Here) -> Response:
    """Return whether requests are taken: 503 while starting, closing, without a thread, or when as many wait as may."""
    if not service.alive:
        raise refused(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "A thread of the server has ended.",
            "Start the server again.",
            kind="broken",
        )
    full = service.workers.busy >= service.limits.workers + service.limits.waiting
    if not service.state.ready or service.state.closing or full:
        raise refused(HTTPStatus.SERVICE_UNAVAILABLE, "The server takes no requests now.", "Ask again.", retry_after=1)
    return json_response(encoded(Health("ready")))


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    openapi_extra=needs(Action.READ),
)
async def metrics(service: Here) -> Response:
    """Return figures in the text format of Prometheus; it takes a token that may read every index and document."""
    await service.run(service.speaker.check_owner)
    text = await service.run(lambda: "\n".join(_lines(service)) + "\n")
    return Response(text, headers={"content-type": MEDIA_TYPE})


async def page(request: Request) -> Response:
    """Return the application; which of its views is meant says the address, and the application reads it."""
    return _file(request, "index.html")


for _path in ("/", *(f"/{view}" for view in VIEWS)):
    router.add_api_route(_path, page, response_class=Response, include_in_schema=False, openapi_extra=_PUBLIC)


@router.get("/docs", response_class=Response, include_in_schema=False, openapi_extra=_PUBLIC)
async def docs(request: Request) -> Response:
    """Return the documentation of these routes, made from `/openapi.json` by a script of our own."""
    return _file(request, "docs.html")


@router.get("/page/{name}", response_class=Response, include_in_schema=False, openapi_extra=_PUBLIC)
async def page_file(name: str, request: Request) -> Response:
    """Return a file of the page; there are those that came with the package, and no others."""
    return _file(request, name)


@router.get("/openapi.json", response_class=Response, include_in_schema=False, openapi_extra=_PUBLIC)
async def openapi(request: Request) -> Response:
    """Return the description of all routes."""
    return json_response(encoded(request.app.openapi()))


def _file(request: Request, name: str) -> Response:
    files: PageFiles = request.app.state.page
    found: PageFile | None = files.get(name)
    if found is None:
        raise refused(HTTPStatus.NOT_FOUND, "There is nothing at that address.")
    headers = {"ETag": found.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in (one.strip() for one in request.headers.get("accept-encoding", "").lower().split(",")):
        return Response(found.data, media_type=found.media_type, headers=headers)
    return Response(found.packed, media_type=found.media_type, headers={**headers, "Content-Encoding": "gzip"})


def _lines(service: Service) -> list[str]:
    return [
        *gauge("twofold_ready", "Whether the server takes requests.", {"": float(service.state.ready)}),
        *gauge("twofold_resident_megabytes", "Memory in use.", {"": resident_bytes() / MEGABYTE}),
        *gauge("twofold_busy_workers", "Calls that run or wait.", {"": float(service.workers.busy)}),
        *gauge("twofold_streams", "Answers being written.", {"": float(service.state.streams)}),
        *gauge("twofold_waiting_jobs", "Jobs that wait.", {"": float(service.jobs.waiting)}),
        *service.counts.lines(),
        *index_lines((name, index.metrics()) for name, index in service.indexes.opened()),
    ]
