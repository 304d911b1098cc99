"""Checklist items 34, 43, 57, 82 and 87 over HTTP: the request that the orchestrator's clients send, and its answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import Visit, visiting
from twofold.index import Index

BODY = b"""{
  "query": "What is dbt?",
  "filters": {
    "source_type": ["azure_devops"],
    "file_type": [".sql"],
    "date_from": "2025-01-01"
  }
}"""
AS_JSON = {"Content-Type": "application/json"}
FIELDS = {"source_type": "azure_devops", "file_type": ".sql"}


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    with Index("default", overrides={"embedder": "hashing", "offline": True, "home": str(tmp_path)}) as index:
        index.add("dbt is a tool.", source="models/new.sql", metadata={**FIELDS, "modified": "2025-06-01"})
        index.add("dbt is a tool too.", source="old.sql", metadata={**FIELDS, "modified": "2024-06-01"})
        index.add("dbt elsewhere.", source="wiki.md", metadata={"source_type": "wiki", "modified": "2025-06-01"})
    with visiting(tmp_path) as one:
        yield one


def test_the_request_is_answered_in_the_orchestrators_shape(visit: Visit) -> None:
    given = visit.client.post("/api/search", content=BODY, headers=AS_JSON)

    answer = given.json()
    assert given.status_code == 200
    assert answer["query"] == "What is dbt?"
    assert [one["metadata"]["filename"] for one in answer["results"]] == ["new.sql"]
    assert list(answer["results"][0]) == ["content", "metadata", "semantic_score", "keyword_score", "final_score"]
    assert answer["context"] == "Document 1: new.sql\nSource: azure_devops\n\ndbt is a tool.\n\n---"
    counts = [answer["metrics"][f"documents_{moment}"] for moment in ("retrieved", "after_filter", "after_rerank")]
    assert counts == [3, 1, 1]


def test_the_scores_are_those_of_its_profile(visit: Visit) -> None:
    answer = visit.client.post("/api/search", json={"query": "What is dbt?"}).json()

    assert len(answer["results"]) == 3
    for one in answer["results"]:
        assert one["final_score"] == pytest.approx(0.6 * one["semantic_score"] + 0.4 * one["keyword_score"])
    assert max(one["keyword_score"] for one in answer["results"]) == 1.0


def test_the_routes_of_twofolds_own_count_too(visit: Visit) -> None:
    found = visit.client.post("/v1/indexes/default/search", json={"query": "dbt", "filter": "type == '.sql'"}).json()

    assert set(found["counts"]) == {"retrieved", "after_filter", "returned", "total"}
    assert found["counts"]["returned"] == len(found["hits"])
