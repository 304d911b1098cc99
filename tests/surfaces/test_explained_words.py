"""Explanations by whole words, what feedback added told apart from the question's own, and what it never adds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.api_client import visiting
from support.indexes import indexed
from twofold.domain.types import TermScore

Run = Callable[..., Any]
TEXTS = {
    "kiln.md": "Firing kilns in 2019: ERR-4711 appears at 1260 degrees, glazes run and kilns crack. Part x9z7 broke.",
    "glaze.md": "Glazes are mixed from minerals and dry slowly.",
    "wheel.md": "A wheel turns clay.",
} | {f"{number}.md": f"Filling number {number} about nothing." for number in range(30)}


def added(terms: list[dict[str, Any]]) -> dict[str, str]:
    return {one["term"]: one["word"] for one in terms if one["origin"] == "prf"}


def own(terms: list[dict[str, Any]]) -> dict[str, str]:
    return {one["term"]: one["word"] for one in terms if one["origin"] == "query"}


@pytest.mark.parametrize("settings", [{}, {"prf": {"top_k": 0, "dense_terms": 30}}])
def test_feedback_adds_no_number_and_no_code(settings: dict[str, object]) -> None:
    with indexed(TEXTS) as index:
        found = index.search("kilns firing", settings=settings)

    terms: list[TermScore] = [one for hit in found.hits for one in hit.trace.terms]
    new = {one.term for one in terms if one.origin == "prf"}
    assert "glaze" in new
    assert not {term for term in new if any(map(str.isdigit, term))}
    assert not {"2019", "1260", "4711", "x9z7", "=ERR-4711"} & new
    assert {one.term for one in terms if one.origin == "query"} == {"kiln", "fire"}
    (stage,) = [stage for stage in found.stages if stage.name in {"prf", "prf_dense"}]
    assert "glaze" in stage.terms
    assert not any(map(str.isdigit, " ".join(stage.terms)))


def test_http_explains_by_whole_words(tmp_path: Path) -> None:
    with indexed(TEXTS, {"home": str(tmp_path)}, where=tmp_path / "indexes" / "notes"):
        pass
    with visiting(tmp_path) as visit:
        given = visit.client.post("/v1/indexes/notes/explain", json={"query": "kilns firing", "k": 1}).json()

    terms = given["hits"][0]["trace"]["terms"]
    assert own(terms) == {"kiln": "kilns", "fire": "firing"}
    assert added(terms)["glaze"] == "glazes"
    (stage,) = [stage for stage in given["stages"] if stage["name"] == "prf"]
    assert "glazes" in stage["terms"]
    assert not {"glaze", "degre"} & set(stage["terms"])
    (parsed,) = [stage for stage in given["stages"] if stage["name"] == "parse"]
    assert parsed["notes"] == ["terms kilns, firing"]


@pytest.mark.usefixtures("ready")
def test_the_command_line_has_them_as_json(run: Run) -> None:
    found = run("search", "undo the last commits", "-i", "notes", "--json").data

    terms = found["hits"][0]["trace"]["terms"]
    assert own(terms) == {"undo": "undo", "last": "last", "commit": "commits"}
    assert added(terms)["chang"] == "changes"


@pytest.mark.usefixtures("ready")
def test_the_stages_of_an_explanation_name_whole_words(run: Run) -> None:
    shown = run("search", "undoing the last commits", "-i", "notes", "--explain").out

    (line,) = [line for line in shown.splitlines() if line.startswith("prf")]
    assert "changes" in line
    assert "chang," not in line
    (line,) = [line for line in shown.splitlines() if line.startswith("parse")]
    assert "terms undoing, last, commits" in line
