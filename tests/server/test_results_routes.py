"""What a request may ask of its results, and what comes back, as the library has it."""

from collections.abc import Iterator

import pytest

from support.api_client import Visit, visiting
from twofold.index import Index

SEARCH = "/v1/indexes/reports/search"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("served")
    said = {"embedder": "hashing", "offline": True, "home": str(home)}
    with Index("reports", overrides=said) as index:
        index.add("tower report", source="old.md", metadata={"author": "Ada", "modified": "2020-01-01"})
        index.add("tower report again", source="new.md", metadata={"author": "Bob", "modified": "2025-01-01"})
    with visiting(home) as one:
        yield one


def test_facets_order_and_pages_over_http(visit: Visit) -> None:
    body = {"query": "tower", "k": 1, "facets": ["author"], "sort": ["modified:desc"], "cursor": "start"}
    first = visit.client.post(SEARCH, json=body).json()
    second = visit.client.post(SEARCH, json={**body, "cursor": first["next_cursor"]}).json()

    assert [hit["source"] for hit in first["hits"] + second["hits"]] == ["new.md", "old.md"]
    assert first["facets"] == [
        {
            "field": "author",
            "values": [
                {"value": "Ada", "count": 1, "filter": 'author == "Ada"'},
                {"value": "Bob", "count": 1, "filter": 'author == "Bob"'},
            ],
            "documents": 2,
            "further": 0,
            "missing": 0,
        }
    ]
    assert (first["counts"]["total"], second["next_cursor"]) == (2, "")
    assert visit.client.post(SEARCH, json={**body, "query": "other", "cursor": first["next_cursor"]}).status_code == 400


def test_an_explanation_has_the_steps_of_a_formula_and_of_age(visit: Visit) -> None:
    body = {"query": "tower", "score": "1 + score", "recency": "modified:365d@2026-01-01", "boosts": {"title": 2}}
    given = visit.client.post("/v1/indexes/reports/explain", json=body).json()

    for hit in given["hits"]:
        assert [step["stage"] for step in hit["trace"]["steps"]] == ["score", "recency"]
        assert hit["trace"]["steps"][0]["detail"]["expression"] == "1 + score"
        assert hit["trace"]["steps"][1]["after"] == hit["score"]


def test_why_not_knows_what_was_asked_of_the_results(visit: Visit) -> None:
    body = {"query": "tower", "document": "old.md", "hide": ["old.md"]}
    given = visit.client.post("/v1/indexes/reports/why-not", json=body).json()

    assert (given["stage"], given["fix"]["without"], given["rank_after_fix"]) == ("hide", ["hide"], 1)


def test_several_indexes_take_it_as_one_and_refuse_to_sort_what_is_joined_by_rank(visit: Visit) -> None:
    body = {"indexes": ["reports"], "query": "tower", "sort": ["modified"], "k": 1, "cursor": "start"}
    first = visit.client.post("/v1/search", json=body).json()
    second = visit.client.post("/v1/search", json={**body, "cursor": first["next_cursor"]}).json()
    joined = {**body, "settings": {"search.multi_index_merge": "rrf"}}

    assert [hit["source"] for hit in first["hits"] + second["hits"]] == ["old.md", "new.md"]
    assert visit.client.post("/v1/search", json=joined).status_code == 400


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"facets": ["a"] * 101}, 422),
        ({"mmr": 2}, 422),
        ({"boosts": {"title": "3"}}, 422),
        ({"score": "os.system('x')"}, 400),
        ({"cursor": "x"}, 400),
        ({"facets": ["price:3,1"]}, 400),
    ],
)
def test_what_cannot_be_is_refused(visit: Visit, more: dict[str, object], status: int) -> None:
    assert visit.client.post(SEARCH, json={"query": "tower", **more}).status_code == status


def test_pins_are_kept_over_http_and_hold_at_once(visit: Visit) -> None:
    pins = "/v1/indexes/reports/pins"
    put = visit.client.put(pins, json={"query": "Which tower?", "pin": ["old.md"], "hide": ["new.md"]})
    found = visit.client.post(SEARCH, json={"query": "which tower"}).json()
    gone = visit.client.put(pins, json={"query": "which tower"}).json()

    assert put.json() == {"pins": [{"query": "which tower", "documents": ["old.md", "-new.md"]}]}
    assert [hit["source"] for hit in found["hits"]] == ["old.md"]
    assert gone == {"pins": []} == visit.client.get(pins).json()
    assert visit.client.put(pins, json={"query": "x", "pin": ["nobody.md"]}).status_code == 404


def test_filters_of_the_question_come_back_with_the_result(visit: Visit) -> None:
    given = visit.client.post(SEARCH, json={"query": "tower before 2021", "extract_filters": True}).json()

    assert [hit["source"] for hit in given["hits"]] == ["old.md"]
    assert given["extracted"][0]["phrase"] == "before 2021"


def test_feedback_on_a_passage_becomes_a_judgement(visit: Visit) -> None:
    found = visit.client.post(SEARCH, json={"query": "how high is the tower"}).json()["hits"]
    base = "/v1/indexes/reports"
    first, second = found[0], found[1]

    def rate(**said: object) -> bool:
        given = visit.client.post(f"{base}/feedback", json={"query": "how high is the tower", **said})
        return bool(given.json()["judged"])

    assert rate(rating=-1, chunk_id=first["chunk_id"])
    assert rate(rating=1, chunk_id=first["chunk_id"])  # a change of mind
    assert rate(rating=-1, document=second["source"])
    assert not rate(rating=1)
    assert not rate(rating=0, chunk_id=first["chunk_id"])
    assert not rate(rating=1, document="nobody.md")
    kept = visit.client.get(f"{base}/judgements").json()["judgements"]
    assert sorted((one["source"], one["grade"], one["judge"].partition(":")[0]) for one in kept) == sorted(
        [(first["source"], 2, "feedback"), (second["source"], 0, "feedback")]
    )
