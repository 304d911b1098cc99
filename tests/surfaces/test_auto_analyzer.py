"""The analyzer `auto`: documents by their language, questions by all that the index holds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import visiting
from twofold import Document, Index
from twofold.domain.errors import MismatchError

GERMAN = (
    "Die alten Häuser der Stadt stehen an dem Fluss, und die Brücken wurden nach dem Krieg von den Bürgern wieder "
    "aufgebaut. Heute sind sie das Ziel von vielen Reisenden, die an den Ufern spazieren gehen."
)
ENGLISH = (
    "The old ships of the harbor were sold after the war, and the sailors had to look for work in other towns. Today "
    "they are shown in a museum that is visited by many people."
)
JAPANESE = "東京の図書館は毎日九時に開きます。本を借りるには利用者カードが必要です。"


def documents() -> list[Document]:
    return [Document(name, name, text) for name, text in (("de", GERMAN), ("en", ENGLISH), ("ja", JAPANESE))]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index(tmp_path / "index", overrides={"embedder": "none", "analyzer": "auto"}) as opened:
        opened.add_many(documents())
        yield opened


def first(index: Index, question: str) -> str:
    hits = index.search(question).hits
    return hits[0].document if hits else ""


def test_each_document_is_stemmed_as_its_language_is(index: Index, tmp_path: Path) -> None:
    assert first(index, "Haus") == "de"  # Häuser: an English stemmer keeps it apart from Haus
    assert first(index, "ship") == "en"
    assert first(index, "図書館") == "ja"
    with Index(tmp_path / "english", overrides={"embedder": "none", "analyzer": "english"}) as other:
        other.add_many(documents())
        assert first(other, "Haus") == ""


def test_operators_ask_for_a_word_in_any_of_the_languages(index: Index) -> None:
    assert first(index, "+Brücke alte ship") == "de"
    assert first(index, "alte ships -Brücke") == "en"
    assert first(index, '"Brücken wurden"') == "de"
    assert first(index, "Brück*") == "de"
    assert {hit.document for hit in index.search("Haus OR ship").hits} == {"de", "en"}


def test_the_trace_says_how_a_question_was_analyzed(index: Index) -> None:
    notes = [note for stage in index.search("Wo ist das Haus?").stages for note in stage.notes]

    assert any("analyzed as de, en" in note for note in notes)


def test_stop_words_of_the_question_s_language_say_nothing_in_the_others(index: Index) -> None:
    index.add(
        "A die is cast from steel, and the die is kept in the shop until the next order is sent to it.", source="x"
    )

    assert first(index, "Wann wurden die Brücken wieder aufgebaut?") == "de"
    assert "die" not in {one.term for hit in index.search("die Häuser und die Brücken").hits for one in hit.trace.terms}


def test_words_are_marked_in_passages_of_each_language(index: Index) -> None:
    hit = index.search("Haus").hits[0]

    assert [hit.text[start:end] for start, end in hit.highlights] == ["Häuser"]


def test_a_language_that_is_given_decides(tmp_path: Path) -> None:
    with Index(tmp_path / "index", overrides={"embedder": "none", "analyzer": "auto"}) as index:
        index.add("Alte Häuser", source="a", metadata={"language": "de"})
        index.add("Old houses", source="b")  # too short to be detected: analyzed as English

        assert index.search("Haus").hits[0].source == "a"
        assert index.search("house").hits[0].source == "b"


def test_an_index_keeps_the_analyzer_that_it_was_made_with(index: Index, tmp_path: Path) -> None:
    index.close()
    with (
        Index(tmp_path / "index", overrides={"embedder": "none", "analyzer": "german"}) as other,
        pytest.raises(MismatchError),
    ):
        other.add("Noch ein Haus.")


def test_a_server_searches_several_languages(tmp_path: Path) -> None:
    with visiting(tmp_path) as visit:
        made = visit.client.post("/v1/indexes", json={"name": "notes", "analyzer": "auto"})
        assert made.status_code == 201, made.text
        for text in (GERMAN, ENGLISH):
            sent = visit.client.post("/v1/indexes/notes/documents", json={"documents": [{"text": text}]})
            visit.finished(sent.json()["id"])

        found = visit.client.post("/v1/indexes/notes/search", json={"query": "Haus", "mode": "bm25"}).json()

    assert "Häuser" in found["hits"][0]["text"]
