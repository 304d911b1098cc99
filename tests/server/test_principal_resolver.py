"""A part of the operator's says who a caller is: while it fails nobody is answered, by any route and any tool."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.api_client import Visit, visiting
from twofold import Index
from twofold.domain.access import CallerIdentity
from twofold.server.auth import parse_scope

NOTES = "/v1/indexes/notes"
MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@dataclass
class Directory:
    """Knows who is in which group, and is down at times."""

    up: bool = True
    asked: int = 0

    def principals(self, caller: CallerIdentity) -> Iterable[str]:
        self.asked += 1
        if not self.up:
            message = "the directory of secret.example is down"
            raise ConnectionError(message)
        return {"ann": ["user:ann", "group:legal"], "root": ["*"]}.get(caller.name, [])


@dataclass(frozen=True)
class Asked:
    """A server, its directory, the documents by name and a token of Ann's, of the owner's and of a stranger's."""

    visit: Visit
    directory: Directory
    ids: dict[str, str]

    def status(self, name: str, method: str, path: str, sent: object = None, **more: Any) -> tuple[int, str]:  # noqa: ANN401  # headers
        token = self.visit.tokens.create(name, [parse_scope("admin")])[1]
        headers = {"Authorization": f"Bearer {token}", **more}
        answer = self.visit.client.request(method, path, json=sent, headers=headers)
        return answer.status_code, answer.text


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    home: Path = tmp_path_factory.mktemp("served")
    with Index("notes", overrides={"home": str(home), "embedder": "hashing"}) as index:
        ids = {
            "deal": index.add("The merger is secret.", source="deal.txt", readers=["group:legal"]).id,
            "menu": index.add("The soup is hot.", source="menu.txt").id,
        }
        index.snapshot("monday")
    directory = Directory()
    with visiting(home, resolver=directory) as visit:
        yield Asked(visit, directory, ids)


def requests(ids: dict[str, str]) -> Iterator[tuple[str, str, object]]:
    """Yield one request to each route that gives what documents hold, or that concerns all of them."""
    query = {"query": "merger soup"}
    for name in ("search", "explain", "ask"):
        yield "POST", f"{NOTES}/{name}", query
        yield "POST", f"{NOTES}/{name}", {**query, "as_of": "monday"}
        yield "POST", f"/v1/{name}", {**query, "indexes": ["notes"]}
    yield "POST", f"{NOTES}/search:batch", {"queries": ["merger"]}
    yield "POST", f"{NOTES}/why-not", {**query, "document": "deal.txt"}
    yield "POST", f"{NOTES}/feedback", {**query, "rating": 1}
    yield "POST", "/api/search", {**query, "index": "notes"}
    yield "POST", "/v1/vector_stores/notes/search", query
    yield "POST", f"{NOTES}/documents", {"documents": [{"text": "x", "source": "x.txt"}]}
    yield "POST", f"{NOTES}/evaluations", {"variants": [{"name": "a"}]}
    yield "POST", f"{NOTES}/snapshots", {"name": "more"}
    yield "POST", f"{NOTES}/diff", {"before": "monday"}
    yield "POST", f"{NOTES}/branches", {"name": "more"}
    yield "POST", f"{NOTES}/verify", {}
    yield "POST", f"{NOTES}/sync", {"paths": ["/tmp"]}  # noqa: S108  # refused before it is looked at
    yield "POST", "/v1/tokens", {"name": "more", "scopes": ["read"]}
    yield "DELETE", f"{NOTES}/snapshots/monday", None
    yield "DELETE", NOTES, None
    for path in ("", "/documents", "/suggest?q=mer", "/snapshots", "/synonyms", "/pins", "/judgements"):
        yield "GET", f"{NOTES}{path}", None
    for path in ("/v1/vector_stores/notes", "/v1/vector_stores/notes/files", "/v1/jobs", "/metrics"):
        yield "GET", path, None
    for document in ids.values():
        for part in ("", "/content", "/chunks", "/original", "/pages/1"):
            yield "GET", f"{NOTES}/documents/{document}{part}", None
        yield "PUT", f"{NOTES}/documents/{document}/readers", {"readers": ["public"]}
        yield "DELETE", f"{NOTES}/documents/{document}", None


def test_nobody_is_answered_while_it_cannot_be_said_who_asks(asked: Asked) -> None:
    asked.directory.up = False
    try:
        for method, path, sent in requests(asked.ids):
            for name in ("ann", "root", "eve"):
                status, text = asked.status(name, method, path, sent)
                if status == 200 and path.endswith("ask"):  # the events had begun: the last one says it
                    assert '"status":503' in text.replace(" ", ""), (method, path, text)
                else:
                    assert status == 503, (method, path, status, text)
                assert "secret" not in text
    finally:
        asked.directory.up = True
    assert asked.status("root", "GET", NOTES)[0] == 200
    assert json.loads(asked.status("root", "GET", NOTES)[1])["documents"] == 2  # nothing was written or deleted


def test_tools_say_so_too(asked: Asked) -> None:
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = {**sent, "params": {"name": "search", "arguments": {"query": "merger"}}}
    asked.directory.up = False
    try:
        _, text = asked.status("ann", "POST", "/mcp/notes", call, **MCP)
    finally:
        asked.directory.up = True
    assert "It cannot be said who asks." in text
    assert '"isError":true' in text.replace(" ", "")
    assert asked.ids["deal"] in asked.status("ann", "POST", "/mcp/notes", call, **MCP)[1]


@pytest.mark.parametrize(("name", "expected"), [("ann", 2), ("eve", 1), ("root", 2)])
def test_it_says_what_each_may_read(asked: Asked, name: str, expected: int) -> None:
    """What a token says is not asked where there is a resolver: all of these tokens carry no principals."""
    status, text = asked.status(name, "GET", f"{NOTES}/documents")
    assert (status, json.loads(text)["total"]) == (200, expected)
    assert asked.status(name, "GET", "/metrics")[0] == (200 if name == "root" else 403)
    assert asked.directory.asked
