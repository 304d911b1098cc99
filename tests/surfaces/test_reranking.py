"""Reranking as one meets it on the command line: asked for, explained, listed, examined."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]

ASKED = ["search", "undo the last commit", "-i", "notes"]


@pytest.mark.usefixtures("ready")
def test_a_search_is_reranked_where_it_is_asked_for(run: Run) -> None:
    plain = run(*ASKED, "--json").data
    found = run(*ASKED, "--rerank", "word-overlap", "--json").data

    assert plain["rerank"] is None
    assert found["rerank"]["model"] == "word-overlap"
    assert found["rerank"]["read"] == len(found["hits"])
    for hit in found["hits"]:
        (step,) = hit["trace"]["steps"]
        trace = step["detail"]
        share = trace["weight"]
        assert hit["score"] == (1.0 - share) * trace["fused_normalized"] + share * trace["relevance"]


@pytest.mark.usefixtures("ready")
def test_the_explanation_shows_what_the_reranker_said(run: Run) -> None:
    shown = run(*ASKED, "--rerank", "word-overlap", "--explain").out

    assert "rerank: word-overlap (relevance) read" in shown
    rows = [line.split() for line in shown.splitlines()]
    first = {row[0]: row[1:] for row in reversed(rows) if row and row[0] in {"as", "fused", "score", "reranked"}}
    shares = {" ".join(row[:2]): row[2:] for row in reversed(rows) if row[:1] == ["as"]}
    assert shares["as read"][:2] == ["1.000000", "1.000000"]
    assert shares["as fused"][:2] == ["1", first["fused"][0]]
    parts = float(shares["as fused"][-1]) + float(shares["as read"][-1])
    assert float(first["score"][0]) == pytest.approx(parts, abs=2e-6)
    assert first["reranked"] == first["score"]


@pytest.mark.usefixtures("ready")
def test_settings_ask_for_it_and_none_switches_it_off(run: Run) -> None:
    front = ["--set", "rerank.model=word-overlap"]

    assert run(*front, *ASKED, "--json").data["rerank"] is not None
    assert run(*front, *ASKED, "--rerank", "none", "--json").data["rerank"] is None


@pytest.mark.usefixtures("ready")
def test_a_missing_reranker_is_told_of_beside_the_results(run: Run) -> None:
    done = run(*ASKED, "--rerank", "ms-marco-MiniLM-L-12-v2")

    assert done.code == 0
    assert "Warning: rerank unavailable: The model ms-marco-MiniLM-L-12-v2 is not in" in done.out.replace("\n", " ")


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    ("words", "code"), [(["--rerank", "nope"], 3), (["--budget-ms", "-1"], 2), (["--rerank", "http://localhost/v1"], 2)]
)
def test_what_cannot_be_is_refused(run: Run, words: list[str], code: int) -> None:
    done = run(*ASKED, *words)

    assert done.code == code
    assert done.err


def test_the_rerankers_are_listed(run: Run) -> None:
    tasks = {one["name"]: one["task"] for one in run("models", "list", "--json").data}

    assert tasks["ms-marco-MiniLM-L-12-v2"] == "rerank"


@pytest.mark.parametrize(
    ("spec", "state"),
    [("word-overlap", "ok"), ("ms-marco-MiniLM-L-12-v2", "warn"), ("nope", "fail"), ("http://localhost/v1#m", "ok")],
)
def test_the_doctor_looks_at_the_reranker_that_is_set(run: Run, spec: str, state: str) -> None:
    checks = {one["what"]: one for one in run("--set", f"rerank.model={spec}", "doctor", "--json").data}

    assert checks["reranker"]["state"] == state
    assert "reranker" not in {one["what"] for one in run("doctor", "--json").data}


@pytest.mark.parametrize(
    ("spec", "state"),
    [("local/smollm2-135m", "warn"), ("ollama/qwen3:8b", "ok"), ("nobody", "fail"), ("http://localhost/v1#m", "ok")],
)
def test_the_doctor_looks_at_the_generator_that_is_set(run: Run, spec: str, state: str) -> None:
    checks = {one["what"]: one for one in run("--set", f"generator={spec}", "doctor", "--json").data}

    assert checks["generator"]["state"] == state
    assert "generator" not in {one["what"] for one in run("doctor", "--json").data}


def test_the_doctor_looks_at_the_models_of_the_profile(run: Run) -> None:
    front = ["--profile", "precise", "--set", "rerank.fallback=word-overlap"]
    checks = {one["what"]: one for one in run(*front, "doctor", "--json").data}

    assert checks["reranker"]["state"] == "warn"
    assert checks["fallback reranker"]["state"] == "ok"


def test_the_doctor_has_advice_for_what_goes_wrong(run: Run) -> None:
    """Checklist item 92: a low hit rate, slow searches, results that are not relevant."""
    shown = run("doctor", "--suggest")
    data = run("doctor", "--suggest", "--json").data

    assert shown.code == 0
    assert all(f"If {one['when']}:" in shown.out for one in data)
    assert [bool(one["tries"]) for one in data] == [True, True, True]
    assert "70 %" in shown.out
    assert "500 ms" in shown.out
