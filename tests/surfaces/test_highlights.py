"""Where in a passage the words of a question stand."""

from pathlib import Path

import pytest

from support.api_client import visiting
from support.indexes import indexed

TEXT = "Cars stop. An automobile, ERR-12345, stops."


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("car", ["Cars", "automobile"]),  # by its stem, and a synonym
        ("auto*", ["automobile"]),
        ("err-12345", ["ERR-12345"]),  # the code and its parts are one place
        ("trains stopping", ["stop", "stops"]),
        ("trains", []),
    ],
)
def test_words_of_the_question_and_their_synonyms_are_highlighted(question: str, words: list[str]) -> None:
    with indexed({"a": TEXT}) as index:
        index.set_synonyms("car => automobile")
        (hit,) = index.search(question).hits

    assert [hit.text[start:end] for start, end in hit.highlights] == words


def test_http_gives_highlights_where_they_are_asked_for(tmp_path: Path) -> None:
    said = {"embedder": "hashing", "home": str(tmp_path), "offline": True}
    with indexed({"a": TEXT}, said, where=tmp_path / "indexes/notes"):
        pass
    with visiting(tmp_path) as visit:
        path, asked = "/v1/indexes/notes/search", {"query": "stops"}
        plain = visit.client.post(path, json=asked).json()
        marked = visit.client.post(path, json={**asked, "highlight": True}).json()

    assert plain["hits"][0]["highlights"] == []
    assert marked["hits"][0]["highlights"] == [[5, 9], [37, 42]]
