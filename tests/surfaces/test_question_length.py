"""One length that a question may have: in the engine, the command line, HTTP, its description and the documentation."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.api_client import Visit, fill, visiting
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import MAX_QUESTION_LENGTH
from twofold.index import Index

Run = Callable[..., Any]
MAX_LENGTH = "a" * 4_096
TOO_LONG = MAX_LENGTH + "a"


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    fill(tmp_path / "home")
    with visiting(tmp_path / "home") as one:
        yield one


@pytest.mark.usefixtures("ready")
def test_the_library_and_the_command_line_agree(run: Run) -> None:
    with Index("notes", create=False) as index:
        assert index.search(MAX_LENGTH, mode="bm25").hits == ()
        assert index.ask(MAX_LENGTH, mode="bm25").refused
        for call in (index.search, index.ask):
            with pytest.raises(InvalidInputError, match="4,097 characters; 4,096 is the most"):
                call(TOO_LONG, mode="bm25")
    assert run("search", MAX_LENGTH, "-m", "bm25", "-i", "notes").code == 0
    done = run("search", TOO_LONG, "-m", "bm25", "-i", "notes")
    assert (done.code, done.out) == (2, "")
    assert "4,096 is the most" in done.err


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/indexes/notes/search", {"query": "Q", "mode": "bm25"}),
        ("/v1/indexes/notes/explain", {"query": "Q", "mode": "bm25"}),
        ("/v1/indexes/notes/search:batch", {"queries": ["Q"], "mode": "bm25"}),
        ("/v1/indexes/notes/why-not", {"query": "Q", "mode": "bm25", "document": "cat.txt"}),
        ("/v1/indexes/notes/ask", {"query": "Q", "search_mode": "bm25", "stream": False}),
        ("/api/search", {"query": "Q", "index": "notes"}),
        ("/v1/vector_stores/notes/search", {"query": "Q"}),
        ("/retrieval", {"knowledge_id": "notes", "query": "Q", "retrieval_setting": {"top_k": 1}}),
        ("/v1/chat/completions", {"model": "notes", "messages": [{"role": "user", "content": "Q"}]}),
    ],
)
def test_every_route_takes_as_much(visit: Visit, path: str, body: Any) -> None:  # noqa: ANN401  # JSON
    longest, too_long = (
        visit.client.post(path, json=_with(body, MAX_LENGTH)),
        visit.client.post(path, json=_with(body, TOO_LONG)),
    )

    assert longest.status_code == 200
    assert too_long.status_code in {400, 422}
    assert too_long.headers["content-type"] == "application/problem+json"


def _with(body: Any, question: str) -> Any:  # noqa: ANN401  # JSON
    match body:
        case "Q":
            return question
        case dict():
            return {key: _with(value, question) for key, value in body.items()}
        case list():
            return [_with(value, question) for value in body]
    return body


def test_the_description_says_the_same(visit: Visit) -> None:
    schemas = visit.client.get("/openapi.json").json()["components"]["schemas"]
    queries = {
        name: one["properties"]["query"] for name, one in schemas.items() if "query" in one.get("properties", {})
    }
    said = {name: one["maxLength"] for name, one in queries.items() if "maxLength" in one}

    assert {"SearchRequest", "AskRequest", "WhyNotRequest", "ApiSearchRequest", "DifyRequest"} <= set(said)
    assert set(said.values()) - {_of_a_text(said)} == {MAX_QUESTION_LENGTH}


def _of_a_text(said: dict[str, int]) -> int:
    """Reranking takes texts of other lengths for questions: those of the clients whose routes they are."""
    return said.get("RerankRequest", 0)


def test_the_documentation_says_the_same(repository: Path, run: Run) -> None:
    written = f"{MAX_QUESTION_LENGTH:,} characters"

    for page in ("docs/server.md", "docs/search.md"):
        assert written in (repository / page).read_text(encoding="utf-8")
    assert "4,096" in run("search", "--help").out
