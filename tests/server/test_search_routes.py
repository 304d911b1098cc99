"""Checklist items 87 and C: searches over HTTP find what the library finds, and refuse what it refuses."""

from collections.abc import Iterator

import pytest

from support.api_client import Visit, fill, visiting
from twofold.index import Index
from twofold.ranking.fusion import FUSIONS


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("served")
    fill(home)
    with visiting(home) as one:
        yield one


def test_a_search_finds_what_the_library_finds(visit: Visit) -> None:
    said = {"embedder": "hashing", "offline": True, "home": str(visit.home)}
    with Index("notes", overrides=said) as index:
        expected = index.search("when was the tower finished", k=2)

    given = visit.client.post("/v1/indexes/notes/search", json={"query": "when was the tower finished", "k": 2}).json()

    assert [(hit["chunk_id"], hit["score"]) for hit in given["hits"]] == [
        (hit.chunk_id, hit.score) for hit in expected.hits
    ]
    assert given["hits"][0]["text"] == expected.hits[0].text


def test_a_batch_gives_one_answer_for_each_question_in_order(visit: Visit) -> None:
    given = visit.client.post("/v1/indexes/notes/search:batch", json={"queries": ["cat", "tower"], "k": 1}).json()

    assert [one["hits"][0]["source"] for one in given["results"]] == ["cat.txt", "tower.txt"]


def test_an_explanation_holds_the_parts_that_add_up_to_the_score(visit: Visit) -> None:
    given = visit.client.post("/v1/indexes/notes/explain", json={"query": "cat mat", "k": 1}).json()

    (hit,) = given["hits"]
    parts = sum(retriever["weight"] * retriever["normalized"] for retriever in hit["trace"]["retrievers"])
    assert hit["trace"]["steps"] or parts == pytest.approx(hit["score"])


def test_why_not_names_what_lost_a_document(visit: Visit) -> None:
    given = visit.client.post(
        "/v1/indexes/notes/why-not", json={"query": "cat", "document": "tower.txt", "filter": "source == cat.txt"}
    ).json()

    assert given["stage"] == "filter"


def test_a_filter_acts_in_both_of_its_forms(visit: Visit) -> None:
    for filter_ in ("source == tower.txt", {"field": "source", "op": "==", "value": "tower.txt"}):
        given = visit.client.post("/v1/indexes/notes/search", json={"query": "cat", "filter": filter_}).json()
        assert {hit["source"] for hit in given["hits"]} == {"tower.txt"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": ""}, 422),
        ({"query": "x" * 40_000}, 422),
        ({"query": "cat", "k": 10**9}, 422),
        ({"query": "cat", "k": "2"}, 422),
        ({"query": "cat", "unknown": 1}, 422),
        ({"query": "cat", "filter": "((("}, 400),
        ({"query": "cat", "filter": {"or": [{"field": "a", "op": "==", "value": n} for n in range(20_000)]}}, 400),
        ({"query": "cat", "settings": {"generator": "http://127.0.0.1:1/v1#m"}}, 400),
        ({"query": "cat", "settings": {"rerank.model": "http://127.0.0.1:1/v1#m"}}, 400),
        ({"query": "cat", "settings": {"home": "/"}}, 400),
        ({"query": "cat", "profile": "nobody"}, 400),
    ],
)
def test_what_cannot_be_asked_is_refused_as_a_problem(visit: Visit, body: dict[str, object], status: int) -> None:
    given = visit.client.post("/v1/indexes/notes/search", json=body)

    assert given.status_code == status
    assert given.headers["content-type"] == "application/problem+json"
    assert given.json()["detail"]


def test_a_refusal_does_not_repeat_what_was_asked(visit: Visit) -> None:
    given = visit.client.post("/v1/indexes/notes/search", json={"query": "cat", "k": "canary-5150"})

    assert "canary-5150" not in given.text


def test_feedback_is_kept_and_only_added_to(visit: Visit) -> None:
    numbers = [
        visit.client.post("/v1/indexes/notes/feedback", json={"query": "cat", "rating": 1}).json()["number"]
        for _ in range(2)
    ]

    assert numbers[1] == numbers[0] + 1


def test_the_seed_request_is_taken_verbatim(visit: Visit) -> None:
    body = {
        "query": "What is dbt?",
        "filters": {"source_type": ["azure_devops"], "file_type": [".sql"], "date_from": "2025-01-01"},
        "index": "notes",
    }

    given = visit.client.post("/api/search", json=body)

    assert given.status_code == 200
    assert given.json()["results"] == []


def test_health_readiness_metrics_and_documentation_are_there(visit: Visit) -> None:
    visit.client.post("/v1/indexes/notes/search", json={"query": "canary-7744"})

    metrics = visit.client.get("/metrics").text
    assert visit.client.get("/healthz").json() == {"status": "ok"}
    assert visit.client.get("/readyz").json() == {"status": "ready"}
    assert 'twofold_search_queries_total{index="notes"}' in metrics
    assert 'route="/v1/indexes/{index}/search",status="200"' in metrics
    assert "canary-7744" not in metrics
    assert visit.client.get("/openapi.json").json()["openapi"].startswith("3.1")


def test_the_pages_take_nothing_from_elsewhere(visit: Visit) -> None:
    for path in ("/", "/docs", "/page/docs.js", "/page/docs.css"):
        given = visit.client.get(path)
        assert given.status_code == 200
        assert "://" not in given.text
        assert "script-src 'self'" in given.headers["content-security-policy"]
    assert visit.client.get("/page/../app.py").status_code == 404
    assert visit.client.get("/page/%2e%2e%2fapp.py").status_code == 404


def test_files_of_the_page_are_packed_for_who_takes_that_and_asked_for_again_by_their_tag(visit: Visit) -> None:
    plain = visit.client.get("/page/app.js", headers={"Accept-Encoding": "identity"})
    packed = visit.client.get("/page/app.js", headers={"Accept-Encoding": "br, gzip"})

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.text == plain.text
    assert packed.headers["vary"] == "Accept-Encoding"
    again = visit.client.get("/page/app.js", headers={"If-None-Match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("form", FUSIONS)
def test_every_method_of_fusion_is_explained(visit: Visit, form: str) -> None:
    body = {"query": "cat mat", "k": 1, "settings": {"fusion.method": form}}
    given = visit.client.post("/v1/indexes/notes/explain", json=body)

    assert given.status_code == 200, given.text
    assert given.json()["fusion"] == form


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"query": "cat", "k": "x"}, ["body", "k"]),
        ({"query": "cat", "history": [{"role": "cat", "text": ""}]}, ["body", "history", 0, "role"]),
    ],
)
def test_each_invalid_field_is_named_by_its_path(visit: Visit, body: dict[str, object], loc: list[str | int]) -> None:
    refused = visit.client.post("/v1/indexes/notes/search", json=body)

    assert refused.status_code == 422
    assert [one["loc"] for one in refused.json()["errors"]] == [loc]
    assert all(one["message"] for one in refused.json()["errors"])


def test_the_mode_of_an_answer_is_not_that_of_its_search(visit: Visit) -> None:
    asked = {"query": "Where did the cat sit?", "stream": False, "mode": "extractive", "search_mode": "bm25"}
    answer = visit.client.post("/v1/indexes/notes/ask", json=asked)
    refused = visit.client.post("/v1/indexes/notes/ask", json={**asked, "mode": "bm25"})

    assert answer.json()["mode"] == "extractive"
    assert "embed" not in answer.json()["timings_ms"]
    assert [one["loc"] for one in refused.json()["errors"]] == [["body", "mode"]]
