"""Checklist items 34, 43, 57, 82 and 87: query_documents, process_query, and the body of `POST /api/search`."""

import json
from collections.abc import Iterator

import pytest

from twofold import Index
from twofold.compat.orchestrator import QueryRetrievalModule, RAGOrchestrator
from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder

REQUEST = """{
  "query": "What is dbt?",
  "filters": {
    "source_type": ["azure_devops"],
    "file_type": [".sql"],
    "date_from": "2025-01-01"
  }
}"""
NO_MODELS: dict[str, object] = {"rerank.model": "none"}
INTRODUCTION = "dbt (data build tool) is a transformation workflow."
MODEL = "SELECT claim_id, patient_id, claim_amount FROM raw_claims -- a dbt model"
PRACTICES = "Best practices for dbt models: use staging models for one-to-one source mapping."


@pytest.fixture
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        for source, text, kind, day in (
            ("docs/dbt_introduction.md", INTRODUCTION, "azure_devops", "2025-03-01"),
            ("models/models_staging.sql", MODEL, "azure_devops", "2025-02-01"),
            ("models/old.sql", MODEL, "azure_devops", "2024-02-01"),
            ("dbt_best_practices.md", PRACTICES, "local_file", "2025-02-01"),
        ):
            made.add(text, source=source, metadata={"source_type": kind, "last_modified": day, "modified": day})
        yield made


def test_item_87_the_request_of_the_checklist_verbatim(index: Index) -> None:
    answer = RAGOrchestrator(index, NO_MODELS).handle(json.loads(REQUEST))

    assert answer["query"] == "What is dbt?"
    assert [one["metadata"]["filename"] for one in answer["results"]] == ["models_staging.sql"]
    assert json.loads(json.dumps(answer)) == answer


def test_item_34_results_keep_the_three_scores(index: Index) -> None:
    results = RAGOrchestrator(index, NO_MODELS).query_documents("What is dbt?")["results"]

    assert len(results) == 4
    for one in results:
        assert list(one) == ["content", "metadata", "semantic_score", "keyword_score", "final_score"]
        assert one["final_score"] == pytest.approx(0.6 * one["semantic_score"] + 0.4 * one["keyword_score"])
    assert max(one["keyword_score"] for one in results) == 1.0


def test_item_57_the_context_has_the_template_of_the_checklist(index: Index) -> None:
    answer = RAGOrchestrator(index, NO_MODELS).query_documents("transformation workflow", {"file_type": [".md"]})

    assert answer["context"] == (
        f"Document 1: dbt_introduction.md\nSource: azure_devops\n\n{INTRODUCTION}\n\n---\n\n"
        f"Document 2: dbt_best_practices.md\nSource: local_file\n\n{PRACTICES}\n\n---"
    )


def test_item_57_whole_documents_only_and_dots_where_one_is_left_out(index: Index) -> None:
    answer = RAGOrchestrator(index, NO_MODELS, max_context_tokens=45).query_documents("transformation workflow")

    assert answer["context"].endswith("---\n\n...")
    assert INTRODUCTION in answer["context"]
    assert PRACTICES not in answer["context"]


def test_item_82_the_counts_have_their_names(index: Index) -> None:
    metrics = RAGOrchestrator(index, NO_MODELS).query_documents("dbt", {"file_type": [".sql"]})["metrics"]

    assert (metrics["documents_retrieved"], metrics["documents_after_filter"]) == (4, 2)
    assert metrics["documents_after_rerank"] == 2
    assert metrics["latency_ms"]["total"] >= 0.0


def test_process_query_gives_documents_with_their_content(index: Index) -> None:
    found = QueryRetrievalModule(index, NO_MODELS).process_query("transformation workflow")

    assert found[0].page_content[:200] == INTRODUCTION
    assert found[0].metadata["filename"] == "dbt_introduction.md"
    assert found[0].metadata["source"] == "azure_devops"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": 7},
        {"query": "x", "filters": "type"},
        {"query": "x", "filters": {"color": "red"}},
        {"query": "x", "top_k": "many"},
        {"query": "x", "top_k": True},
        {"query": "x", "index": "../secret"},
        {"query": ""},
    ],
)
def test_a_body_that_is_no_request_is_refused(index: Index, body: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        RAGOrchestrator(index, NO_MODELS).handle(body)
