"""An index as it was, over HTTP: a request names the snapshot, and everything else is as it is today."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from support.api_client import Visit, visiting
from twofold.domain.errors import StorageFullError
from twofold.index import Index
from twofold.server.jobs.store import Job, Jobs

NOTES = "/v1/indexes/notes"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("served")
    with Index("notes", overrides={"embedder": "hashing", "offline": True, "home": str(home)}) as index:
        index.add("undo with revert", source="undo.md")
        index.add("put aside with stash", source="stash.md")
        index.snapshot("monday")
        index.add("undo with reset", source="undo.md")
        index.delete("stash.md")
    with visiting(home) as one:
        yield one


def texts(visit: Visit, route: str, **asked: object) -> list[str]:
    given = visit.client.post(f"{NOTES}/{route}", json={"query": "undo with stash", **asked})
    return sorted(hit["text"] for hit in given.json()["hits"])


@pytest.mark.parametrize("route", ["search", "explain"])
def test_a_request_may_ask_the_index_as_it_was(visit: Visit, route: str) -> None:
    then = ["put aside with stash", "undo with revert"]

    assert texts(visit, route, as_of="monday") == then
    assert texts(visit, route) == ["undo with reset"]
    assert texts(visit, route, as_of="9999-12-31") == then


def test_documents_are_listed_and_described_as_they_were(visit: Visit) -> None:
    listed = visit.client.get(f"{NOTES}/documents", params={"as_of": "monday"}).json()
    gone = next(one for one in listed["documents"] if one["source"] == "stash.md")

    assert listed["total"] == 2
    assert visit.client.get(f"{NOTES}/documents").json()["total"] == 1
    described = visit.client.get(f"{NOTES}/documents/{gone['id']}", params={"as_of": "monday"})
    assert described.json()["source"] == "stash.md"
    assert visit.client.get(f"{NOTES}/documents/{gone['id']}").status_code == 404


def test_an_unknown_snapshot_is_not_found(visit: Visit) -> None:
    for name in ("tuesday", "2001-01-01", "../monday"):
        given = visit.client.post(f"{NOTES}/search", json={"query": "undo", "as_of": name})
        assert given.status_code == 404
        assert given.json()["hint"]
    assert visit.client.post(f"{NOTES}/search", json={"query": "undo", "as_of": "x" * 65}).status_code == 422


@pytest.mark.parametrize("route", ["why-not", "search:batch"])
def test_other_questions_are_asked_of_the_index_as_it_was_too(visit: Visit, route: str) -> None:
    asked = {"queries": ["stash"]} if route == "search:batch" else {"query": "stash", "document": "stash.md"}

    now = visit.client.post(f"{NOTES}/{route}", json={**asked, "mode": "bm25"}).json()
    then = visit.client.post(f"{NOTES}/{route}", json={**asked, "mode": "bm25", "as_of": "monday"}).json()

    if route == "search:batch":
        assert [hit["source"] for hit in then["results"][0]["hits"]] == ["stash.md"]
        assert now["results"][0]["hits"] == []
    else:
        assert (now["stage"], then["rank"]) == ("not_indexed", 1)


def test_answers_facets_and_suggestions_are_those_of_then(visit: Visit) -> None:
    def asked(path: str, **body: object) -> Any:  # noqa: ANN401  # JSON
        return visit.client.post(path, json={"query": "what is put aside with stash", "stream": False, **body}).json()

    def counted(**body: object) -> list[str]:
        sent = {"query": "undo stash", "facets": ["source"], **body}
        given = visit.client.post(f"{NOTES}/search", json=sent).json()
        return sorted(one["value"] for one in given["facets"][0]["values"])

    def suggested(**more: str) -> list[str]:
        given = visit.client.get(f"{NOTES}/suggest", params={"q": "sta", **more}).json()
        return [one["text"] for one in given["suggestions"]]

    for path, body in ((f"{NOTES}/ask", {}), ("/v1/ask", {"indexes": ["notes"]})):
        then = asked(path, as_of="monday", **body)
        assert [one["source"] for one in then["citations"]] == ["stash.md"]
        assert "stash.md" not in json.dumps(asked(path, **body))
    found = visit.client.post("/v1/search", json={"query": "stash", "indexes": ["notes"], "as_of": "monday"}).json()
    assert found["hits"][0]["source"] == "stash.md"
    assert counted(as_of="monday") == ["stash.md", "undo.md"]
    assert counted() == ["undo.md"]
    assert suggested(as_of="monday")
    assert suggested() == []


def test_texts_and_passages_of_a_document_are_given_as_they_were(visit: Visit) -> None:
    listed = visit.client.get(f"{NOTES}/documents", params={"as_of": "monday"}).json()
    for one, text in zip(listed["documents"], ("put aside with stash", "undo with revert"), strict=True):
        path = f"{NOTES}/documents/{one['id']}"
        assert visit.client.get(f"{path}/content", params={"as_of": "monday"}).text == text
        chunks = visit.client.get(f"{path}/chunks", params={"as_of": "monday"}).json()["chunks"]
        assert [chunk["text"] for chunk in chunks] == [text]


def test_a_branch_whose_end_could_not_be_recorded_is_not_made_again(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, recorded = visit.client, Jobs.end
    failed: list[str] = []

    def full_at_first(store: Jobs, job: Job) -> None:
        if not failed:
            failed.append(job.id)
            raise StorageFullError("There is no room.", "Make some.")
        recorded(store, job)

    monkeypatch.setattr(Jobs, "end", full_at_first)
    job = client.post(f"{NOTES}/branches", json={"name": "resumed"}).json()["id"]
    done = visit.finished(job)
    assert failed == [job]
    made = client.get("/v1/indexes/resumed").json()
    assert (done["state"], done["counts"]) == ("done", {"added": made["documents"], "passages": made["chunks"]})
    assert made["documents"] == client.get(NOTES).json()["documents"]
    assert client.post(f"{NOTES}/branches", json={"name": "resumed"}).status_code == 400
    assert client.delete("/v1/indexes/resumed").status_code == 204


def test_snapshots_are_made_listed_compared_branched_and_deleted(visit: Visit) -> None:
    client = visit.client
    (first,) = client.get(f"{NOTES}/snapshots").json()["snapshots"]
    assert (first["name"], first["documents"], first["chunks"]) == ("monday", 2, 2)
    assert first["retained_bytes"] > len("put aside with stash" + "undo with revert")

    made = client.post(f"{NOTES}/snapshots", json={"name": "tuesday"})
    assert made.status_code == 201
    assert made.json()["documents"] == 1
    assert [one["name"] for one in client.get(f"{NOTES}/snapshots").json()["snapshots"]] == ["monday", "tuesday"]

    asked = {"before": "monday", "queries": ["undo", "undo"], "k": 5}
    changed = client.post(f"{NOTES}/diff", json=asked).json()
    assert [(one["source"], one["kind"]) for one in changed["documents"]] == [
        ("stash.md", "removed"), ("undo.md", "changed"),
    ]  # fmt: skip
    assert [changed[kind] for kind in ("added", "removed", "changed", "fields")] == [0, 1, 1, 0]
    assert [(one["source"], one["rank"]) for one in changed["rankings"][0]["left"]] == [("stash.md", 2)]
    assert client.post(f"{NOTES}/diff", json={**asked, "limit": 1}).json()["documents"] == changed["documents"][:1]
    same = client.post(f"{NOTES}/diff", json={"before": "tuesday", "after": "now"}).json()
    assert (same["documents"], same["rankings"]) == ([], [])

    job = client.post(f"{NOTES}/branches", json={"name": "experiment", "as_of": "monday"})
    assert job.status_code == 202
    done = visit.finished(job.json()["id"])
    assert (done["kind"], done["state"], done["counts"]) == ("branch", "done", {"added": 2, "passages": 2})
    found = client.post("/v1/indexes/experiment/search", json={"query": "undo with stash"}).json()["hits"]
    assert sorted(hit["text"] for hit in found) == ["put aside with stash", "undo with revert"]

    assert client.delete(f"{NOTES}/snapshots/tuesday").status_code == 204
    assert client.delete(f"{NOTES}/snapshots/tuesday").status_code == 404
    assert [one["name"] for one in client.get(f"{NOTES}/snapshots").json()["snapshots"]] == ["monday"]


@pytest.mark.parametrize(
    ("method", "path", "sent", "expected"),
    [
        ("POST", "snapshots", {"name": "monday"}, 400),
        ("POST", "snapshots", {"name": "now"}, 400),
        ("POST", "snapshots", {"name": "../x"}, 422),
        ("DELETE", "snapshots/absent", None, 404),
        ("POST", "diff", {"before": "absent"}, 404),
        ("POST", "branches", {"name": "notes"}, 400),
        ("POST", "branches", {"name": "new", "as_of": "absent"}, 404),
        ("POST", "branches", {"name": "../new"}, 422),
    ],
)
def test_what_cannot_be_is_said_with_a_remedy(
    visit: Visit, method: str, path: str, sent: Mapping[str, object] | None, expected: int
) -> None:
    given = visit.client.request(method, f"{NOTES}/{path}", json=sent)

    assert given.status_code == expected
    assert given.json()["detail"]
    assert given.json()["hint"]


def test_scopes_say_who_may_make_and_delete_snapshots(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("scoped")
    with Index("notes", overrides={"embedder": "hashing", "offline": True, "home": str(home)}) as index:
        index.add("undo with revert", source="undo.md")
    with visiting(home) as visit:
        reads, writes, rules = (visit.as_bearer(f"{one}:notes") for one in ("read", "write", "admin"))

        def status(method: str, path: str, headers: Mapping[str, str], sent: object = None) -> int:
            return visit.client.request(method, f"{NOTES}/{path}", json=sent, headers=headers).status_code

        assert status("POST", "snapshots", reads, {"name": "monday"}) == 403
        assert status("POST", "snapshots", writes, {"name": "monday"}) == 201
        assert status("GET", "snapshots", reads) == 200
        assert status("POST", "diff", reads, {"before": "monday"}) == 200
        assert status("POST", "branches", rules, {"name": "other"}) == 403
        assert status("DELETE", "snapshots/monday", writes) == 403
        assert status("DELETE", "snapshots/monday", rules) == 204
