"""Tokens carry principals: no route and no tool tells of a document that its caller may not read."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.api_client import Visit, visiting
from twofold import Index
from twofold.domain.access import CallerIdentity
from twofold.domain.errors import AccessUnknownError
from twofold.server.auth import EVERYTHING_GRANTED, Grant
from twofold.server.callers import NOBODY, Speaker

CANARIES = 1_000
MONDAY = "monday"
TIMES = re.compile(
    r'"(judge|metrics|timings|milliseconds|created|created_at|age_s|total|at|\w+_ms)": ?'
    r'(\{[^}]*\}|"[^"]*"|[-\d.e]+)'
)
"""What a clock or the name of a token says."""
EVERY_ROUTE = """
POST /api/search POST /retrieval POST /v1/ask POST /v1/chat/completions GET /v1/conversations
DELETE /v1/conversations/{conversation} GET /v1/conversations/{conversation} PUT /v1/conversations/{conversation}
POST /v1/embeddings POST /v1/explain GET /v1/files POST /v1/files DELETE /v1/files/{file} GET /v1/files/{file}
GET /v1/indexes POST /v1/indexes DELETE /v1/indexes/{index} GET /v1/indexes/{index}
POST /v1/indexes/{index}/ask GET /v1/indexes/{index}/documents POST /v1/indexes/{index}/documents
DELETE /v1/indexes/{index}/documents/{document} GET /v1/indexes/{index}/documents/{document}
GET /v1/indexes/{index}/documents/{document}/chunks GET /v1/indexes/{index}/documents/{document}/content
GET /v1/indexes/{index}/documents/{document}/original GET /v1/indexes/{index}/documents/{document}/pages/{page}
PUT /v1/indexes/{index}/documents/{document}/readers PUT /v1/indexes/{index}/documents/{document}/metadata
GET /v1/model-files POST /v1/model-files/{name} GET /v1/checkup GET /v1/indexes/{index}/log
POST /v1/indexes/{index}/questions:made POST /v1/indexes/{index}/evaluations
POST /v1/indexes/{index}/explain POST /v1/indexes/{index}/feedback GET /v1/indexes/{index}/judgements
PUT /v1/indexes/{index}/judgements POST /v1/indexes/{index}/questions:logged POST /v1/indexes/{index}/search
POST /v1/indexes/{index}/snapshots GET /v1/indexes/{index}/snapshots
DELETE /v1/indexes/{index}/snapshots/{snapshot} POST /v1/indexes/{index}/diff POST /v1/indexes/{index}/branches
POST /v1/indexes/{index}/search:batch DELETE /v1/indexes/{index}/sessions/{session} POST /v1/indexes/{index}/settings
GET /v1/indexes/{index}/suggest POST /v1/indexes/{index}/sync POST /v1/indexes/{index}/sync:plan
GET /v1/indexes/{index}/pins PUT /v1/indexes/{index}/pins GET /v1/indexes/{index}/synonyms
PUT /v1/indexes/{index}/synonyms
POST /v1/indexes/{index}/tune POST /v1/indexes/{index}/verify POST /v1/indexes/{index}/why-not GET /v1/jobs
DELETE /v1/jobs/{job} GET /v1/jobs/{job} GET /v1/jobs/{job}/events GET /v1/models POST /v1/rerank POST /v1/responses
POST /v1/search GET /v1/server GET /v1/tokens POST /v1/tokens DELETE /v1/tokens/{token} GET /v1/vector_stores
POST /v1/vector_stores DELETE /v1/vector_stores/{index} GET /v1/vector_stores/{index}
GET /v1/vector_stores/{index}/files POST /v1/vector_stores/{index}/files
DELETE /v1/vector_stores/{index}/files/{file} GET /v1/vector_stores/{index}/files/{file}
POST /v1/vector_stores/{index}/search POST /v2/rerank POST /v1/transcriptions GET /healthz GET /metrics GET /readyz
"""
"""What was looked at: each goes through `Service.held`, keeps by token, holds no documents, or is the owner's alone."""


def canary(tenant: str, number: int) -> str:
    return f"{tenant}canary{number:04d}"


def fill(home: Path, tenants: Iterable[str]) -> None:
    """Make an index in which each tenant has words, five hundred each, that nobody else has."""
    with Index("notes", overrides={"home": str(home), "embedder": "hashing"}) as index:
        index.delete(index.add("made once", source="first.txt").id)
        for tenant in tenants:
            for at in range(0, CANARIES // 2, 50):
                words = " ".join(canary(tenant, at + one) for one in range(50))
                index.add(f"The soup of {tenant}. {words}", source=f"{tenant}-{at}.txt", readers=[f"user:{tenant}"])
        index.add("The canteen has soup for all.", source="menu.txt", title="The menu")
        if "bob" in tenants:
            index.add("The soup was for all before bobonce.", source="once.txt")
            index.add("The soup of bobgone.", source="gone.txt", readers=["user:bob"])
        index.snapshot(MONDAY)
        if "bob" in tenants:  # today's readers hold: what was everybody's is his, then and now
            index.set_readers("once.txt", ["user:bob"])
            index.delete("gone.txt")


def bearer(visit: Visit, *principals: str, scope: str = "admin") -> Mapping[str, str]:
    from twofold.server.auth import parse_scope

    return {"Authorization": f"Bearer {visit.tokens.create('t', [parse_scope(scope)], principals or None)[1]}"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("w")
    fill(home, ["ann", "bob"])
    with visiting(home) as one:
        one.tokens.create("owner", EVERYTHING_GRANTED.scopes)
        yield one


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("v")
    fill(home, ["ann"])
    with visiting(home) as one:
        one.tokens.create("owner", EVERYTHING_GRANTED.scopes)
        yield one


def ids(visit: Visit) -> list[str]:
    found = visit.client.get("/v1/indexes/notes/documents?limit=999", headers=bearer(visit)).json()["documents"]
    return [one["id"] for one in found]


def requests(names: list[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield what a caller may ask who knows every name and word."""
    index = "/v1/indexes/notes"
    word = canary("bob", 7)
    yield "GET", "/v1/indexes", None
    for path in (index, f"{index}/documents", f"{index}/documents?q=bob", f"{index}/suggest?q=bobc", "/v1/jobs"):
        yield "GET", path, None
    for path in (f"{index}/judgements", "/v1/models", "/v1/vector_stores", "/v1/vector_stores/notes", "/v1/files"):
        yield "GET", path, None
    yield "GET", "/v1/vector_stores/notes/files?limit=100", None
    for path in ("/metrics", f"{index}/pins", f"{index}/synonyms"):
        yield "GET", path, None
    for query in (word, "soup", f"{word} soup", f"{word}*", "bobcanary00OO"):
        for mode in ("hybrid", "bm25", "vector"):
            yield "POST", f"{index}/search", {"query": query, "mode": mode}
        yield "POST", f"{index}/search", {"query": query, "facets": ["source"], "cursor": "start", "k": 2}
        yield "POST", f"{index}/explain", {"query": query}
        yield "POST", f"{index}/ask", {"query": query}
        yield "POST", "/v1/search", {"query": query, "indexes": ["notes"]}
        yield "POST", "/v1/ask", {"query": query, "indexes": ["notes"]}
        yield "POST", "/api/search", {"query": query, "index": "notes"}
        yield "POST", "/v1/vector_stores/notes/search", {"query": query}
    yield "POST", f"{index}/search:batch", {"queries": [word, "soup"]}
    yield from requests_about_snapshots(index, word)
    yield "POST", f"{index}/questions:made", {}
    yield "GET", f"{index}/log", None
    yield "GET", "/v1/checkup", None
    for path in ("verify", "questions:logged"):
        yield "POST", f"{index}/{path}", {}
    yield "POST", f"{index}/settings", {"settings": {"search.k": 3}}
    yield "POST", f"{index}/sync", {"paths": ["/tmp"]}  # noqa: S108  # refused before it is looked at
    yield "DELETE", index, None
    yield "DELETE", "/v1/vector_stores/notes", None
    yield "POST", "/v1/tokens", {"name": "more", "scopes": ["read"]}
    yield "POST", "/v1/tokens", {"name": "more", "scopes": ["read"], "principals": ["user:bob"]}
    yield from requests_about(names)


def requests_about_snapshots(index: str, word: str) -> Iterator[tuple[str, str, Any]]:
    """Yield what a caller may ask about the index as it was, and what the owner alone may ask."""
    then = {"as_of": MONDAY}
    for query in (word, f"{word} soup", "soup before", "bobonce bobgone"):
        for route in ("search", "explain", "ask"):
            yield "POST", f"{index}/{route}", {"query": query, **then}
        yield "POST", f"{index}/search", {"query": query, "facets": ["source"], **then}
        yield "POST", f"{index}/search:batch", {"queries": [query], **then}
        yield "POST", "/v1/search", {"query": query, "indexes": ["notes"], **then}
        yield "POST", f"{index}/why-not", {"query": query, "document": "once.txt", **then}
        yield "POST", f"{index}/why-not", {"query": query, "document": "absent.txt", **then}
    for path in (f"documents?as_of={MONDAY}", f"suggest?q=bobc&as_of={MONDAY}", "documents?as_of=absent", "snapshots"):
        yield "GET", f"{index}/{path}", None
    yield "POST", f"{index}/snapshots", {"name": "mine"}
    yield "DELETE", f"{index}/snapshots/{MONDAY}", None
    yield "DELETE", f"{index}/snapshots/absent", None
    yield "POST", f"{index}/diff", {"before": MONDAY, "queries": [word]}
    yield "POST", f"{index}/branches", {"name": "mine"}


def requests_about(names: list[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield what a caller may ask about documents by their ids."""
    index = "/v1/indexes/notes"
    for name in names:
        yield "GET", f"{index}/documents/{name}", None
        for what in ("content", "chunks", "original", "pages/1"):
            yield "GET", f"{index}/documents/{name}/{what}", None
            yield "GET", f"{index}/documents/{name}/{what}?as_of={MONDAY}", None
        yield "GET", f"/v1/vector_stores/notes/files/{name}", None
        yield "POST", f"{index}/why-not", {"query": "soup", "document": name}
        yield "PUT", f"{index}/documents/{name}/readers", {"readers": ["user:ann"]}
        yield "PUT", f"{index}/documents/{name}/metadata", {"metadata": {"owner": "ann"}}


def body(answer: httpx2.Response) -> tuple[int, str]:
    """Return an answer without what a clock says."""
    return answer.status_code, TIMES.sub("", answer.text)


def test_a_tenant_hears_nothing_of_another(world: Visit, without: Visit) -> None:
    theirs = sorted(set(ids(world)) - set(ids(without)))
    assert len(theirs) == 11  # one of them was for all when the snapshot was made
    first, second = bearer(world, "user:ann"), bearer(without, "user:ann")
    asked = heard = 0
    for method, path, sent in requests([*theirs[:3], *sorted(set(ids(without)))[:2]]):
        here = world.client.request(method, path, json=sent, headers=first)
        there = without.client.request(method, path, json=sent, headers=second)
        assert body(here) == body(there), (method, path, sent)
        assert here.status_code < 500, (method, path, here.text)
        said = here.text.replace(json.dumps(sent)[1:-1] if sent else "\0", "")
        heard += len(set(re.findall(r"bobcanary\d{4}", said)) - {canary("bob", 7)})
        asked += 1
    assert heard == 0
    assert asked > 100


def test_a_thousand_words_are_found_by_their_own_tenant_alone(world: Visit) -> None:
    for tenant, other in (("ann", "bob"), ("bob", "ann")):
        token = bearer(world, f"user:{tenant}")
        for who, count in ((tenant, 1), (other, 0)):
            queries = [canary(who, number) for number in range(CANARIES // 2)]
            for at in range(0, len(queries), 50):
                sent = {"queries": queries[at : at + 50], "mode": "bm25"}
                found = world.client.post("/v1/indexes/notes/search:batch", json=sent, headers=token).json()["results"]
                assert [len(one["hits"]) for one in found] == [count] * 50


def test_tools_hear_nothing_of_another_tenant(world: Visit, without: Visit) -> None:
    name = min(set(ids(world)) - set(ids(without)))
    tools = {
        "search": {"query": "soup"}, "fetch": {"id": name}, "search_passages": {"query": canary("bob", 3)},
        "ask": {"question": canary("bob", 3)}, "read": {"id": name}, "outline": {"id": name}, "list_documents": {},
        "explain": {"query": "soup", "id": name}, "why_not": {"query": "soup", "document": name},
    }  # fmt: skip
    accepts = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}

    def post(visit: Visit, method: str, params: Mapping[str, object]) -> str:
        headers = {**accepts, **bearer(visit, "user:ann")}
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return visit.client.post("/mcp/notes", json=sent, headers=headers).text.replace(visit.address, "")

    listed = json.loads(post(world, "tools/list", {}).partition("data: ")[2] or post(world, "tools/list", {}))
    assert {one["name"] for one in listed["result"]["tools"]} == set(tools)  # a new one needs its case here
    for tool, arguments in tools.items():
        here, there = (post(one, "tools/call", {"name": tool, "arguments": arguments}) for one in (world, without))
        assert TIMES.sub("", here) == TIMES.sub("", there), tool
    then = ("search_passages", "ask", "read", "outline", "list_documents")
    for tool in then:
        arguments = {**tools[tool], "as_of": MONDAY}
        here, there = (post(one, "tools/call", {"name": tool, "arguments": arguments}) for one in (world, without))
        assert TIMES.sub("", here) == TIMES.sub("", there), tool
        assert "bobonce" not in here
    for uri in (f"twofold://documents/{name}", f"twofold://passages/{name}_chunk_0"):
        assert post(world, "resources/read", {"uri": uri}) == post(without, "resources/read", {"uri": uri})


def test_every_route_was_looked_at(world: Visit) -> None:
    """A new route must be given its case above, and a line in the list."""
    paths = world.client.get("/openapi.json").json()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    listed = re.findall(r"(?:GET|POST|PUT|DELETE) \S+", EVERY_ROUTE)
    assert found == set(listed)


def test_a_tenant_sends_and_changes_its_own(world: Visit) -> None:
    ann, bob = bearer(world, "user:ann"), bearer(world, "user:bob")
    sent = {"documents": [{"text": "Zebras of Ann.", "source": "zoo.txt", "readers": ["user:ann"]}]}
    job = world.client.post("/v1/indexes/notes/documents", json=sent, headers=ann).json()
    done = world.finished(job["id"], ann)
    assert done["state"] == "done"
    assert world.client.get(f"/v1/jobs/{job['id']}", headers=bob).status_code == 404
    assert world.client.get("/v1/jobs", headers=bob).json()["jobs"] == []
    path = f"/v1/indexes/notes/documents/{done['files'][0]['document']}"
    assert world.client.get(path, headers=ann).json()["readers"] == ["user:ann"]
    assert world.client.delete(path, headers=bob).status_code == 404
    changed = world.client.put(f"{path}/readers", json={"readers": ["user:bob"]}, headers=ann)
    assert changed.json()["readers"] == ["user:bob"]
    assert world.client.get(path, headers=ann).status_code == 404
    assert world.client.delete(path, headers=bob).status_code == 204


def test_who_carries_no_principals_reads_everything(world: Visit) -> None:
    for headers in (bearer(world), bearer(world, "*")):
        assert world.client.get("/v1/indexes/notes", headers=headers).json()["documents"] == 22
        assert world.client.get("/metrics", headers=headers).status_code == 200
    assert world.client.get("/v1/indexes/notes", headers=bearer(world, "public")).json()["documents"] == 1


def test_tokens_are_made_listed_and_revoked_by_those_who_read_as_much(world: Visit) -> None:
    """Who may not read everything hears of no token that reads more, and of no principal but their own."""
    owner, ann = bearer(world), bearer(world, "user:ann", "group:legal")

    def ids(headers: Mapping[str, str]) -> list[str]:
        return [one["id"] for one in world.client.get("/v1/tokens", headers=headers).json()["tokens"]]

    def made(headers: Mapping[str, str], *principals: str) -> httpx2.Response:
        sent = {"name": "more", "scopes": ["read:notes"], "principals": list(principals)}
        return world.client.post("/v1/tokens", json=sent, headers=headers)

    mine, theirs = made(ann, "group:legal", "public").json(), made(owner, "group:merger").json()
    reads = {"Authorization": f"Bearer {mine['token']}"}
    assert mine["record"]["principals"] == ["group:legal", "public"]
    assert world.client.get("/v1/indexes/notes/documents", headers=reads).json()["total"] == 1
    assert made(ann, "group:merger").status_code == 403
    assert {mine["record"]["id"], theirs["record"]["id"]} <= set(ids(owner))
    assert mine["record"]["id"] in ids(ann)
    assert theirs["record"]["id"] not in ids(ann)
    assert "merger" not in world.client.get("/v1/tokens", headers=ann).text
    hidden, absent = (
        world.client.delete(f"/v1/tokens/{one}", headers=ann) for one in (theirs["record"]["id"], "0" * 12)
    )
    assert hidden.status_code == absent.status_code == 404
    assert hidden.text.replace(theirs["record"]["id"], "") == absent.text.replace("0" * 12, "")
    assert theirs["record"]["id"] in ids(owner)
    assert world.client.delete(f"/v1/tokens/{mine['record']['id']}", headers=ann).status_code == 204
    assert world.client.get("/v1/indexes/notes/documents", headers=reads).status_code == 401


class Directory:
    """A resolver: it knows one name, and is broken for another."""

    def principals(self, caller: CallerIdentity) -> Iterable[str]:
        if caller.name == "broken":
            message = "the directory is down"
            raise ConnectionError(message)
        return ["user:ann"] if caller.name == "ann" else ["no principal"]


@pytest.mark.parametrize(
    ("name", "expected"), [("ann", ("user:ann",)), ("broken", AccessUnknownError), ("eve", AccessUnknownError)]
)
def test_a_resolver_says_who_asks_and_nobody_is_answered_without(name: str, expected: Any) -> None:  # noqa: ANN401
    speaker = Speaker(Grant(name, (), "1"), Directory())
    if isinstance(expected, tuple):
        assert speaker.principals() == expected
        return
    with pytest.raises(expected) as caught:
        speaker.principals()
    assert caught.value.http_status == 503
    assert "directory" not in str(caught.value)


def test_nothing_is_known_of_a_caller_without_a_grant() -> None:
    assert Speaker().principals() == ()
    assert replace(Speaker(), grant=NOBODY, resolver=Directory()).principals() == ()
    assert Speaker(EVERYTHING_GRANTED, Directory()).principals() is None
