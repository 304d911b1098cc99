"""What an index shows first for a question, and filters that a question says in words."""

from pathlib import Path

import pytest

from support.indexes import sources
from twofold import Index
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import ResultOptions, SearchOptions


def made(folder: Path) -> Index:
    return Index(folder / "rules", embedder=HashingEmbedder())


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    with made(tmp_path) as index:
        index.add("travel travel rules", source="docs/travel.md", metadata={"date": "2022-05-01"})
        index.add("travel policy", source="docs/policy.md", metadata={"date": "2023-02-01"})
        index.add("old rules of travel", source="archive/old.pdf", metadata={"date": "2019-12-31"})
    return tmp_path


def test_an_index_keeps_what_it_shows_first_and_leaves_out(rules: Path) -> None:
    with made(rules) as index:
        index.pin("Travel rules?", ["policy.md"], hide=["old.pdf"])
        index.set_settings({**index.get_settings(), "search.k": 7})

    with made(rules) as index:
        assert index.pins() == {"travel rules": ("docs/policy.md", "-archive/old.pdf")}
        assert sources(index.search("travel RULES")) == ["docs/policy.md", "docs/travel.md"]
        assert set(sources(index.search("rules of travel"))) == {"docs/policy.md", "docs/travel.md", "archive/old.pdf"}
        lost = index.why_not("travel rules", "old.pdf", SearchOptions())
        assert (lost.stage, lost.fix and lost.fix.without) == ("hide", ("hide",))
        index.pin("travel rules")

    with made(rules) as index:
        assert index.pins() == {}
        assert index.settings.search.k == 7
        assert "archive/old.pdf" in sources(index.search("travel rules"))


def test_pins_name_what_is_there(rules: Path) -> None:
    with made(rules) as index:
        with pytest.raises(NotFoundError):
            index.pin("travel", ["nobody.md"])
        with pytest.raises(InvalidInputError, match="no word"):
            index.pin("?", ["policy.md"])
        index.set_settings({"results": {"pins": {f"question {number}": ["policy.md"] for number in range(256)}}})
        with pytest.raises(InvalidInputError, match="256 questions"):
            index.pin("one more", ["policy.md"])
        passage = index.chunks("policy.md")[0].id
        index.pin("question 1", [passage])
        assert index.pins()["question 1"] == (passage,)


def test_filters_are_read_out_of_the_question_where_that_is_asked_for(rules: Path) -> None:
    with made(rules) as index:
        plain = index.search("travel rules from 2022")
        found = index.search("travel rules from 2022", extract_filters=True, mode="bm25")
        kept = index.search("travel rules from 2022", extract_filters=True, keep=["From 2022"])

    assert len(plain.hits) == len(kept.hits) == 3
    assert not plain.extracted
    assert not kept.extracted
    assert sources(found) == ["docs/travel.md"]
    assert [(one.phrase, one.filter.split(" or ")[2]) for one in found.extracted] == [
        ("from 2022", 'date starts with "2022"')
    ]
    assert (found.query, found.queries) == ("travel rules from 2022", ("travel rules",))
    assert found.stages[0].name == "extract_filters"


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("travel before 2020", ["archive/old.pdf"]),
        ("travel since May 2022", ["docs/policy.md", "docs/travel.md"]),
        ("travel after 2022", ["docs/policy.md"]),
        ("travel between 2019 and 2022-05", ["archive/old.pdf", "docs/travel.md"]),
        ("travel until 2022-05-01", ["archive/old.pdf", "docs/travel.md"]),
        ("travel in pdf files", ["archive/old.pdf"]),
        ("markdown documents about travel", ["docs/policy.md", "docs/travel.md"]),
        ("travel in the folder docs", ["docs/policy.md", "docs/travel.md"]),
        ("travel from the archive folder", ["archive/old.pdf"]),
        ("travel in pdf files from 2022", []),
        ("from 2022", ["archive/old.pdf", "docs/policy.md", "docs/travel.md"]),
        ('travel "in pdf files"', []),
        ("travel in 2019.5", ["archive/old.pdf", "docs/policy.md", "docs/travel.md"]),
    ],
)
def test_what_a_question_says_of_where_to_look(rules: Path, question: str, found: list[str]) -> None:
    with made(rules) as index:
        assert sorted(sources(index.search(question, extract_filters=True))) == found


def test_the_setting_reads_filters_and_a_search_may_say_no(rules: Path) -> None:
    settings = {"results": {"extract_filters": True}}
    with made(rules) as index:
        assert sources(index.search("travel before 2020", settings=settings)) == ["archive/old.pdf"]
        assert len(index.search("travel before 2020", settings=settings, extract_filters=False).hits) == 3
        asked = SearchOptions(results=ResultOptions(extract_filters=True))
        lost = index.why_not("travel before 2020", "policy.md", asked)

    assert (lost.stage, lost.fix and lost.fix.without) == ("filter", ("extract_filters",))
