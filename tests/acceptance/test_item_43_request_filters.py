"""Checklist 43: source_type, date_from and date_to (inclusive), file_type, repository, path_contains."""

from collections.abc import Iterator, Mapping

import pytest

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.filter_json import filter_from_json, parse_json_filter

REQUEST = '{"source_type": ["azure_devops"], "file_type": [".sql"], "date_from": "2025-01-01"}'


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        for source, metadata in {
            "repo/models/staging/orders.sql": {
                "source_type": "azure_devops", "last_modified": "2025-01-01", "repository": "analytics-dbt"},
            "repo/models/staging/old.sql": {"source_type": "azure_devops", "last_modified": "2024-12-31T23:59:59"},
            "repo/models/marts/late.sql": {"source_type": "azure_devops", "modified": "2025-11-26T23:59:59+00:00"},
            "repo/models/staging/orders.py": {"source_type": "azure_devops", "last_modified": "2025-06-01"},
            "local/orders.sql": {"source_type": "local", "last_modified": "2025-06-01", "repository": "other"},
            "bare.sql": {},
        }.items():  # fmt: skip
            made.add("What is dbt? A tool.", source=source, metadata=metadata)
        yield made


def found(index: Index, request: Mapping[str, object], mode: str = "hybrid") -> set[str]:
    hits = index.search("What is dbt?", filter=filter_from_json(request), mode=mode).hits
    return {hit.source.rpartition("/")[2] for hit in hits}


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_the_request_of_the_first_phase(index: Index, mode: str) -> None:
    hits = index.search("What is dbt?", filter=parse_json_filter(REQUEST), mode=mode).hits

    assert {hit.source for hit in hits} == {"repo/models/staging/orders.sql", "repo/models/marts/late.sql"}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"source_type": ["local"]}, {"orders.sql"}),
        ({"source_type": ["local", "azure_devops"]}, {"orders.sql", "old.sql", "late.sql", "orders.py"}),
        ({"source_type": []}, set()),
        ({"date_from": "2025-01-01", "date_to": "2025-11-26"}, {"orders.sql", "late.sql", "orders.py"}),
        ({"date_to": "2025-11-25"}, {"orders.sql", "old.sql", "orders.py"}),
        ({"date_to": "2025-01-01", "date_from": "2025-01-01"}, {"orders.sql"}),
        ({"file_type": [".py"]}, {"orders.py"}),
        ({"file_type": [".sql", ".py"], "path_contains": "repo/"}, {"orders.sql", "old.sql", "late.sql", "orders.py"}),
        ({"repository": "analytics-dbt", "path_contains": "/models/staging"}, {"orders.sql"}),
        ({"path_contains": "/models/staging"}, {"orders.sql", "old.sql", "orders.py"}),
    ],
)
def test_each_filter(index: Index, request_: Mapping[str, object], expected: set[str]) -> None:
    assert found(index, request_) == expected


def test_missing_metadata_does_not_raise(index: Index) -> None:
    for request in (
        {"date_from": "2020-01-01"},
        {"source_type": ["x"]},
        {"repository": "x"},
        {"date_to": "2999-01-01"},
    ):
        assert "bare.sql" not in found(index, request)
    assert "bare.sql" in found(index, {"file_type": [".sql"]})


def test_the_same_in_the_question(index: Index) -> None:
    hits = index.search("What is dbt? type:.sql after:2025-01-01 before:2025-11-27 path:/models").hits

    assert {hit.source for hit in hits} == {"repo/models/staging/orders.sql", "repo/models/marts/late.sql"}
