"""Item 20: Azure OpenAI, whose deployments stand in the path, its version in the query and its key in `api-key`."""

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from support.fake_llm_server import finished, piece
from support.http_server import Answered, Asked, embeddings_of, serving
from support.indexes import GIT, indexed
from twofold import Index
from twofold.domain.errors import InvalidInputError, ModelError

KEY = "azure-secret"
VERSION = "2024-10-21"


class Azure:
    """Answers what Azure OpenAI answers, and 401 or 404 for whatever else it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Answered:
        parts = urlsplit(asked.path)
        self.asked.append(parts.path)
        headers = {name.lower(): value for name, value in asked.headers.items()}
        if headers.get("api-key") != KEY or "authorization" in headers:
            return Answered(b'{"error":{"code":"401"}}', 401)
        if parse_qs(parts.query) != {"api-version": [VERSION]}:
            return Answered(b'{"error":{"code":"404","message":"Resource not found"}}', 404)
        if parts.path == "/openai/deployments/my%20ada/embeddings":
            return Answered(embeddings_of(json.loads(asked.body)["input"]))
        if parts.path == "/openai/deployments/gpt/chat/completions":
            filtered = b'data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}]}\n\n'
            body = filtered + piece("Use git reset [1].") + finished()
            return Answered(body, headers={"Content-Type": "text/event-stream"})
        return Answered(b'{"error":{"code":"DeploymentNotFound"}}', 404)


@pytest.fixture
def azure() -> Azure:
    return Azure()


@pytest.fixture
def address(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TWOFOLD_API_KEY", KEY)
    with serving(azure) as where:
        yield where


def test_documents_and_questions_are_embedded_by_a_deployment(azure: Azure, address: str) -> None:
    with Index(":memory:", overrides={"embedder": f"{address}#my%20ada&api_version={VERSION}"}) as index:
        index.add("undo the last commit with reset", source="reset.txt")
        index.add("a recipe for apple pie", source="pie.txt")
        result = index.search("undo commit", mode="vector")
        fingerprint = index.info().fingerprint

    assert result.hits[0].source == "reset.txt"
    assert set(azure.asked) == {"/openai/deployments/my%20ada/embeddings"}
    assert fingerprint is not None
    assert (fingerprint.embedder.name, fingerprint.embedder.dimensions) == ("my ada", 64)


def test_a_deployment_writes_the_answer(azure: Azure, address: str) -> None:
    index = indexed(GIT, {"generator": f"{address}/#gpt&api_version={VERSION}"})
    answer = index.ask("How do I undo the last commit?")

    assert "Use git reset" in answer.text
    assert answer.warnings == ()
    assert azure.asked == ["/openai/deployments/gpt/chat/completions"]


def test_without_the_version_it_is_a_server_like_any_other(azure: Azure, address: str) -> None:
    with (
        Index(":memory:", overrides={"embedder": f"{address}#my%20ada&dimensions=64"}) as index,
        pytest.raises(ModelError, match="answered 401"),
    ):
        index.add("undo the last commit", source="a.txt")

    assert azure.asked == ["/embeddings"]


def test_a_wrong_version_is_told_with_its_remedy(address: str) -> None:
    overrides = {"embedder": f"{address}#my%20ada&dimensions=64&api_version=2020-01-01"}
    with Index(":memory:", overrides=overrides) as index, pytest.raises(ModelError, match="answered 404") as refused:
        index.add("undo the last commit", source="a.txt")

    assert KEY not in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize("version", ["latest", "2024-10-21&x=1/../..", "2024-10-21%23", "2024-10-21-beta"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(InvalidInputError):
        Index(":memory:", overrides={"embedder": f"https://a.openai.azure.com#ada&dimensions=8&api_version={version}"})
