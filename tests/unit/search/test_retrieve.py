"""Looking with several wordings: the best score in each retriever, as asking for every score one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.factories import entries, fingerprint, query, vector
from twofold.domain.errors import StageTimeoutError
from twofold.domain.ports import Scope
from twofold.domain.types import EMPTY_RANKING
from twofold.ranking.fusion import union
from twofold.search.request import QueryVariant
from twofold.search.retrieve import RetrievalScope, find_candidates
from twofold.search.state import Stopwatch
from twofold.search.timeouts import Deadline
from twofold.stores.memory import MemoryStore

WORDS = ("git", "commit", "merge", "branch", "stash", "tag")
WORDING = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    made = MemoryStore()
    made.ensure_fingerprint(fingerprint())
    made.upsert(entries(" ".join(WORDS[(at * step) % 6] for step in range(1, 2 + at % 5)) for at in range(24)))
    return made


@given(
    queries=st.lists(WORDING, min_size=1, max_size=4, unique=True),
    halves=st.lists(st.sampled_from(["both", "words", "meaning"]), min_size=4, max_size=4),
    depth=st.integers(1, 30),
)
def test_every_score_is_the_best_over_the_wordings(
    store: MemoryStore, queries: list[str], halves: list[str], depth: int
) -> None:
    asked = [
        QueryVariant(None if half == "meaning" else query(one), None if half == "words" else vector(one))
        for one, half in zip(queries, halves, strict=False)
    ]
    with store.view() as view:
        found = find_candidates(view, asked, RetrievalScope(Scope(), depth), Stopwatch())
        by_words = [view.score_terms(one.terms, found.keys) for one in asked if one.terms is not None]
        by_meaning = [view.score_vector(one.vector, found.keys) for one in asked if one.vector is not None]
        listed = [view.search_bm25(one.terms, depth, Scope()) for one in asked if one.terms is not None]

    nothing = np.zeros(len(found.keys))
    assert np.array_equal(found.bm25_scores, np.max(by_words, axis=0) if by_words else nothing)
    assert np.array_equal(found.vector_scores, np.max(by_meaning, axis=0) if by_meaning else nothing)
    assert len(found.bm25) <= depth
    best: dict[int, float] = {}
    for ranking in listed:
        for hit in ranking:
            best[hit.key] = max(best.get(hit.key, 0.0), hit.score)
    expected = sorted(best.items(), key=lambda one: (-one[1], one[0]))[:depth]
    assert [(hit.key, hit.score) for hit in found.bm25] == expected
    assert set(found.keys.tolist()) == {*found.bm25.keys.tolist(), *found.vector.keys.tolist()}


def test_nothing_asked_is_nothing_found(store: MemoryStore) -> None:
    with store.view() as view:
        found = find_candidates(view, [QueryVariant(None, None)], RetrievalScope(Scope(), 10), Stopwatch())

    assert len(found.keys) == 0
    assert found.bm25 is found.vector is EMPTY_RANKING


def test_where_the_time_is_up_no_further_arm_is_asked(store: MemoryStore) -> None:
    asked: list[float] = []

    def clock() -> float:
        asked.append(0.0)
        return 2.0 if len(asked) > 2 else 0.0

    watch = Stopwatch()
    with store.view() as view, pytest.raises(StageTimeoutError):
        find_candidates(
            view,
            [QueryVariant(query("git"), vector("git"))],
            RetrievalScope(Scope(), 10, Deadline("retrieval", 1.0, clock)),
            watch,
        )

    assert len(asked) == 3


@given(st.lists(st.integers(-9, 9), unique=True), st.lists(st.integers(-9, 9), unique=True))
def test_the_union_of_keys_rises_and_holds_each_once(first: list[int], second: list[int]) -> None:
    made = union((np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)))

    assert made.tolist() == sorted({*first, *second})
