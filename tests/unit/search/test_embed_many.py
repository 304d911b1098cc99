"""Many questions are embedded at once, each once."""

from collections.abc import Sequence

import numpy as np

from twofold.domain.types import Vectors
from twofold.models.embedders.caching import CachingEmbedder
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.query import embed_together


class Counted(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[tuple[str, ...]] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        return super().embed_queries(texts)


def test_the_model_is_called_once_for_many_questions() -> None:
    model = Counted()
    questions = [f"question {number}" for number in range(70)]
    vectors = embed_together(model, questions)

    assert model.asked == [tuple(questions)]
    assert np.array_equal(
        np.stack([one for one in vectors if one is not None]), HashingEmbedder(16).embed_queries(questions)
    )


def test_questions_asked_twice_are_embedded_once_and_those_without_words_not_at_all() -> None:
    model = Counted()
    undo, nothing, redo, again = embed_together(model, ["undo", " ", "redo", "undo"])

    assert model.asked == [("undo", "redo")]
    assert nothing is None
    assert undo is not None
    assert redo is not None
    assert again is not None
    assert np.array_equal(undo, again)
    assert not np.array_equal(undo, redo)


def test_without_words_the_model_is_not_called() -> None:
    model = Counted()

    assert embed_together(model, ["", " "]) == (None, None)
    assert embed_together(model, []) == ()
    assert model.asked == []


def test_behind_a_memory_only_new_questions_reach_the_model() -> None:
    model = Counted()
    embedder = CachingEmbedder(model)
    embed_together(embedder, ["undo", "redo"])
    embed_together(embedder, ["redo", "reset", "undo"])

    assert model.asked == [("undo", "redo"), ("reset",)]
