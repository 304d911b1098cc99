"""Running the server over standard input and output, for a client that starts it as a process."""

from collections.abc import Callable

import anyio

from twofold.index import Index
from twofold.mcp.access import OneIndex
from twofold.mcp.links import Links
from twofold.mcp.server import create_mcp_server


def run(opener: Callable[[], Index], name: str, base: str, budget: int, *, write: bool) -> None:
    """Serve one index until the client closes standard input. `base` is the web application's address, or empty."""
    access = OneIndex(opener, Links(name, base), budget)
    try:
        anyio.run(create_mcp_server(access, write=write).run_stdio_async)
    finally:
        access.close()
