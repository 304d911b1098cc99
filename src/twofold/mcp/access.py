"""Who may use which index: over standard input the one that the command names, over HTTP what the token allows."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import Context

from twofold.index import Index
from twofold.mcp.links import Links
from twofold.mcp.reading import ToolContext

Answer = TypeVar("Answer")
Caller = Context[Any, Any]


class Access(Protocol):
    """Runs a tool's work in a thread, with the index that the caller means."""

    async def read(self, caller: Caller, work: Callable[[ToolContext], Answer], as_of: str = "") -> Answer:
        """Run work that changes nothing, with the index as it is or as it was at a snapshot.

        Raises ToolError for a caller who may not, TwofoldError as the work does, NotFoundError for no such snapshot.
        """
        ...

    async def write(self, caller: Caller, work: Callable[[ToolContext], Answer]) -> Answer:
        """Run work that changes the index, one piece at a time. Raises as `read` does."""
        ...


class OneIndex:
    """One index, opened when it is first asked, so that a client that starts the server does not wait for it."""

    def __init__(self, opener: Callable[[], Index], links: Links, budget: int) -> None:
        self._opener = opener
        self._links = links
        self._budget = budget
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._index: Index | None = None

    async def read(self, caller: Caller, work: Callable[[ToolContext], Answer], as_of: str = "") -> Answer:
        """Run work that changes nothing."""
        del caller  # it started the process

        def run_tool() -> Answer:
            held = self._open_index()
            if not as_of:
                return work(held)
            with held.index.at(as_of) as past:
                return work(replace(held, index=past))

        return await anyio.to_thread.run_sync(run_tool)

    async def write(self, caller: Caller, work: Callable[[ToolContext], Answer]) -> Answer:
        """Run work that changes the index."""
        del caller

        def alone() -> Answer:
            with self._writing:
                return work(self._open_index())

        return await anyio.to_thread.run_sync(alone)

    def close(self) -> None:
        """Close the index, if it was opened."""
        with self._opening:
            if self._index is not None:
                self._index.close()
                self._index = None

    def _open_index(self) -> ToolContext:
        with self._opening:
            if self._index is None:
                self._index = self._opener()
            return ToolContext(self._index, self._links, self._budget)
