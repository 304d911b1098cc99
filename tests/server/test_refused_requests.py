"""What a refused request is told: what of it cannot be used and why, in one line; and what else an address answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.api_client import Visit, fill, visiting

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("refused")
    fill(home)
    with visiting(home) as one:
        yield one


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("search", {"query": "cat", "k": "five"}, "`k` of the body cannot be used: Input should be a valid integer."),
        ("search", {"k": 5}, "`query` of the body cannot be used: it is needed."),
        (
            "search",
            {"q": "cat"},
            "`query` of the body cannot be used: it is needed. 1 more cannot be used; `errors` says which.",
        ),
        ("search", {"query": "cat", "int": 3}, "`int` of the body cannot be used: there is no such field."),
        ("documents", {"documents": []}, "`documents` of the body cannot be used: List should have at least 1 item"),
        (
            "search",
            {"query": "cat", "boosts": {"title": "x"}},
            "`boosts.title` of the body cannot be used: Input should be a valid number.",
        ),
    ],
)
def test_the_one_line_of_a_refusal_names_what_cannot_be_used(visit: Visit, path: str, body: Any, detail: str) -> None:  # noqa: ANN401
    refused = visit.client.post(f"/v1/indexes/notes/{path}", json=body)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(detail)
    assert refused.json()["errors"][0]["loc"][0] == "body"


def test_a_value_of_one_of_several_kinds_is_refused_once(visit: Visit) -> None:
    put = visit.client.put("/v1/indexes/notes/documents/a/metadata", json={"metadata": {"year": {"a": 1}}})
    (one,) = put.json()["errors"]
    assert one["loc"] == ["body", "metadata", "year"]
    assert one["message"].startswith("Input should be a valid string or a valid boolean or a valid integer")


def test_a_body_that_is_no_json_is_called_that(visit: Visit) -> None:
    search = "/v1/indexes/notes/search"
    cut = visit.client.post(search, content='{"query": "cat"', headers=JSON)
    assert cut.json()["errors"] == [{"loc": ["body", 15], "message": "it is no JSON from this character on"}]
    form = visit.client.post(search, content='{"query": "cat"}', headers={"Content-Type": "text/plain"})
    assert form.json()["detail"] == (
        "The body cannot be used: it must be a JSON object, sent with `Content-Type: application/json`."
    )


def test_clients_of_openai_are_told_which_parameter(visit: Visit) -> None:
    asked = visit.client.post("/v1/chat/completions", json={"model": "notes", "messages": []})
    told = asked.json()["error"]
    assert told["param"] == "messages"
    assert told["message"].startswith("`messages` of the body cannot be used: ")


def test_head_is_answered_as_get_without_a_body(visit: Visit) -> None:
    for path in ("/", "/healthz", "/v1/indexes", "/v1/indexes/notes"):
        whole, head = visit.client.get(path), visit.client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
        assert head.headers["content-length"] == whole.headers["content-length"]
    assert visit.client.head("/v1/indexes/none").status_code == 404


def test_an_address_says_all_its_methods(visit: Visit) -> None:
    refused = visit.client.patch("/v1/indexes")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    asked = visit.client.options("/v1/indexes/notes/search")
    assert (asked.status_code, asked.headers["allow"], asked.content) == (204, "OPTIONS, POST", b"")


def test_a_missing_document_is_listed_over_http_as_http_does(visit: Visit) -> None:
    missing = visit.client.get("/v1/indexes/notes/documents/nowhere").json()
    assert missing["detail"] == "There is no document 'nowhere'."
    assert missing["hint"] == "`GET …/documents` of the index lists them."
