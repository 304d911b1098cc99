"""A real twofold server on this machine alone, in a thread of its own, and clients that visit it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from twofold.config.load import NOTHING, load_settings
from twofold.domain.access import PrincipalResolver
from twofold.index import Index
from twofold.plugins import NO_PLUGINS, Plugins
from twofold.server.app import create_server
from twofold.server.auth import TokenStore, parse_scope
from twofold.server.limits import DEFAULT_LIMITS, ServerLimits
from twofold.server.run import Address, GracefulServer, bound, configured, plan_for
from twofold.server.tracing import Traces

TEXTS = {
    "cat.txt": "The cat sat on the mat. It purred all afternoon.",
    "tower.txt": "The Eiffel tower stands in Paris. It was finished in 1889.",
    "git.txt": "To undo the last commit but keep your changes, reset softly.",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """A running server: its address, a client that speaks to it, and its tokens."""

    address: str
    client: httpx2.Client
    tokens: TokenStore
    server: uvicorn.Server
    home: Path

    def token(self, *scopes: str) -> str:
        """Make a token."""
        return self.tokens.create("test", [parse_scope(one) for one in scopes])[1]

    def as_bearer(self, *scopes: str) -> Mapping[str, str]:
        """Make a token, and the header that carries it."""
        return {"Authorization": f"Bearer {self.token(*scopes)}"}

    def finished(self, job: str, headers: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401  # JSON
        """Follow a job to its end, and give it."""
        with self.client.stream("GET", f"/v1/jobs/{job}/events", headers=headers) as events:
            assert events.read()
        return self.client.get(f"/v1/jobs/{job}", headers=headers).json()


@contextmanager
def visiting(  # noqa: PLR0913  # each may be left out
    home: Path,
    limits: ServerLimits = DEFAULT_LIMITS,
    address: Address = Address(port=0),
    roots: tuple[Path, ...] = (),
    said: Mapping[str, object] = NOTHING,
    *,
    embedder: str | None = "hashing",
    database: str | None = None,
    models: tuple[str, ...] = (),
    resolver: PrincipalResolver | None = None,
    plugins: Plugins = NO_PLUGINS,
    traces: Traces | None = None,
) -> Iterator[Visit]:
    """Serve until the block ends, by these settings beside those of tests; with no embedder each index has its own."""
    named = {} if embedder is None else {"embedder": embedder}
    overrides = {**named, "offline": True, "home": str(home), **said}
    settings = load_settings(overrides=overrides)
    plan = plan_for(
        settings, partial(Index, overrides=overrides, create=False, plugins=plugins), address, roots, limits
    )
    plan = replace(plan, database=database, models=models, resolver=resolver or plan.resolver, traces=traces)
    with bound(address) as listening:
        server = GracefulServer(configured(create_server(plan), limits))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        where = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            with httpx2.Client(base_url=where, timeout=120.0, trust_env=False) as client:
                assert client.get("/readyz").status_code == 200  # it waits in the listening socket until it is
                yield Visit(where, client, TokenStore(home), server, home)
        finally:
            server.should_exit = True
            thread.join(60.0)
            assert not thread.is_alive()


def fill(home: Path, name: str = "notes", texts: Mapping[str, str] = TEXTS) -> None:
    """Make an index of a few texts."""
    said = {"embedder": "hashing", "offline": True, "home": str(home)}
    with Index(name, overrides=said) as index:
        for source, text in texts.items():
            index.add(text, source=source)
