"""Suggestions while a question is typed, and the spelling that may have been meant: never of what a filter hides."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.api_client import visiting
from support.indexes import indexed, sources
from twofold import Index
from twofold.domain.errors import InvalidInputError

TEXTS = {
    "engine.md": "The retrieval engine reads color photos.",
    "fast.md": "A retrieval engine is fast. Retrieval quality matters.",
    "dog.md": "A dog fetches colour sticks from the river.",
    "hidden.md": "The colander holds retrievable pasta.",
}
SEEN = "source != hidden.md"


@pytest.fixture(scope="module", params=["memory", "disk"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    where = ":memory:" if request.param == "memory" else tmp_path_factory.mktemp("kept") / "index"
    with indexed(TEXTS, where=where) as made:
        made.add("How to begin again.", source="guide.md", title="Git Reset Guide")
        yield made


@pytest.mark.parametrize(
    ("typed", "first", "among"),
    [
        ("ret", ("retrieval engine", "phrase", 2), [("retrieval", "word", 2), ("retrievable", "word", 1)]),
        ("retrieval ", ("retrieval engine", "phrase", 2), [("retrieval quality", "phrase", 1)]),
        ("fast retrieval q", ("fast retrieval quality", "phrase", 1), []),
        ("git r", ("Git Reset Guide", "title", 1), [("git reset", "phrase", 1)]),
        ("RESET", ("Git Reset Guide", "title", 1), []),
    ],
)
def test_titles_phrases_and_words_go_on_with_what_is_typed(
    index: Index, typed: str, first: tuple[str, str, int], among: list[tuple[str, str, int]]
) -> None:
    found = [(one.text, one.kind, one.passages) for one in index.suggest(typed)]

    assert found[0] == first
    assert set(among) <= set(found)
    assert len({text.lower() for text, _, _ in found}) == len(found)


def test_nothing_is_suggested_that_only_hidden_documents_hold(index: Index) -> None:
    assert [one.text for one in index.suggest("col")] == ["colander", "color", "colour"]
    assert [one.text for one in index.suggest("col", filter=SEEN)] == ["color", "colour"]
    assert [one.kind for one in index.suggest("git r", filter="source == dog.md")] == ["word"]


def test_a_phrase_that_is_a_word_too_stands_with_the_phrases() -> None:
    texts = {"limit.md": "The speed limit is six knots.", "lamps.md": "Two lamps.", "lead.md": "Lamps of lead."}
    with indexed(texts) as made:
        found = [(one.text, one.kind) for one in made.suggest("speed l")]

    assert found == [("speed limit", "phrase"), ("speed lamps", "word"), ("speed lead", "word")]


def test_as_many_are_given_as_were_asked_for(index: Index) -> None:
    assert len(index.suggest("r", k=2)) == 2
    assert list(index.suggest("  ")) == list(index.suggest("zzz")) == []
    with pytest.raises(InvalidInputError, match="from 1 to 50"):
        index.suggest("r", k=51)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("retreival engnie", "retrieval engine"),  # neighbors swapped, in both
        ("Colandr with things", "Colander with things"),
        ("ahead of retrieval", ""),  # no near word
        ("retrieval of rivr", "retrieval of river"),
        ("dgo", ""),  # too short: near too many
        ("retreival -pasta", "retrieval -pasta"),
        ("retreival 12345", "retrieval 12345"),
    ],
)
def test_words_that_the_index_does_not_know_are_spelt_as_near_ones_it_knows(
    index: Index, typed: str, meant: str
) -> None:
    assert index.search(typed).did_you_mean == meant


def test_no_word_is_meant_that_only_hidden_documents_hold(index: Index) -> None:
    assert index.search("colandr", filter=SEEN).did_you_mean == ""


def test_another_spelling_is_searched_for_only_where_nothing_was_found(index: Index) -> None:
    corrected = index.search("retreival", mode="bm25")
    found = index.search("retreival dog", mode="bm25")

    assert set(sources(corrected)) == {"engine.md", "fast.md", "hidden.md"}
    assert (corrected.query, corrected.did_you_mean, corrected.degraded) == ("retreival", "retrieval", False)
    assert [one.code for one in corrected.warnings] == ["corrected"]
    assert (sources(found), found.did_you_mean, found.warnings) == (["dog.md"], "retrieval dog", ())


def test_the_command_line_suggests_and_asks_what_was_meant(run: Callable[..., Any], ready: None) -> None:  # noqa: ARG001
    suggested = run("suggest", "st", "-i", "notes")
    searched = run("search", "-i", "notes", "stahs changes")

    assert ["stash", "word", "1", "passage"] in [line.split() for line in suggested.out.splitlines()]
    assert "Did you mean: stash changes" in searched.out
    assert run("suggest", "st", "-i", "notes", "--json").out.count('"kind"') >= 2


def test_http_gives_the_same(tmp_path: Path) -> None:
    with indexed(
        TEXTS, {"embedder": "hashing", "home": str(tmp_path), "offline": True}, where=tmp_path / "indexes/notes"
    ):
        pass
    with visiting(tmp_path) as visit:
        given = visit.client.get("/v1/indexes/notes/suggest", params={"q": "ret", "k": 1, "filter": SEEN}).json()
        found = visit.client.post("/v1/indexes/notes/search", json={"query": "retreival"}).json()
        refused = visit.client.get("/v1/indexes/notes/suggest", params={"q": "ret", "filter": "a =="})

    assert given == {"suggestions": [{"text": "retrieval engine", "kind": "phrase", "passages": 2}]}
    assert found["did_you_mean"] == "retrieval"
    assert refused.status_code == 400


def test_no_reader_is_shown_a_word_of_documents_that_are_not_theirs() -> None:
    with indexed({"open.md": "A dog fetches colour sticks."}) as index:
        index.add("The colander holds retrievable pasta.", source="secret.md", readers=["group:legal"])
        ann, legal = index.as_principals(["user:ann"]), index.as_principals(["group:legal"])

        assert [one.text for one in ann.suggest("col")] == ["colour"]
        assert [one.text for one in legal.suggest("col")] == ["colander", "colour"]
        assert (ann.search("colandr").did_you_mean, legal.search("colandr").did_you_mean) == ("", "colander")
        assert ann.search("col*").stages[0].notes[1] == "col* stands for colour"
        assert ann.search("retriev*").hits == ()
