"""Several indexes in one request: each hit names its own, a broken one is named, and none is read without leave."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.api_client import TEXTS, Visit, fill, visiting

TOGETHER = ["cats", "towers"]
TOWER = {"query": "When was the Eiffel tower finished?", "indexes": TOGETHER}
CATS = {name: TEXTS[name] for name in ("cat.txt", "git.txt")}
TOWERS = {"tower.txt": TEXTS["tower.txt"], "other.txt": "The tower of Pisa leans. It stands in Italy."}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path, "cats", CATS)
    fill(tmp_path, "towers", TOWERS)
    fill(tmp_path, "private", {"secret.txt": "The Eiffel tower is a secret."})
    return tmp_path


@pytest.fixture
def visit(home: Path) -> Iterator[Visit]:
    with visiting(home, said={"answer.min_answerability": 0.0}) as one:
        yield one


def asked(visit: Visit, route: str, body: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401  # JSON
    given = visit.client.post(f"/v1/{route}", json=body, headers=headers)
    assert given.status_code == 200, given.text
    return given.json()


def test_a_search_finds_in_each_and_says_where(visit: Visit) -> None:
    found = asked(visit, "search", {**TOWER, "query": "cat tower", "k": 10})

    assert {(hit["collection"], hit["source"]) for hit in found["hits"]} >= {
        ("cats", "cat.txt"),
        ("towers", "tower.txt"),
    }
    hit = next(hit for hit in found["hits"] if hit["source"] == "tower.txt")
    text = visit.client.get(f"/v1/indexes/towers/documents/{hit['document']}/content").text
    assert text[hit["start"] : hit["end"]] == hit["text"]


def test_an_explanation_has_the_whole_trace(visit: Visit) -> None:
    found = asked(visit, "explain", TOWER)

    assert found["hits"][0]["collection"] == "towers"
    assert {retriever["retriever"] for retriever in found["hits"][0]["trace"]["retrievers"]} == {"bm25", "vector"}


def test_an_answer_cites_the_index_that_holds_it(visit: Visit) -> None:
    answer = asked(visit, "ask", {**TOWER, "stream": False})

    assert "1889" in answer["text"]
    cited = {(one["collection"], one["source"]) for one in answer["citations"]}
    assert ("towers", "tower.txt") in cited
    assert {one["collection"] for one in answer["sources"]} <= set(TOGETHER)


def test_an_answer_comes_as_events(visit: Visit) -> None:
    given = visit.client.post("/v1/ask", json=TOWER)

    names = [line.removeprefix("event: ") for line in given.text.splitlines() if line.startswith("event: ")]
    last = [json.loads(line.removeprefix("data: ")) for line in given.text.splitlines() if line.startswith("data: ")][
        -1
    ]
    assert given.headers["content-type"].startswith("text/event-stream")
    assert names.index("sources") < names.index("answer_chunk")
    assert names[-1] == "done"
    assert "1889" in last["answer"]["text"]


@pytest.mark.parametrize("route", ["search", "explain", "ask"])
def test_every_index_must_be_the_callers_to_read(visit: Visit, route: str) -> None:
    headers = visit.as_bearer("read:cats", "read:towers")

    allowed = visit.client.post(f"/v1/{route}", json=TOWER, headers=headers)
    refused = [
        visit.client.post(f"/v1/{route}", json={**TOWER, "indexes": indexes}, headers=headers)
        for indexes in (["cats", "private"], ["private"], ["cats", "not-there"])
    ]

    assert allowed.status_code == 200
    assert [one.status_code for one in refused] == [403, 403, 403]
    assert all("secret" not in one.text for one in [allowed, *refused])


@pytest.mark.parametrize("route", ["search", "explain", "ask"])
@pytest.mark.parametrize(
    ("indexes", "status"),
    [([], 422), (["cats", "cats"], 400), (["cats", "not-there"], 404), (["../cats"], 422), (["cats"] * 17, 422)],
)
def test_indexes_that_cannot_be_asked_are_refused(visit: Visit, route: str, indexes: list[str], status: int) -> None:
    assert visit.client.post(f"/v1/{route}", json={**TOWER, "indexes": indexes}).status_code == status


def test_a_broken_index_is_left_out_and_named(home: Path) -> None:
    catalog = home / "indexes" / "cats" / "catalog.sqlite3"
    catalog.write_bytes(b"\x55" * catalog.stat().st_size)
    with visiting(home, said={"answer.min_answerability": 0.0}) as visit:
        found = asked(visit, "search", TOWER)
        answer = asked(visit, "ask", {**TOWER, "stream": False})
        alone = visit.client.post("/v1/search", json={**TOWER, "indexes": ["cats"]})

    assert {hit["collection"] for hit in found["hits"]} == {"towers"}
    assert [(one["stage"], one["collection"]) for one in found["warnings"]] == [("index", "cats")]
    assert "1889" in answer["text"]
    assert answer["warnings"] == found["warnings"]
    assert alone.status_code == 500
    assert alone.json()["type"] == "corrupt"


def test_indexes_of_different_models_are_joined_by_rank_where_a_request_says_so(home: Path) -> None:
    with visiting(home) as visit:
        visit.client.post("/v1/indexes", json={"name": "german", "analyzer": "german"})
        text = {"documents": [{"text": "Der Eiffelturm steht in Paris.", "source": "turm.txt"}]}
        visit.finished(visit.client.post("/v1/indexes/german/documents", json=text).json()["id"])
        body = {"query": "Paris", "indexes": ["towers", "german"]}

        refused = visit.client.post("/v1/search", json=body)
        found = asked(visit, "search", {**body, "settings": {"search.multi_index_merge": "rrf"}})

    assert (refused.status_code, refused.json()["type"]) == (409, "mismatch")
    assert {hit["collection"] for hit in found["hits"]} == {"towers", "german"}
