"""Checklist 11: what shares no word with a question is not found by words; best first; nothing is no error."""

import pytest

from support.indexes import GIT, indexed, sources
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder


def test_what_shares_no_word_is_not_among_the_results() -> None:
    result = indexed(GIT).search("commit", mode="bm25", k=99)

    assert set(sources(result)) == {"reset.md", "revert.md", "merge.md"}
    assert all(hit.score > 0.0 for hit in result.hits)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


@pytest.mark.parametrize("mode", ["bm25", "vector", "hybrid"])
def test_an_index_with_nothing_in_it_gives_an_empty_list(mode: str) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        assert index.search("commit", mode=mode).hits == ()

        index.add("commit", source="a")
        index.delete("a")
        assert index.search("commit", mode=mode).hits == ()
        assert index.search("commit", mode=mode).warnings == ()


def test_a_word_that_occurs_nowhere_gives_an_empty_list() -> None:
    assert indexed(GIT).search("zyzzyva", mode="bm25").hits == ()
