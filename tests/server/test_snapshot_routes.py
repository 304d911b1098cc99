"""An index as it was, over HTTP: a request names the snapshot, and everything else is as it is today."""

from collections.abc import Iterator

import pytest

from support.api_client import Visit, visiting
from twofold.index import Index

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
