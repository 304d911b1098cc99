"""Who may come in: tokens, hosts, origins, sizes; decided before a byte of the body is read."""

import io
import json
import logging
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.api_client import Visit, fill, visiting
from twofold.config.load import load_settings
from twofold.domain.errors import CorruptError, InvalidInputError
from twofold.server.auth import Action, Grant, Scope, TokenStore, parse_scope
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.middleware import PUBLIC, host_without_port
from twofold.server.run import Address, is_local, plan_for

OPEN_TO_ALL = PUBLIC | {"/page/{name}"}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("guarded")
    fill(home)
    with visiting(home) as one:
        one.tokens.create("somebody", [Scope(Action.ADMIN)])
        yield one


def operations(visit: Visit) -> list[tuple[str, str, str]]:
    """Give every route: method, a path that fits, and what it needs."""
    paths = visit.client.get("/openapi.json").json()["paths"]
    values = {"{index}": "notes", "{document}": "a", "{job}": "0" * 16, "{page}": "1"}
    found = []
    for template, methods in paths.items():
        path = template
        for name, value in values.items():
            path = path.replace(name, value)
        found += [(method.upper(), path, route["x-twofold-scope"]) for method, route in methods.items()]
    return found


def test_every_route_but_the_public_ones_wants_a_token_and_a_good_one(visit: Visit) -> None:
    revoked, record = visit.token("admin"), visit.tokens.records()[-1]
    visit.tokens.revoke(record.id)
    wrong = {
        "none": {},
        "wrong": {"Authorization": "Bearer tf_" + "0" * 12 + "_" + "A" * 43},
        "secret of another": {"Authorization": f"Bearer tf_{visit.tokens.records()[0].id}_" + "A" * 43},
        "revoked": {"Authorization": f"Bearer {revoked}"},
        "basic": {"Authorization": "Basic dTpw"},
        "empty": {"Authorization": "Bearer"},
        "long": {"Authorization": "Bearer " + "x" * 10_000},
    }
    let_in = [
        (method, path, name)
        for method, path, needed in operations(visit)
        for name, headers in wrong.items()
        if needed != "public" and visit.client.request(method, path, headers=headers).status_code != 401
    ]

    assert let_in == []
    assert visit.client.get("/nowhere").status_code == 401
    assert visit.client.get("/healthz").status_code == 200


def test_a_token_does_what_its_scopes_say_and_no_more(visit: Visit) -> None:
    reader = visit.as_bearer("read:other")
    let_in = [
        (method, path)
        for method, path, needed in operations(visit)
        if needed in ("read", "write", "admin")
        and visit.client.request(method, path, headers=reader).status_code != 403
    ]

    assert let_in == []
    assert visit.client.get("/v1/indexes", headers=reader).json() == {"indexes": []}
    assert visit.client.get("/v1/indexes", headers=visit.as_bearer("read:notes")).json() == {"indexes": ["notes"]}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/indexes", {"name": "mine"}),
        ("/api/search", {"query": "cat", "index": "notes"}),
        ("/v1/chat/completions", {"model": "notes", "messages": [{"role": "user", "content": "cat"}]}),
        ("/v1/embeddings", {"model": "notes", "input": "cat"}),
        ("/v1/rerank", {"model": "notes", "query": "cat", "documents": ["cat"]}),
        ("/v2/rerank", {"model": "notes", "query": "cat", "documents": ["cat"]}),
        ("/retrieval", {"knowledge_id": "notes", "query": "cat", "retrieval_setting": {"top_k": 1}}),
    ],
)
def test_an_index_that_is_named_in_the_body_is_guarded_too(visit: Visit, path: str, body: dict[str, Any]) -> None:
    assert visit.client.post(path, json=body, headers=visit.as_bearer("read:other")).status_code == 403


def test_who_may_not_come_in_is_told_before_the_body_is_sent(visit: Visit) -> None:
    port = int(visit.address.rpartition(":")[2])
    head = "POST /v1/indexes/notes/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(head.encode())
        answer = connection.recv(4096)

    assert answer.startswith(b"HTTP/1.1 401 ")


def test_revoking_holds_from_the_next_request_on(visit: Visit) -> None:
    headers = visit.as_bearer("read")
    before = visit.client.get("/v1/indexes", headers=headers).status_code
    visit.tokens.revoke(visit.tokens.records()[-1].id)

    assert (before, visit.client.get("/v1/indexes", headers=headers).status_code) == (200, 401)


@pytest.mark.parametrize(
    "host", ["evil.test", "localhost.evil", "127.0.0.1.nip.io", "", "localhost@evil.test", "[::2]"]
)
def test_a_name_that_is_not_ours_is_misdirected(visit: Visit, host: str) -> None:
    assert visit.client.get("/healthz", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_pages_of_other_sites_may_not_ask(visit: Visit, headers: dict[str, str], status: int) -> None:
    given = visit.client.get("/healthz", headers=headers)

    assert given.status_code == status
    assert "access-control-allow-origin" not in given.headers


def test_our_own_page_may_ask(visit: Visit) -> None:
    assert visit.client.get("/healthz", headers={"Origin": visit.address}).status_code == 200


def test_a_listed_origin_may_ask_and_is_told_so(tmp_path: Path) -> None:
    friend = "https://wiki.example"
    with visiting(tmp_path, address=Address(port=0, origins=(friend,), names=("Wiki.Example",))) as visit:
        given = visit.client.get("/healthz", headers={"Origin": friend, "Host": "wiki.example:80"})
        asked = visit.client.options("/v1/indexes", headers={"Origin": friend, "Access-Control-Request-Method": "POST"})
        other = visit.client.get("/healthz", headers={"Origin": "https://evil.test"})

    assert given.headers["access-control-allow-origin"] == friend
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, friend)
    assert other.status_code == 403


def test_json_that_is_sent_as_text_is_not_read(tmp_path: Path) -> None:
    with visiting(tmp_path) as visit:
        body = json.dumps({"name": "notes"})
        given = visit.client.post("/v1/indexes", content=body, headers={"Content-Type": "text/plain"})
        names = visit.client.get("/v1/indexes").json()

    assert given.status_code == 422
    assert names == {"indexes": []}


def test_every_answer_carries_the_headers_that_keep_browsers_in_check(visit: Visit) -> None:
    for given in (visit.client.get("/"), visit.client.get("/nowhere"), visit.client.get("/v1/indexes")):
        assert given.headers["x-content-type-options"] == "nosniff"
        assert given.headers["content-security-policy"].startswith("default-src 'none'")
        assert "server" not in given.headers


def test_too_much_is_refused_whether_it_says_so_or_not(tmp_path: Path) -> None:
    limits = replace(DEFAULT_LIMITS, body_bytes=1_000, upload_bytes=2_000)
    fill(tmp_path)
    body = json.dumps({"query": "x" * 5_000}).encode()

    def piecemeal() -> Iterator[bytes]:
        yield from (body[at : at + 100] for at in range(0, len(body), 100))

    with visiting(tmp_path, limits) as visit:
        json_type = {"Content-Type": "application/json"}
        declared = visit.client.post("/v1/indexes/notes/search", content=body, headers=json_type)
        chunked = visit.client.post("/v1/indexes/notes/search", content=piecemeal(), headers=json_type)
        upload = visit.client.post("/v1/indexes/notes/documents", files={"file": ("a.txt", io.BytesIO(b"x" * 5_000))})
        left = list((visit.home / "server" / "spool").iterdir())

    assert [one.status_code for one in (declared, chunked, upload)] == [413, 413, 413]
    assert left == []


HALF_A_BODY = (
    b"POST /v1/indexes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n{"
)


@pytest.mark.parametrize("sent", [b"GET /healthz HT", HALF_A_BODY])
def test_who_sends_too_slowly_is_not_waited_for(tmp_path: Path, sent: bytes) -> None:
    limits = replace(DEFAULT_LIMITS, header_seconds=1.0, body_seconds=1.0)  # the first request must make it
    with visiting(tmp_path, limits) as visit:
        port = int(visit.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(sent)
            answer = connection.recv(4096)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")


def test_logs_hold_nothing_of_questions_documents_or_keys(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(tmp_path, texts={"canary-source.txt": "canary-text about a cat"})
    with caplog.at_level(logging.DEBUG), visiting(tmp_path) as visit:
        headers = visit.as_bearer("admin")
        token = headers["Authorization"]
        for body in (
            {"query": "canary-query"},
            {"query": "canary-query", "k": "canary-k"},
            {"query": "a", "filter": "canary-("},
        ):
            visit.client.post("/v1/indexes/notes/search", json=body, headers=headers)
        visit.client.get("/v1/indexes/notes/documents/canary-id", headers=headers)
        visit.client.post("/v1/indexes/notes/ask", json={"query": "canary-query cat"}, headers=headers)
        visit.client.get("/v1/indexes?canary-parameter=1", headers={"Authorization": "Bearer canary-key"})
    ours = [record for record in caplog.records if not record.name.startswith("http")]
    written = "\n".join(record.getMessage() + str(record.exc_text) for record in ours)

    assert "canary" not in written
    assert token.removeprefix("Bearer ") not in written


def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    settings = load_settings(overrides={"home": str(tmp_path)})
    book = TokenStore(tmp_path)

    def nobody(_: str) -> Any:  # noqa: ANN401  # never called
        raise AssertionError

    with pytest.raises(InvalidInputError, match="no token"):
        plan_for(settings, nobody, Address("0.0.0.0"))  # noqa: S104  # what is refused
    record, _ = book.create("a", [Scope(Action.READ)])
    assert plan_for(settings, nobody, Address("0.0.0.0")).policy.token_needed  # noqa: S104
    book.revoke(record.id)
    with pytest.raises(InvalidInputError, match="no token"):
        plan_for(settings, nobody, Address("0.0.0.0"))  # noqa: S104


def test_revoking_the_last_token_does_not_open_the_door(tmp_path: Path) -> None:
    book = TokenStore(tmp_path)
    book.revoke(book.create("a", [Scope(Action.READ)])[0].id)
    with visiting(tmp_path) as visit:
        assert visit.client.get("/v1/indexes").status_code == 401


def test_tokens_are_long_kept_as_hashes_and_readable_by_their_owner_alone(tmp_path: Path) -> None:
    book = TokenStore(tmp_path)
    made = {book.create("a", [Scope(Action.READ)])[1] for _ in range(3)}

    kept = (tmp_path / "tokens.json").read_text()
    assert len(made) == 3
    assert not [token for token in made if token.split("_", 2)[2] in kept]
    assert os.stat(tmp_path / "tokens.json").st_mode & 0o077 == 0  # noqa: PTH116
    assert all(book.grant_for(token) == Grant("a", (Scope(Action.READ),), token.split("_")[1]) for token in made)


def test_a_damaged_file_of_tokens_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text("{")

    with pytest.raises(CorruptError):
        TokenStore(tmp_path).grant_for("tf_x")


def test_a_damaged_file_of_tokens_leaves_its_lock_free(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text("{")
    impatient = TokenStore(tmp_path, wait_seconds=0.1)
    with pytest.raises(CorruptError) as first:
        impatient.create("a", [parse_scope("read")])
    with pytest.raises(CorruptError) as second:  # and not that another process is writing
        impatient.create("a", [parse_scope("read")])
    assert str(first.value) == str(second.value)
    with visiting(tmp_path) as visit:
        assert visit.client.get("/v1/indexes").status_code == 500


@pytest.mark.parametrize(
    ("scope", "action", "index", "allowed"),
    [
        ("read", "read", "notes", True),
        ("read", "write", "notes", False),
        ("write:notes", "read", "notes", True),
        ("write:notes", "read", "other", False),
        ("admin:notes", "admin", "*", False),
        ("admin", "admin", "*", True),
    ],
)
def test_an_action_allows_what_stands_before_it(scope: str, action: str, index: str, *, allowed: bool) -> None:
    assert Grant("a", (parse_scope(scope),)).allows(Action(action), index) is allowed


@pytest.mark.parametrize("scope", ["", "own", "read:../x", "read:a b", "READ"])
def test_a_scope_that_is_none_is_refused(tmp_path: Path, scope: str) -> None:
    with pytest.raises(InvalidInputError):
        TokenStore(tmp_path).create("a", [parse_scope(scope)])


@pytest.mark.parametrize(
    ("host", "name"), [("LocalHost:80", "localhost"), ("[::1]:80", "[::1]"), ("a.", "a"), ("", ""), ("a:b:c", "a")]
)
def test_a_host_is_read_without_its_port(host: str, name: str) -> None:
    assert host_without_port(host) == name


def test_this_machine_alone_is_local() -> None:
    assert [is_local(one) for one in ("127.0.0.1", "localhost", "::1", "127.8.8.8")] == [True] * 4
    assert [is_local(one) for one in ("0.0.0.0", "::", "192.168.1.2", "example.org")] == [False] * 4  # noqa: S104
