"""The documentation site with its search, on this machine: the built pages, and behind `_search` an index of docs/.

`python docs/preview.py` prints the address and serves until it is stopped. It stands for what a web server does for a
published site: it serves the files, and passes what is asked at `_search` on to `twofold serve`.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

ROOT = Path(__file__).resolve().parents[1]
TWOFOLD = [sys.executable, "-m", "twofold"]
INDEX = "twofold-docs"


@contextmanager
def searching() -> Iterator[str]:
    """Index docs/ and yield the address at which a server searches it."""
    subprocess.run([*TWOFOLD, "sync", str(ROOT / "docs"), "--index", INDEX], check=True)
    with subprocess.Popen([*TWOFOLD, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield next(line.split()[-1] for line in process.stdout or ())
        finally:
            process.terminate()


def site(pages: Path, server: str) -> Starlette:
    """Return the site: its pages, and its search."""
    client = httpx2.AsyncClient(base_url=server)

    async def search(request: Request) -> Response:
        """Pass a question on; nothing else of the server can be reached."""
        headers = {"Content-Type": "application/json"}
        found = await client.post(f"/v1/indexes/{INDEX}/search", content=await request.body(), headers=headers)
        return Response(found.content, found.status_code, media_type="application/json")

    return Starlette(
        routes=[
            Route("/_search", search, methods=["POST"]),
            Mount("/", StaticFiles(directory=pages, html=True)),
        ]
    )


def main() -> None:
    """Serve the site that `make site` built."""
    pages = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 8723  # noqa: PLR2004
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the server ends too
    with searching() as server:
        uvicorn.run(site(pages, server), host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
