"""/mcp: the tools of `twofold mcp` over HTTP, stateless, behind the same tokens as every other route.

`/mcp` speaks for the server's own index, `/mcp/INDEX` for another. A token that may write is offered nothing more: over
HTTP the tools read. The SDK takes a second to import, so it is loaded, in a thread, when the first client asks.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from twofold.domain.errors import StoreError, TwofoldError
from twofold.mcp.budget import DEFAULT_BUDGET
from twofold.mcp.links import Links
from twofold.mcp.reading import ToolContext
from twofold.server.auth import Action, Grant
from twofold.server.errors import ProblemError, refused
from twofold.server.middleware import GRANT
from twofold.server.service import Service, require, service_of

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Answer = TypeVar("Answer")
logger = logging.getLogger(__name__)
PATHS = ("/mcp", "/mcp/{index}")


class McpEndpoint:
    """Serves MCP requests of one application; `close` when its event loop ends."""

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._closing = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._manager: StreamableHTTPSessionManager | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises ProblemError (403) for a token that may not read the index, TwofoldError."""
        service: Service = scope["app"].state.service
        grant: Grant = scope[GRANT]
        require(grant, Action.READ, requested_index(scope, service))
        manager = await self._started()
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """Finish what is under way, and serve no more."""
        self._closing.set()
        if self._serving is not None:
            with suppress(asyncio.CancelledError):
                await self._serving

    async def _started(self) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._manager is None:
                if find_spec("mcp") is None:
                    raise refused(
                        HTTPStatus.NOT_IMPLEMENTED, "The MCP SDK is not installed here.", "pip install 'twofold[mcp]'"
                    )
                manager = await run_in_threadpool(_session_manager)
                ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._serving = asyncio.create_task(self._serve(manager, ready))
                await ready
                self._manager = manager
            return self._manager

    async def _serve(self, manager: "StreamableHTTPSessionManager", ready: "asyncio.Future[None]") -> None:
        """Keep the manager's task group open: the task that enters it must be the one that leaves it.

        `ready` gets a result once it is open, or a ProblemError (503) where it cannot be opened.
        """
        try:
            async with manager.run():
                ready.set_result(None)
                await self._closing.wait()
        except Exception as error:  # the SDK runs user code and libraries here: whatever it is, the client hears of it
            if ready.done():
                raise
            logger.warning("The MCP session manager cannot start: %s.", type(error).__name__)
            ready.set_exception(
                refused(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"The MCP session manager cannot start: {type(error).__name__}.",
                    "Send the request again; if that fails, install a version of `mcp` that twofold supports.",
                )
            )


def routes(endpoint: McpEndpoint) -> list[Route]:
    """Return the routes at which an endpoint answers."""
    return [Route(path, endpoint, methods=["GET", "POST", "DELETE"]) for path in PATHS]


def requested_index(scope: Scope, service: Service) -> str:
    """Return the index that a request's path names, else the server's own."""
    named: str = scope["path_params"].get("index", service.index)
    return named


def _session_manager() -> "StreamableHTTPSessionManager":
    made: StreamableHTTPSessionManager = import_module("twofold.mcp.http").session_manager(CallersIndex())
    return made


class CallersIndex:
    """The index that a request's path names, used in the server's own threads."""

    async def read(self, caller: "Context[Any, Any]", work: Callable[[ToolContext], Answer], as_of: str = "") -> Answer:
        """Run work that changes nothing. Raises TwofoldError as the work does, StoreError where the server is busy."""
        request = caller.request_context.request
        if not isinstance(request, Request):
            raise StoreError("The request is not known.", "Ask over HTTP.")
        service = await service_of(request)
        index = requested_index(request.scope, service)
        links = Links(index, str(request.base_url).rstrip("/"))

        def run_tool() -> Answer:
            with service.open_index(index, as_of) as held:
                return work(ToolContext(held, links, DEFAULT_BUDGET))

        try:
            return await service.run(run_tool)
        except ProblemError as error:
            raise StoreError(error.problem.detail, error.problem.hint) from None

    async def write(self, caller: "Context[Any, Any]", work: Callable[[ToolContext], Answer]) -> Answer:
        """Refuse: no writing tool is offered over HTTP."""
        del caller, work
        raise TwofoldError("This server's tools only read.", "Use the HTTP API to change an index.")
