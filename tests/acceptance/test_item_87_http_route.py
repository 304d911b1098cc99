"""Checklist item 87: `POST /api/search` takes `{query, filters}`, word for word as its clients send it."""

from pathlib import Path

from twofold.index import Index
from visiting import visiting

BODY = b"""{
  "query": "What is dbt?",
  "filters": {
    "source_type": ["azure_devops"],
    "file_type": [".sql"],
    "date_from": "2025-01-01"
  }
}"""


def test_the_request_finds_what_its_filters_let_through(tmp_path: Path) -> None:
    fields = {"source_type": "azure_devops", "file_type": ".sql"}
    with Index("default", overrides={"embedder": "hashing", "offline": True, "home": str(tmp_path)}) as index:
        index.add("dbt is a tool.", source="new.sql", metadata={**fields, "modified": "2025-06-01"})
        index.add("dbt is a tool too.", source="old.sql", metadata={**fields, "modified": "2024-06-01"})
        index.add("dbt elsewhere.", source="wiki.md", metadata={"source_type": "wiki", "modified": "2025-06-01"})

    with visiting(tmp_path) as visit:
        given = visit.client.post("/api/search", content=BODY, headers={"Content-Type": "application/json"})

    assert given.status_code == 200
    assert [hit["source"] for hit in given.json()["hits"]] == ["new.sql"]
