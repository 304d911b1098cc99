"""The application: all routes behind the gate, and what it opens when it starts and closes when it ends."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from twofold.config.load import Settings
from twofold.domain.access import PrincipalResolver
from twofold.domain.dataclass import dataclass
from twofold.index import Index
from twofold.models.transcribers.opening import Speech
from twofold.server import mcp_endpoint
from twofold.server.answer_models import AnswerModels
from twofold.server.auth import TokenStore
from twofold.server.error_handlers import install
from twofold.server.errors import MEDIA_TYPE, Problem
from twofold.server.index_pool import IndexPool
from twofold.server.jobs import routes
from twofold.server.jobs.runner import JobRunner
from twofold.server.jobs.store import Jobs
from twofold.server.limits import DEFAULT_LIMITS, ServerLimits
from twofold.server.mcp_endpoint import McpEndpoint
from twofold.server.metrics import RequestCounts
from twofold.server.middleware import AccessPolicy, SecurityMiddleware
from twofold.server.routes import (
    ask,
    checkup,
    conversations,
    documents,
    experiments,
    health,
    judgements,
    models,
    multi_index,
    openai_chat,
    openai_files,
    openai_responses,
    openai_vector_stores,
    other_apis,
    pins,
    questions,
    rerank,
    search,
    server_info,
    snapshots,
    tokens,
    transcriptions,
)
from twofold.server.routes import indexes as native_indexes
from twofold.server.routes.static_files import load_page
from twofold.server.schemas.requests import TextsRequest
from twofold.server.sent_files import SentFiles
from twofold.server.service import PUBLIC_SCOPE, SCOPE, ServerState, Service
from twofold.server.state_db import StateDatabase
from twofold.server.thread_pool import ThreadPool
from twofold.server.tracing import Traces, TracingMiddleware
from twofold.server.uploads_store import UploadsStore
from twofold.system.paths import real_path

TITLE = "twofold"
VERSION = "1"
ROUTERS = (
    health,
    native_indexes,
    search,
    ask,
    multi_index,
    documents,
    routes,
    conversations,
    judgements,
    pins,
    snapshots,
    experiments,
    questions,
    models,
    checkup,
    server_info,
    tokens,
    transcriptions,
    other_apis,
    openai_chat,
    openai_files,
    openai_responses,
    openai_vector_stores,
    rerank,
)
JOB_SECONDS = 3.0
PAGES_WAITING = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What a server is to be. `roots` are real paths of folders that may be synced over HTTP.

    `resolver` says who callers are; without one their tokens do. `database` is the address of one whose indexes are
    served, instead of those under `TWOFOLD_HOME`. `models` are the language models that a question may choose from.
    """

    settings: Settings
    opener: Callable[[str], Index]
    policy: AccessPolicy
    limits: ServerLimits = DEFAULT_LIMITS
    roots: tuple[str, ...] = ()
    resolver: PrincipalResolver | None = None
    database: str | None = None
    models: tuple[str, ...] = ()
    traces: Traces | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """An application and its state, which the server changes.

    `start` opens what it works with before anybody connects, and raises TwofoldError where that cannot be; without it
    the lifespan does.
    """

    app: ASGIApp
    state: ServerState
    openapi: Callable[[], dict[str, Any]]
    start: Callable[[], None]


def create_server(plan: Plan) -> Server:
    """Make the application. Nothing runs before it is started."""
    state, counts, endpoint = ServerState(), RequestCounts(), McpEndpoint()
    started: list[Service] = []

    def start() -> None:
        started.append(_open(plan, state, counts))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if not started:
            await run_in_threadpool(start)
        app.state.service = service = started.pop()
        state.ready = True
        try:
            yield
        finally:
            state.ready, state.closing = False, True
            await endpoint.close()
            await run_in_threadpool(_close, service)
            if plan.traces is not None:
                await run_in_threadpool(plan.traces.close)

    app = FastAPI(
        title=TITLE, version=VERSION, openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan,
        redirect_slashes=False, responses=_problems(),
    )  # fmt: skip
    app.state.page = load_page()
    for one in ROUTERS:
        app.include_router(one.router)
    app.router.routes.extend(mcp_endpoint.routes(endpoint))
    install(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # as FastAPI's documentation does it
    gate = SecurityMiddleware(app, plan.policy, TokenStore(plan.settings.home), plan.limits, counts)
    traced = gate if plan.traces is None else TracingMiddleware(gate, plan.traces)
    return Server(traced, state, app.openapi, start)


def _open(plan: Plan, state: ServerState, counts: RequestCounts) -> Service:
    folder = plan.settings.home / "server"
    state_db = StateDatabase(folder)
    jobs = Jobs(folder, state_db, plan.limits)
    indexes = IndexPool(plan.settings, plan.opener, plan.database)
    if plan.traces is not None:
        indexes.listen(plan.traces.stages)
    indexes.follow()
    originals = UploadsStore(folder / "originals")
    service = Service(
        indexes=indexes,
        workers=ThreadPool("worker", plan.limits.workers, plan.limits.waiting, HTTPStatus.SERVICE_UNAVAILABLE),
        writers=ThreadPool("writer", 1, plan.limits.waiting, HTTPStatus.SERVICE_UNAVAILABLE),
        pages=ThreadPool("pages", plan.limits.pages, PAGES_WAITING, HTTPStatus.SERVICE_UNAVAILABLE),
        jobs=jobs,
        runner=JobRunner(jobs, indexes, originals, plan.limits.running_jobs),
        state_db=state_db,
        originals=originals,
        files=SentFiles(folder / "files"),
        tokens=TokenStore(plan.settings.home),
        models=AnswerModels(plan.models, plan.settings),
        speech=Speech(plan.settings.models, offline=True),
        limits=plan.limits,
        counts=counts,
        roots=plan.roots,
        index=plan.settings.index,
        state=state,
        resolver=plan.resolver,
    )
    service.runner.start()
    return service


def _close(service: Service) -> None:
    service.runner.close(JOB_SECONDS)
    service.workers.close()
    service.writers.close()
    service.pages.close()
    service.indexes.close()
    service.models.close()
    service.state_db.close()


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
        _add_schema(schemas, Problem, "serialization")
        _add_schema(schemas, TextsRequest, "validation")  # its route reads forms too, and says itself what it takes
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for methods in found["paths"].values():
            for route in methods.values():
                route["responses"].pop("422", None)  # it is among 4XX, and a problem as they are
                if route[SCOPE] != PUBLIC_SCOPE:
                    route["security"] = [{"token": []}]
        app.openapi_schema = found
    return app.openapi_schema


def _add_schema(schemas: dict[str, Any], kind: type, mode: JsonSchemaMode) -> None:
    made = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}", mode=mode)
    schemas.update(made.pop("$defs", {}))
    schemas[kind.__name__] = made


def roots_of(paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the real paths of the folders that may be synced."""
    return tuple(real_path(path.expanduser()) for path in paths)
