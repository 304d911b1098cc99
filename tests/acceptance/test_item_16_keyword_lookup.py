"""Checklist 16: where one way of looking has nothing, the question's words are looked up by another."""

import pytest

from support.indexes import GIT, Mute, indexed, sources
from twofold import Index


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(GIT)


def test_where_no_word_is_known_meaning_answers(index: Index) -> None:
    result = index.search("committing")
    assert result.hits

    unknown = index.search("zyzzyva resets")
    assert unknown.hits[0].source == "reset.md"


def test_a_part_of_a_text_is_looked_up_without_any_statistics_of_words(index: Index) -> None:
    assert sources(index.search('"ack later"', mode="vector")) == []
    assert sources(index.search('"back later"', mode="vector")) == ["stash.md"]
    assert sources(index.search("+parents", mode="vector")) == ["merge.md"]


def test_where_the_model_is_gone_the_words_alone_answer() -> None:
    result = indexed(GIT, embedder=Mute()).search("what is a merge commit?")

    assert (result.mode, result.hits[0].source) == ("bm25", "merge.md")
    assert [stage.notes for stage in result.stages if stage.name == "parse"] == [("terms merg, commit",)]
