"""Checklist 79: without a network everything but fetching works, by the same formula; what is missing is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.indexes import GIT, indexed, sources
from twofold import Index
from twofold.config.load import load_settings
from twofold.domain.errors import InvalidInputError, ModelError


def test_offline_is_a_setting_of_the_environment() -> None:
    assert load_settings().offline


def test_the_built_in_parts_index_search_and_rerank_without_any_file() -> None:
    with indexed(GIT, {"embedder": "hashing", "rerank.model": "word-overlap"}) as index:
        result = index.search("how many parents has a merge commit")

    assert index.settings.offline
    assert (result.mode, result.degraded) == ("hybrid", False)
    assert result.hits[0].source == "merge.md"
    assert result.rerank is not None
    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]


def test_a_model_that_is_not_here_is_not_fetched_and_how_to_get_it_is_said() -> None:
    with Index(":memory:") as index, pytest.raises(ModelError) as refused:
        index.add("some words", source="a")

    assert "switched off" in refused.value.message
    assert refused.value.hint


def test_a_distant_server_is_refused_and_one_on_this_machine_is_not() -> None:
    with pytest.raises(ModelError, match="switched off"):
        indexed(GIT).search("merge", rerank="https://example.com/v1#m")

    result = indexed(GIT).search("merge", rerank="http://127.0.0.1:9/v1#m", settings={"retries": {"count": 0}})
    assert sources(result)[0] == "merge.md"
    assert str(result.warnings[0]).startswith("rerank unavailable: ")


def test_documents_are_indexed_and_found_by_words_where_no_model_can_be_had(tmp_path: Path) -> None:
    (tmp_path / "reset.md").write_text("Undo the last commit with git reset.\n")
    (tmp_path / "pie.md").write_text("A recipe for apple pie.\n")
    refused = twofold("sync", tmp_path, "-i", "words", "--embedder", "bge-small-en-v1.5")
    synced = twofold("sync", tmp_path, "-i", "words")
    found = twofold("search", "undo a commit", "-i", "words", "--json")
    result = json.loads(found.stdout)

    assert refused.returncode == 8
    assert "--embedder none" in refused.stderr
    assert "BM25 alone" in synced.stderr
    assert synced.returncode == found.returncode == 0, synced.stderr + found.stderr
    assert [Path(hit["source"]).name for hit in result["hits"]] == ["reset.md"]
    assert result["mode"] == "bm25"


def test_an_index_of_words_is_reranked_and_answers_and_says_why_it_has_no_meaning() -> None:
    with Index(":memory:", overrides={"embedder": "none", "rerank.model": "word-overlap"}) as index:
        for source, text in GIT.items():
            index.add(text, source=source)
        result = index.search("how many parents has a merge commit")
        answer = index.ask("How many parents has a merge commit?")
        with pytest.raises(InvalidInputError, match="There is no embedder") as refused:
            index.search("merge", mode="vector")

    assert (result.mode, result.degraded, result.hits[0].source) == ("bm25", False, "merge.md")
    assert result.rerank is not None
    assert "two parents" in answer.text
    assert "reindex --embedder" in refused.value.hint


def test_an_index_of_words_gets_vectors_when_a_model_is_there(tmp_path: Path) -> None:
    with Index(tmp_path / "n", overrides={"embedder": "none"}) as index:
        index.add("Undo the last commit with git reset.", source="a.md")
    with Index(tmp_path / "n", overrides={"embedder": "hashing"}) as index:
        index.reindex()
        assert index.search("undo").mode == "hybrid"


def twofold(*words: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "twofold", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
