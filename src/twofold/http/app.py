"""The application: all routes behind the gate, and what it opens when it starts and closes when it ends."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from twofold.http import (
    compat_chat,
    compat_rerank,
    compat_search,
    health,
    job_routes,
    native_ask,
    native_documents,
    native_indexes,
    native_search,
    native_several,
)
from twofold.http.counting import RequestCounts
from twofold.http.gate import Doors, Gate
from twofold.http.job_running import JobRunner
from twofold.http.jobs import Jobs
from twofold.http.journal import Journal
from twofold.http.limits import DEFAULT_LIMITS, ServerLimits
from twofold.http.originals import Originals
from twofold.http.page_files import load_page
from twofold.http.problems import MEDIA_TYPE, Problem
from twofold.http.refusals import install
from twofold.http.registry import Indexes
from twofold.http.service import PUBLIC_SCOPE, SCOPE, Service, Standing
from twofold.http.tokens import TokenBook
from twofold.http.workers import Workers
from twofold.index import Index
from twofold.settings import Settings

TITLE = "twofold"
VERSION = "1"
ROUTERS = (
    health,
    native_indexes,
    native_search,
    native_ask,
    native_several,
    native_documents,
    job_routes,
    compat_search,
    compat_chat,
    compat_rerank,
)
JOB_SECONDS = 3.0
PAGES_WAITING = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What a server is to be. `roots` are real paths of folders that may be synced over HTTP."""

    settings: Settings
    opener: Callable[[str], Index]
    doors: Doors
    limits: ServerLimits = DEFAULT_LIMITS
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Server:
    """An application and the standing that whoever runs it may change.

    `start` opens what it works with before anybody connects, and raises TwofoldError where that cannot be; without it
    the lifespan does.
    """

    app: ASGIApp
    standing: Standing
    openapi: Callable[[], dict[str, Any]]
    start: Callable[[], None]


def create_server(plan: Plan) -> Server:
    """Make the application. Nothing runs before it is started."""
    standing, counts = Standing(), RequestCounts()
    started: list[Service] = []

    def start() -> None:
        started.append(_open(plan, standing, counts))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if not started:
            await run_in_threadpool(start)
        app.state.service = service = started.pop()
        standing.ready = True
        try:
            yield
        finally:
            standing.ready, standing.closing = False, True
            await run_in_threadpool(_close, service)

    app = FastAPI(
        title=TITLE, version=VERSION, openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan,
        redirect_slashes=False, responses=_problems(),
    )  # fmt: skip
    app.state.page = load_page()
    for one in ROUTERS:
        app.include_router(one.router)
    install(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # as FastAPI's documentation does it
    gate = Gate(app, plan.doors, TokenBook(plan.settings.home), plan.limits, counts)
    return Server(gate, standing, app.openapi, start)


def _open(plan: Plan, standing: Standing, counts: RequestCounts) -> Service:
    folder = plan.settings.home / "server"
    journal = Journal(folder)
    jobs = Jobs(folder, journal, plan.limits)
    indexes = Indexes(plan.settings, plan.opener)
    originals = Originals(folder / "originals")
    service = Service(
        indexes=indexes,
        workers=Workers("worker", plan.limits.workers, plan.limits.waiting, HTTPStatus.SERVICE_UNAVAILABLE),
        writers=Workers("writer", 1, plan.limits.waiting, HTTPStatus.SERVICE_UNAVAILABLE),
        pages=Workers("pages", plan.limits.pages, PAGES_WAITING, HTTPStatus.SERVICE_UNAVAILABLE),
        jobs=jobs,
        runner=JobRunner(jobs, indexes, originals),
        journal=journal,
        originals=originals,
        limits=plan.limits,
        counts=counts,
        roots=plan.roots,
        index=plan.settings.index,
        standing=standing,
    )
    service.runner.start()
    return service


def _close(service: Service) -> None:
    service.runner.close(JOB_SECONDS)
    service.workers.close()
    service.writers.close()
    service.pages.close()
    service.indexes.close()
    service.journal.close()


def _problems() -> dict[int | str, dict[str, Any]]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        "4XX": {"description": "Refused.", "content": content},
        "5XX": {"description": "Failed.", "content": content},
    }


def _described(app: FastAPI) -> dict[str, Any]:
    """Describe all routes, each with what it needs."""
    if app.openapi_schema is None:
        found = get_openapi(title=TITLE, version=VERSION, openapi_version="3.1.0", routes=app.routes)
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        _add_schema(schemas, Problem)
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for methods in found["paths"].values():
            for route in methods.values():
                route["responses"].pop("422", None)  # it is among 4XX, and a problem as they are
                if route[SCOPE] != PUBLIC_SCOPE:
                    route["security"] = [{"token": []}]
        app.openapi_schema = found
    return app.openapi_schema


def _add_schema(schemas: dict[str, Any], kind: type) -> None:
    made = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
    schemas.update(made.pop("$defs", {}))
    schemas[kind.__name__] = made


def roots_of(paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Give the real paths of the folders that may be synced."""
    return tuple(str(path.expanduser().resolve()) for path in paths)
