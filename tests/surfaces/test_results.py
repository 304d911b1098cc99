"""Facets, order, pages and the rest of what is asked of results, as they are typed and read."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from twofold.index import Index

Run = Callable[..., Any]


@pytest.fixture
def reports() -> None:
    """An index of three reports, one of them of two passages."""
    with Index("reports", overrides={"embedder": "hashing"}) as index:
        index.add("tower report", source="old.md", metadata={"author": "Ada", "modified": "2020-01-01"})
        index.add("tower report again", source="new.md", metadata={"author": "Bob", "modified": "2025-01-01"})
        long = "tower walls\n\n" + "stone " * 300 + "\n\ntower roof"
        index.add(long, source="long.md", metadata={"author": "Ada", "modified": "2022-01-01"})


pytestmark = pytest.mark.usefixtures("reports")


def names(found: Any) -> list[str]:  # noqa: ANN401  # JSON
    return [hit["source"] for hit in found["hits"]]


def test_facets_are_drawn_with_their_counts(run: Run) -> None:
    shown = run("search", "tower", "-i", "reports", "-m", "bm25", "--facet", "author", "--facet", "modified:year").out

    assert "author of 3 documents that match" in shown
    assert re.search(r"^ +Ada +2$", shown, re.MULTILINE)
    assert re.search(r"^ +Bob +1$", shown, re.MULTILINE)
    assert re.search(r"^ +2020 +1$", shown, re.MULTILINE)


def test_a_sorted_search_and_a_collapsed_one(run: Run) -> None:
    found = run("search", "tower", "-i", "reports", "--sort", "modified:desc", "--collapse", "--json").data
    shown = run("search", "tower", "-i", "reports", "-m", "bm25", "--collapse").out

    assert names(found) == ["new.md", "long.md", "old.md"]
    assert found["counts"]["total"] == 3
    assert "and 1 further passage of this document" in shown


def test_the_cursor_that_is_printed_leads_to_the_next_page(run: Run) -> None:
    asked = ("search", "tower", "-i", "reports", "-k", "1", "--collapse")
    shown = run(*asked, "--cursor", "start").out
    cursor = re.search(r"Next page: (--cursor=\S+)", shown)
    assert cursor is not None
    whole = names(run("search", "tower", "-i", "reports", "--collapse", "--json").data)

    assert names(run(*asked, cursor[1], "--json").data) == whole[1:2]
    refused = run(*asked[:1], "roof", *asked[2:], cursor[1])
    assert (refused.code, "not of this search" in refused.err) == (2, True)


def test_scores_are_explained_step_by_step(run: Run) -> None:
    shown = run(
        "search",
        "tower",
        "-i",
        "reports",
        "-k",
        "1",
        "--explain",
        "--recency",
        "365d@2026-01-01",
        "--score",
        "score * 2",
    ).out
    score = re.findall(r"^ +score +([\d.]+)$", shown, re.MULTILINE)

    assert "score = score * 2" in shown
    assert "days since modified" in shown
    assert score


def test_boosts_pins_and_formulas_that_cannot_be_are_refused_in_a_line(run: Run) -> None:
    for words, told in (
        (("--boost", "title"), "is no boost"),
        (("--boost", "body^2"), "cannot be boosted"),
        (("--score", "1 +"), "at character 4"),
        (("--mmr", "3"), "from 0 to 1"),
        (("--recency", "soon"), "no half-life"),
    ):
        refused = run("search", "tower", "-i", "reports", *words)
        assert refused.code == 2
        assert told in refused.err


def test_why_not_prints_the_command_without_what_lost_the_document(run: Run) -> None:
    shown = run("why-not", "-i", "reports", "tower", "new.md", "--hide", "new.md", "--sort", "modified").out
    (command,) = [line for line in shown.splitlines() if line.startswith("  twofold ")]

    assert shown.splitlines()[0] == "Lost at hide"
    assert "--sort modified" in command
    assert "--hide" not in command


def test_pinned_documents_come_first(run: Run) -> None:
    found = run(
        "search", "roof", "-i", "reports", "--pin", "new.md", "--boost", "title^2", "--mmr", "0.9", "--json"
    ).data

    assert names(found)[0] == "new.md"


def test_an_index_keeps_pins_that_are_typed(run: Run) -> None:
    assert run("pin", "-i", "reports", "The tower?", "new.md", "--hide", "old.md").code == 0
    kept = run("pin", "-i", "reports", "--json").data
    found = run("search", "the tower", "-i", "reports", "--collapse", "--json").data
    removed = run("pin", "-i", "reports", "the tower", "--remove").out

    assert kept == {"the tower": ["new.md", "-old.md"]}
    assert names(found) == ["new.md", "long.md"]
    assert "Nothing is pinned." in removed
    assert run("pin", "-i", "reports", "the tower").code == 2
    assert run("pin", "-i", "reports", "the tower", "nobody.md").code != 0


def test_a_filter_that_was_read_out_of_the_question_is_shown_and_can_be_taken_back(run: Run) -> None:
    shown = run("search", "tower before 2021", "-i", "reports", "--extract-filters").out
    found = run("search", "tower before 2021", "-i", "reports", "--extract-filters", "--json").data
    kept = run(
        "search", "tower before 2021", "-i", "reports", "--extract-filters", "--keep", "before 2021", "--json"
    ).data

    assert "Read as a filter: before 2021 (--keep 'before 2021' takes it back)" in shown
    assert names(found) == ["old.md"]
    assert [one["phrase"] for one in found["extracted"]] == ["before 2021"]
    assert len(set(names(kept))) == 3
