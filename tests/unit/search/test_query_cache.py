"""The query cache finds what is more than 0.98 alike, for 300 s, of whom it may; 500 vectors are kept."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from support.queries import key_of
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Vector, Vectors
from twofold.models.embedders.caching import MAX_QUESTIONS, CachingEmbedder
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.cache import ResultCache
from twofold.search.plan import CachePlan

ASKED, NEAR = "how do I undo the last commit", "How to undo the last commit?"


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def at_cosine(cosine: float, dimensions: int = 384) -> tuple[Vector, Vector]:
    """Make two float32 unit vectors with this cosine, but for rounding."""
    first, second = np.linalg.qr(np.random.default_rng(5).normal(size=(dimensions, 2)))[0].T
    other = cosine * first + math.sqrt(1.0 - cosine**2) * second
    return first.astype(np.float32), other.astype(np.float32)


def answered_at(cosine: float) -> str | None:
    first, second = at_cosine(cosine)
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of(ASKED), first, "git reset")
    found = memory.get_similar(key_of(NEAR), second)
    return None if found is None else found.value


def test_exactly_0_98_is_a_miss() -> None:
    assert answered_at(0.98) is None
    assert answered_at(0.979) is None


def test_0_981_is_a_hit() -> None:
    assert answered_at(0.981) == "git reset"


def test_exactly_0_98_is_a_miss_in_two_dimensions_as_well() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of(ASKED), np.array([1, 0], np.float32), "git reset")

    assert memory.get_similar(key_of(NEAR), np.array([0.98, math.sqrt(1 - 0.98**2)], np.float32)) is None
    assert memory.get_similar(key_of(NEAR), np.array([0.981, math.sqrt(1 - 0.981**2)], np.float32)) is not None


def test_another_session_is_a_miss_under_session_scope() -> None:
    vector, _ = at_cosine(1.0)
    memory: ResultCache[str] = ResultCache(CachePlan(scope="session"))
    memory.put(key_of(ASKED, session="anna"), vector, "git reset")

    assert memory.get_similar(key_of(ASKED, session="ben"), vector) is None
    assert memory.get_similar(key_of(NEAR, session="ben"), vector) is None
    assert memory.get_similar(key_of(ASKED), vector) is None
    assert memory.get_similar(key_of(ASKED, session="anna"), vector) is not None
    assert memory.get_similar(key_of(NEAR, session="anna"), vector) is not None


def test_under_session_scope_who_asks_without_a_session_leaves_nothing() -> None:
    memory: ResultCache[str] = ResultCache(CachePlan(scope="session"))
    memory.put(key_of(ASKED), None, "git reset")

    assert memory.get_similar(key_of(ASKED)) is None
    assert memory.counts().size == 0


def test_another_session_is_a_hit_under_shared_scope() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of(ASKED, session="anna"), None, "git reset")

    assert memory.get_similar(key_of(ASKED, session="ben")) is not None


@pytest.mark.parametrize("question", [ASKED, NEAR])
@pytest.mark.parametrize(("seconds", "found"), [(299.0, True), (300.0, False), (301.0, False)])
def test_an_answer_lives_for_300_seconds(question: str, seconds: float, *, found: bool) -> None:
    clock = Clock()
    vector, _ = at_cosine(1.0)
    memory: ResultCache[str] = ResultCache(clock=clock)
    memory.put(key_of(ASKED), vector, "git reset")
    clock.now += seconds

    assert (memory.get_similar(key_of(question), vector) is not None) is found


def test_a_hundred_answers_are_kept_and_never_more_than_a_thousand() -> None:
    memory: ResultCache[int] = ResultCache()
    for number in range(101):
        memory.put(key_of(f"question {number}"), None, number)

    assert memory.counts().size == 100
    assert memory.get_similar(key_of("question 0")) is None
    assert memory.get_similar(key_of("question 1")) is not None
    with pytest.raises(InvalidInputError):
        CachePlan(size=1_001)


class Counted(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[tuple[str, ...]] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        return super().embed_queries(texts)


def test_the_vectors_of_500_questions_are_kept() -> None:
    model = Counted()
    embedder = CachingEmbedder(model)
    embedder.embed_queries([f"question {number}" for number in range(MAX_QUESTIONS)])
    embedder.embed_queries(["question 0"])
    embedder.embed_queries(["one more"])
    again = embedder.embed_queries(["question 0", "question 2"])

    assert len(model.asked) == 2
    assert np.array_equal(again, HashingEmbedder(16).embed_queries(["question 0", "question 2"]))
    embedder.embed_queries(["question 1"])
    assert model.asked[-1] == ("question 1",)
