"""What somebody set is stronger than a profile, wherever each is said; `--profile` means the same in both places."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.api_client import fill, visiting
from twofold.index import Index
from twofold.search.engine import SearchOptions

Run = Callable[..., Any]
WORD = "commit"


@pytest.fixture(autouse=True)
def _made(ready: None) -> None:
    """The index `notes`."""


def found(run: Run, *words: str) -> Any:  # noqa: ANN401  # JSON
    done = run(*words, "-i", "notes", "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


BEFORE_AND_AFTER = (["--profile", "{name}", "search", WORD], ["search", "--profile", "{name}", WORD])


@pytest.mark.parametrize("words", BEFORE_AND_AFTER, ids=["before", "after"])
@pytest.mark.parametrize("name", ["precise", "aanae"])
def test_reranking_that_was_turned_off_stays_off(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], name: str
) -> None:
    """`none` is the default, and somebody said it all the same."""
    said = [word.format(name=name) for word in words]
    as_option = found(run, "--set", "rerank.model=none", *said)
    monkeypatch.setenv("TWOFOLD_RERANK__MODEL", "none")
    by_variable = found(run, *said)

    for result in (as_option, by_variable):
        assert result["profile"] == name
        assert result["rerank"] is None
        assert not [note for note in (one["message"] for one in result["warnings"]) if "rerank" in note]


@pytest.mark.parametrize("words", BEFORE_AND_AFTER, ids=["before", "after"])
def test_a_mode_that_was_said_is_kept_though_it_is_the_default(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    said = [word.format(name="fast") for word in words]
    without = found(run, *said)
    monkeypatch.setenv("TWOFOLD_SEARCH__MODE", "hybrid")

    assert without["mode"] == "vector"
    assert found(run, *said)["mode"] == "hybrid"


def test_a_file_an_index_and_a_program_are_as_strong(run: Run, tmp_path: Path) -> None:
    with Index("notes", create=False) as index:
        assert index.search(WORD, profile="fast").mode == "vector"
        assert index.search(WORD, profile="fast", settings={"search.mode": "hybrid"}).mode == "hybrid"
    with Index("notes", create=False, overrides={"search.mode": "hybrid"}) as index:
        assert index.search(WORD, profile="fast").mode == "hybrid"
        assert index.search(WORD, profile="fast").profile == "fast"
    config = tmp_path / "mine.yaml"
    config.write_text("search: {mode: hybrid}\n")
    assert found(run, "--config", str(config), "search", "--profile", "fast", WORD)["mode"] == "hybrid"
    with Index("notes", create=False) as index:
        index.set_settings({"search.mode": "hybrid"})
    with Index("notes", create=False) as index:
        assert index.search(WORD, profile="fast").mode == "hybrid"


def test_one_profile_takes_the_place_of_another_where_nobody_said_anything() -> None:
    """`fast` looks by meaning and gives 5; `recall` is silent about the mode and gives 10."""
    with Index("notes", create=False, overrides={"profile": "fast", "search.candidates": "20"}) as index:
        result = index.search(WORD, profile="recall")
        assert result.mode == "hybrid"
        plan = index.searcher.parts_for(SearchOptions(profile="recall"))[1]
        assert (plan.k, plan.candidates) == (10, "20")


def test_a_server_that_was_told_not_to_rerank_does_not(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, said={"rerank.model": "none", "search.mode": "hybrid"}) as visit:
        for name in ("precise", "fast"):
            asked = {"query": WORD, "profile": name}
            result = visit.client.post("/v1/indexes/notes/explain", json=asked).json()
            assert (result["profile"], result["mode"], result["rerank"]) == (name, "hybrid", None)
            assert result["warnings"] == []


@pytest.mark.parametrize("words", BEFORE_AND_AFTER, ids=["before", "after"])
def test_a_profile_with_another_analyzer_leaves_the_index_its_own_and_says_so_once(run: Run, words: list[str]) -> None:
    """`aanae` is written for the analyzer `simple`; the index was made with `english`, which finds `commits` too."""
    said = [word.format(name="aanae") for word in words]

    done = run("--set", "rerank.model=none", "--set", "search.default_filter=()", *said, "-i", "notes")

    line = (
        "The index keeps the analyzer 'english' that it was made with; the profile aanae would make it with 'simple'."
    )
    assert done.code == 0
    assert done.err == f"twofold: {line}\n"
    assert "git.md" in done.out


@pytest.mark.parametrize("words", BEFORE_AND_AFTER, ids=["before", "after"])
def test_an_analyzer_that_was_said_is_still_refused(run: Run, words: list[str]) -> None:
    said = [word.format(name="aanae") for word in words]

    done = run("--set", "analyzer=simple", *said, "-i", "notes")

    assert done.code == 4
    assert "another analyzer than 'simple'" in done.err


def test_both_places_give_the_same_result(run: Run) -> None:
    def told(*words: str) -> Any:  # noqa: ANN401  # JSON
        result = found(run, *words)
        return {name: result[name] for name in ("mode", "fusion", "profile", "constants", "warnings", "counts")} | {
            "hits": [(hit["chunk_id"], hit["score"]) for hit in result["hits"]]
        }

    for name in ("modes", "fast", "recall", "localgpt-ui"):
        assert told("--profile", name, "search", WORD) == told("search", "--profile", name, WORD)
