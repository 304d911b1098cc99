"""What a sync notes for itself, such as the server's folders, is given to nobody, by whatever route it is asked for."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.api_client import Visit, visiting

HIDDEN = {"root", "size", "modified_ns"}
WHERE = "/v1/indexes/notes"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """A server with a synced folder."""
    notes = tmp_path_factory.mktemp("notes")
    (notes / "cat.txt").write_text("The cat sat on the mat. It purred all afternoon.")
    with visiting(tmp_path_factory.mktemp("home"), roots=(notes,), said={"answer.min_answerability": 0.0}) as one:
        one.client.post("/v1/indexes", json={"name": "notes"})
        job = one.finished(one.client.post(f"{WHERE}/sync", json={"paths": [str(notes)]}).json()["id"])
        assert job["state"] == "done"
        yield one


def keys(value: Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    """Yield all keys of all objects."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from keys(inner)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{WHERE}/search", {"query": "cat"}),
        (f"{WHERE}/search:batch", {"queries": ["cat"]}),
        (f"{WHERE}/explain", {"query": "cat"}),
        (f"{WHERE}/ask", {"query": "Where did the cat sit?", "stream": False, "mode": "extractive"}),
        ("/api/search", {"query": "cat", "index": "notes"}),
        ("/v1/vector_stores/notes/search", {"query": "cat"}),
        ("/retrieval", {"knowledge_id": "notes", "query": "cat", "retrieval_setting": {"top_k": 1}}),
    ],
)
def test_no_route_that_searches_gives_them(visit: Visit, path: str, body: dict[str, object]) -> None:
    given = visit.client.post(path, json=body)

    assert given.status_code == 200
    assert "cat.txt" in given.text
    assert not HIDDEN.intersection(keys(given.json()))


def test_no_route_of_documents_gives_them(visit: Visit) -> None:
    listed = visit.client.get(f"{WHERE}/documents").json()
    (document,) = (one["id"] for one in listed["documents"])
    chunks = visit.client.get(f"{WHERE}/documents/{document}/chunks").json()
    alone = visit.client.get(f"{WHERE}/documents/{document}").json()

    assert not HIDDEN.intersection([*keys(listed), *keys(chunks), *keys(alone)])
