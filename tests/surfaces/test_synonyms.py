"""Synonyms of an index: kept with it, one term with the word they stand for, and shown where they acted."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.api_client import visiting
from support.indexes import indexed, sources
from twofold import Index, MultiIndex, SearchOptions
from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {
    "car": "car car stops",
    "automobile": "automobile drives far",
    "bread": "bread tastes good",
    "city": "new york city",
}
RULES = "car, automobile^0.5  # one finds the other\nnyc => new york city, big apple\n"


@pytest.fixture(params=["memory", "disk"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    where = ":memory:" if request.param == "memory" else tmp_path / "index"
    with indexed(TEXTS, where=where) as made:
        yield made


def scores(index: Index, question: str) -> list[tuple[str, float]]:
    return [(hit.source, round(hit.score, 6)) for hit in index.search(question, mode="bm25").hits]


def test_a_word_and_its_synonyms_score_as_one_term(index: Index) -> None:
    """Of 4 passages of 3 words 1 holds each: idf = ln(1 + 3.5 / 1.5) = 1.203973.

    `car` twice: 2 · 2.2 / 3.2 = 1.375. `automobile` once at .5: .5 · 2.2 / 1.7 = .647059.
    """
    assert scores(index, "cars") == [("car", 1.655463)]
    index.set_synonyms(RULES)

    assert scores(index, "cars") == [("car", 1.655463), ("automobile", 0.779041)]
    hit = index.search("cars", mode="bm25").hits[1]
    assert [(one.term, one.frequency, one.origin) for one in hit.trace.terms] == [("car", 0.5, "query")]


def test_a_group_is_as_rare_as_its_most_frequent_member(index: Index) -> None:
    """Now 2 of 5 passages hold `automobile`: df = max(1, 2), idf = ln(1 + 3.5 / 2.5) = .875469, for `car` as well."""
    index.add("automobile stands still", source="more")
    index.set_synonyms("car, automobile^0.5")

    assert scores(index, "car")[0] == ("car", 1.20377)


def test_a_rule_with_an_arrow_acts_one_way_and_several_words_are_a_phrase(index: Index) -> None:
    index.set_synonyms(RULES)
    index.add("york new city", source="elsewhere")

    assert [source for source, _ in scores(index, "NYC")] == ["city"]
    assert "nyc" not in index.search("new york city", mode="bm25").stages[0].notes
    assert index.search("new york city", mode="bm25").stages[0].notes == ("terms new, york, citi",)


def test_the_trace_says_which_rule_added_what_and_why_not_follows_it(index: Index) -> None:
    index.set_synonyms(RULES)
    result = index.search("car bread")

    assert result.stages[0].notes[1:] == ("synonyms of car: automobile 0.5 (rule in line 1)",)
    assert all(hit.trace.recompute_score() == hit.score for hit in result.hits)
    lost = index.why_not("car", "automobile", SearchOptions(k=1, mode="bm25"))
    assert lost.stage == "top_k"
    assert [one.detail for one in lost.evidence if one.name == "term car"] == ["in it; in 1 of 4 passages"]


def test_what_is_demanded_word_for_word_has_no_synonyms(index: Index) -> None:
    index.set_synonyms(RULES)

    assert sources(index.search("+car")) == ["car"]
    assert sources(index.search('"car"')) == ["car"]


def test_a_cached_answer_is_not_given_after_the_rules_changed(tmp_path: Path) -> None:
    with indexed(TEXTS, {"cache": {"size": 10}}, where=tmp_path / "index") as index:
        assert sources(index.search("car", mode="bm25")) == ["car"]
        index.set_synonyms(RULES)
        assert sources(index.search("car", mode="bm25")) == ["car", "automobile"]


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("car", "Line 1 of the synonyms is no rule"),
        ("a, b\n=> c", "Line 2 of the synonyms is no rule"),
        ("a => b^2", "Line 1 of the synonyms cannot have"),
        ("a, b c d e f g h i j", "Line 1 of the synonyms cannot have"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_by_its_line_and_nothing_changes(index: Index, rules: str, says: str) -> None:
    index.set_synonyms(RULES)
    with pytest.raises(InvalidInputError, match=says):
        index.set_synonyms(rules)

    assert index.get_synonyms() == RULES


def test_synonyms_go_with_a_copy_of_the_index_and_act_in_several(tmp_path: Path) -> None:
    with indexed(TEXTS, where=tmp_path / "one") as index:
        index.set_synonyms(RULES)
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    other = indexed({"other": "trains run late"}, where=tmp_path / "two")
    with other, Index(tmp_path / "copy", embedder=HashingEmbedder()) as copied:
        assert copied.get_synonyms() == RULES
        found = MultiIndex({"copy": copied, "two": other}).search("car", SearchOptions(mode="bm25"))
    assert {hit.source for hit in found.hits} == {"car", "automobile"}


def test_the_command_line_sets_lists_and_clears(run: Callable[..., Any], ready: None, tmp_path: Path) -> None:  # noqa: ARG001
    rules = tmp_path / "rules.txt"
    rules.write_text("tour eiffel => tower\n")

    assert run("synonyms", "set", rules, "-i", "notes").out == "1 rule kept.\n"
    assert run("synonyms", "list", "-i", "notes").out == "tour eiffel => tower\n"
    assert "rule in line 1" in run("search", "-i", "notes", "tour eiffel", "-m", "bm25", "--explain").out
    assert run("synonyms", "clear", "-i", "notes").code == 0
    assert run("synonyms", "list", "-i", "notes").out == ""
    assert run("synonyms", "set", tmp_path / "none", "-i", "notes").code == 3


def test_http_gets_and_puts_them(tmp_path: Path) -> None:
    with indexed(
        TEXTS, {"embedder": "hashing", "home": str(tmp_path), "offline": True}, where=tmp_path / "indexes/notes"
    ):
        pass
    with visiting(tmp_path) as visit:
        path = "/v1/indexes/notes/synonyms"
        assert visit.client.put(path, json={"rules": RULES}).json() == {"rules": RULES, "count": 2}
        assert visit.client.get(path).json() == {"rules": RULES, "count": 2}
        found = visit.client.post("/v1/indexes/notes/search", json={"query": "car", "mode": "bm25"}).json()
        refused = visit.client.put(path, json={"rules": "car"})

    assert [hit["source"] for hit in found["hits"]] == ["car", "automobile"]
    assert (refused.status_code, refused.json()["detail"]) == (400, "Line 1 of the synonyms is no rule: 'car'.")
