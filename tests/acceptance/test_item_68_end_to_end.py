"""Checklist 68, 69 and 70: answers remembered in a search, many questions at once, and models opened when needed."""

from collections.abc import Sequence

import pytest

from support.indexes import GIT, Counted, Mute, indexed, sources
from twofold import Index
from twofold.config.load import grouped
from twofold.domain.errors import ModelError
from twofold.domain.types import Vectors
from twofold.search.engine import SearchOptions

CACHE = {"cache": {"size": 100, "ttl_seconds": 300.0, "semantic_threshold": 0.98}}


@pytest.fixture
def index() -> Index:
    return indexed(GIT, CACHE)


def test_item_68_the_same_question_is_answered_from_memory_and_says_so(index: Index) -> None:
    first, again = index.search("undo a commit"), index.search("undo a commit")

    assert not first.cache.hit
    assert (again.cache.hit, again.cache.kind, again.cache.cosine) == (True, "exact", None)
    assert again.hits == first.hits
    assert index.metrics().cache_hit_rate == 0.5
    assert index.metrics().queries == 2


def test_item_68_nothing_is_remembered_unless_it_is_asked_for() -> None:
    index = indexed(GIT)
    index.search("undo")

    assert not index.search("undo").cache.hit


def test_item_68_a_question_nearly_the_same_is_answered_from_memory(index: Index) -> None:
    index.search("undo a commit")
    near = index.search("Undo a commit?")

    assert near.cache.hit
    assert near.query == "Undo a commit?"


@pytest.mark.parametrize(
    "other",
    [
        SearchOptions(k=3), SearchOptions(mode="bm25"), SearchOptions(profile="recall"),
        SearchOptions(settings={"fusion.method": "rrf"}),
        SearchOptions(settings={"search.context_window": 1}), SearchOptions(rerank="word-overlap"),
    ],
)  # fmt: skip
def test_item_68_what_is_asked_otherwise_is_another_question(index: Index, other: SearchOptions) -> None:
    index.search("undo a commit")
    found = index.search(
        "undo a commit", k=other.k, mode=other.mode, profile=other.profile, settings=other.settings, rerank=other.rerank
    )

    assert not found.cache.hit


def test_item_68_a_change_of_the_collection_forgets_what_was_found(index: Index) -> None:
    index.search("undo a commit")
    index.add("Undo a commit by undoing the commit.", source="new.md")
    found = index.search("undo a commit")

    assert not found.cache.hit
    assert "new.md" in sources(found)


def test_item_68_under_session_scope_only_who_asked_is_answered() -> None:
    index = indexed(GIT, grouped({**CACHE, "cache.scope": "session"}))
    index.search("undo", session="ann")

    assert index.search("undo", session="ann").cache.hit
    assert not index.search("undo", session="bob").cache.hit
    assert not index.search("undo").cache.hit


class Recovering(Mute):
    """Fails at the first question, then works."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = 1

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.failures:
            self.failures -= 1
            raise ModelError("not yet.", "Wait.")
        return self.embed_passages(texts)


def test_item_68_what_was_degraded_is_not_remembered() -> None:
    index = indexed(GIT, CACHE, embedder=Recovering())

    assert index.search("undo").degraded
    again = index.search("undo")
    assert (again.cache.hit, again.degraded, again.mode) == (False, False, "hybrid")
    assert index.search("undo").cache.hit


def test_item_69_many_questions_are_embedded_at_once_and_ranked_each_for_itself() -> None:
    embedder = Counted()
    index = indexed(GIT, embedder=embedder)
    questions = ["undo a commit", "merge branches", "put aside"]
    alone = [index.search(question, rerank="word-overlap") for question in questions]
    embedder.asked.clear()
    together = index.search_many(questions, SearchOptions(rerank="word-overlap"))

    assert embedder.asked == [tuple(questions)]
    assert [one.hits for one in together] == [one.hits for one in alone]
    assert [one.query for one in together] == questions
    assert index.search_many([]) == []


def test_item_70_a_search_by_words_alone_opens_no_model() -> None:
    with Index(":memory:") as index:
        assert index.metrics().loaded == ()
        assert index.search("anything", mode="bm25").hits == ()
        assert index.metrics().loaded == ()


def test_item_72_the_figures_name_the_models_in_memory() -> None:
    index = indexed(GIT)
    index.search("undo", rerank="word-overlap")
    metrics = index.metrics()

    assert metrics.loaded == ("hashing", "word-overlap")
    assert metrics.memory.resident_mb > 5.0
    assert metrics.memory.warning == ""
