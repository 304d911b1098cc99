"""Checklist 53, 35, 86: what turns reranking off turns off the fallback too, in every interface.

The fallback in these tests is `word-overlap`, which needs no files: it reads passages the moment something asks it to.
"""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.api_client import fill, visiting
from support.indexes import GIT, indexed
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.cli.app import application
from twofold.compat.localgpt import RetrievalPipeline
from twofold.multi_index import search_multi
from twofold.plugins import Plugins
from twofold.search.engine import SearchOptions

PROFILES = ("localgpt", "localgpt-ui")
QUESTION = "undo the last commit"
FALLBACK = "rerank.fallback"
OFF = {"rerank.model": "none", FALLBACK: "word-overlap"}
FLAGS = "searchType: {type}\naiRerank: {rerank}\nrerank: {{fallback: word-overlap}}\nembedder: hashing\n"
MAPS = (
    "RETRIEVAL_CONFIG: {{ai_rerank: {rerank}}}\nMODEL_CONFIG: {{fallback_reranker: word-overlap}}\nembedder: hashing\n"
)


def from_cli(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("TWOFOLD_RERANK__FALLBACK", "word-overlap")
    done = CliRunner().invoke(application(), [*words, "--json"], prog_name="twofold")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("profile", PROFILES)
def test_the_fallback_of_these_tests_reads_where_reranking_is_on(profile: str) -> None:
    dead = Plugins(rerankers={"dead": Dictated({}, last=0)})
    with Index(":memory:", overrides={"embedder": "hashing"}, plugins=dead) as index:
        index.add(GIT["reset.md"], source="reset.md")
        found = index.search(QUESTION, profile=profile, settings={"rerank.model": "dead", FALLBACK: "word-overlap"})

    assert found.rerank is not None
    assert found.rerank.model == "word-overlap"


@pytest.mark.parametrize("profile", PROFILES)
def test_python_turns_it_off(profile: str) -> None:
    with indexed(GIT) as index:
        by_setting = index.search(QUESTION, profile=profile, settings=OFF)
        by_argument = index.search(QUESTION, profile=profile, rerank="none", settings={FALLBACK: "word-overlap"})
    with indexed(GIT, {"profile": profile, **OFF}) as index:
        at_opening = index.search(QUESTION)

    for found in (by_setting, by_argument, at_opening):
        assert found.hits
        assert found.rerank is None
        assert not found.warnings
        assert not any(hit.trace.rerank for hit in found.hits)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_command_line_turns_it_off(profile: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))
    fill(tmp_path)
    asked = ("search", QUESTION, "-i", "notes", "--rerank")

    assert '"rerank": null' in from_cli(monkeypatch, "--profile", profile, *asked, "none")
    assert '"rerank": null' in from_cli(monkeypatch, *asked, "none", "--profile", profile)
    assert '"word-overlap"' in from_cli(monkeypatch, "--profile", profile, *asked, "word-overlap")


@pytest.mark.parametrize("profile", PROFILES)
def test_http_turns_it_off(profile: str, tmp_path: Path) -> None:
    fill(tmp_path)
    body = {"query": QUESTION, "profile": profile, "rerank": False}
    with visiting(tmp_path, said={FALLBACK: "word-overlap"}) as visit:
        found = visit.client.post("/v1/indexes/notes/explain", json=body).json()

    assert found["hits"]
    assert not any(step["stage"] == "rerank" for hit in found["hits"] for step in hit["trace"]["steps"])
    assert "rerank" not in {stage["name"] for stage in found["stages"]}


def test_the_pipeline_of_this_system_turns_it_off() -> None:
    with indexed(GIT) as index:
        off = RetrievalPipeline({"git": index}, {"ai_rerank": False, FALLBACK: "word-overlap"})
        on = RetrievalPipeline({"git": index}, {"ai_rerank": True, "reranker_model": "word-overlap"})

        assert all("rerank_score" not in one for one in off.retrieve(QUESTION))
        assert all("rerank_score" not in one for one in off.process_query_batch([QUESTION])[0])
        assert all("rerank_score" not in one for one in off.search_multiple_indexes(QUESTION, ["git"]))
        assert all("rerank_score" in one for one in on.retrieve(QUESTION))


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (FLAGS.format(type="fts", rerank="false"), None),
        (FLAGS.format(type="hybrid", rerank="false"), None),
        (MAPS.format(rerank="false"), None),
        (FLAGS.format(type="hybrid", rerank="true"), "word-overlap"),
        (MAPS.format(rerank="true"), "word-overlap"),
    ],
)
def test_its_own_configuration_turns_it_off(text: str, model: str | None, tmp_path: Path) -> None:
    (tmp_path / "theirs.yaml").write_text(text)
    with Index(":memory:", config=tmp_path / "theirs.yaml") as index:  # its cross-encoder has no files here
        for source, passage in GIT.items():
            index.add(passage, source=source)
        found = index.search(QUESTION)

    assert found.hits
    assert (found.rerank.model if found.rerank is not None else None) == model


def test_several_indexes_are_joined_by_rank_where_reranking_is_off(tmp_path: Path) -> None:
    with indexed(GIT, where=tmp_path / "a") as first, indexed(GIT, where=tmp_path / "b") as second:
        found = search_multi({"a": first, "b": second}, QUESTION, SearchOptions(profile="localgpt", settings=OFF))

    assert found.rerank is None
    assert {hit.collection for hit in found.hits} == {"a", "b"}
