"""JSON in which a key stands twice, which two readers may read differently."""

from collections.abc import Iterator

import pytest

from support.api_client import Visit, fill, visiting


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("twice")
    fill(home)
    with visiting(home) as one:
        yield one


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
@pytest.mark.parametrize(
    "body",
    [
        b'{"query": "cat", "query": "tower"}',
        b'{"query": "cat", "k": 1, "\\u006b": 9}',
        b'{"query": "cat", "filter": {"type": ".md", "type": ".txt"}}',
        b'{"query": "cat", "k": 1, "k": 2, "filter": "' + b"x" * 100_000 + b'"}',
    ],
)
def test_a_key_that_stands_twice_is_refused(visit: Visit, kind: str, body: bytes) -> None:
    given = visit.client.post("/v1/indexes/notes/search", content=body, headers={"Content-Type": kind})

    assert (given.status_code, given.json()["type"]) == (400, "duplicate-key")


def test_a_key_that_stands_twice_is_refused_in_uploads_and_in_a_form(visit: Visit) -> None:
    where = "/v1/indexes/notes/documents"
    text = b'{"documents": [{"text": "One.", "text": "Two."}]}'
    form = visit.client.post(where, files=[("file", ("a.txt", b"One."))], data={"metadata": '{"year": 1, "year": 2}'})

    sent = visit.client.post(where, content=text, headers={"Content-Type": "application/json"})

    assert (sent.status_code, form.status_code) == (400, 400)
