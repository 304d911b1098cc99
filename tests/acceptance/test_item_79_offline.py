"""Checklist 79: without a network everything but fetching works, by the same formula; what is missing is named."""

import pytest

from indexed import GIT, indexed, sources
from twofold import Index
from twofold.domain.errors import ModelError
from twofold.settings import load_settings


def test_offline_is_a_setting_of_the_environment() -> None:
    assert load_settings().offline


def test_the_built_in_parts_index_search_and_rerank_without_any_file() -> None:
    with indexed(GIT, {"embedder": "hashing", "rerank.model": "word-overlap"}) as index:
        result = index.search("how many parents has a merge commit")

    assert index.settings.offline
    assert (result.mode, result.degraded) == ("hybrid", ())
    assert result.hits[0].source == "merge.md"
    assert result.rerank is not None
    assert list(result.trace.evaluate()) == [hit.score for hit in result.hits]


def test_a_model_that_is_not_here_is_not_fetched_and_how_to_get_it_is_said() -> None:
    with Index(":memory:") as index, pytest.raises(ModelError) as refused:
        index.add("some words", source="a")

    assert "switched off" in refused.value.message
    assert refused.value.remedy


def test_a_distant_server_is_refused_and_one_on_this_machine_is_not() -> None:
    with pytest.raises(ModelError, match="switched off"):
        indexed(GIT).search("merge", rerank="https://example.com/v1#m")

    result = indexed(GIT).search("merge", rerank="http://127.0.0.1:9/v1#m", settings={"patience.retries": 0})
    assert sources(result)[0] == "merge.md"
    assert result.degraded[0].startswith("rerank unavailable: ")
