"""Checklist 76: a failed embedder is dropped, opened anew and probed with `["test"]`; else words alone are searched."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from twofold import Index
from twofold.domain.errors import MissingExtraError, ModelError, ModelUnavailableError
from twofold.domain.ports import Embedder
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.lazy import REST_SECONDS, RecoveringEmbedder


class Breaking(HashingEmbedder):
    """Embeds so many questions, then fails for good; it keeps what it was asked."""

    def __init__(self, good: int, error: ModelError | None = None, dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.asked: list[tuple[str, ...]] = []
        self.closed = 0
        self._good = good
        self._error = error or ModelError("the model broke")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        if len(self.asked) > self._good:
            raise self._error
        return super().embed_queries(texts)

    def close(self) -> None:
        self.closed += 1


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def opener_of(*instances: Breaking) -> Callable[[], Embedder]:
    """Open these, one after another; afterwards there is none to be had."""
    left = iter(instances)

    def opener() -> Embedder:
        for one in left:
            return one
        raise ModelError("there is none to be had")

    return opener


def test_a_model_that_fails_is_dropped_opened_anew_probed_and_asked_again() -> None:
    broken, fresh = Breaking(1), Breaking(99)
    embedder = RecoveringEmbedder(broken, opener_of(fresh))
    embedder.embed_queries(["first"])
    vectors = embedder.embed_queries(["second"])

    assert np.array_equal(vectors, HashingEmbedder(64).embed_queries(["second"]))
    assert fresh.asked == [("test",), ("second",)]
    assert (broken.closed, fresh.closed) == (1, 0)


def test_an_instance_that_fails_its_probe_is_closed_and_the_error_raised() -> None:
    broken, stillborn = Breaking(0), Breaking(0, ModelError("broken as well"))
    embedder = RecoveringEmbedder(broken, opener_of(stillborn))
    with pytest.raises(ModelError, match="broken as well"):
        embedder.embed_queries(["question"])

    assert stillborn.asked == [("test",)]
    assert (stillborn.closed, broken.closed) == (1, 0)


def test_another_model_than_the_one_before_is_not_taken() -> None:
    other = Breaking(99, dimensions=32)
    embedder = RecoveringEmbedder(Breaking(0), opener_of(other))
    with pytest.raises(ModelError, match="another model"):
        embedder.embed_queries(["question"])

    assert other.closed == 1


def test_after_a_recovery_that_failed_none_is_tried_for_a_while() -> None:
    clock, fresh = Clock(), Breaking(99)
    embedder = RecoveringEmbedder(Breaking(0), opener_of(Breaking(0), fresh), clock=clock)
    for _ in range(3):
        with pytest.raises(ModelError):
            embedder.embed_queries(["question"])
    assert fresh.asked == []

    clock.now += REST_SECONDS
    assert embedder.embed_queries(["question"]).shape == (1, 64)


@pytest.mark.parametrize("error", [ModelUnavailableError("the server is gone"), MissingExtraError("absent")])
def test_what_another_instance_does_not_mend_is_raised_at_once(error: ModelError) -> None:
    fresh = Breaking(99)
    with pytest.raises(type(error)) as caught:
        RecoveringEmbedder(Breaking(0, error), opener_of(fresh)).embed_queries(["question"])

    assert caught.value is error
    assert fresh.asked == []


def test_a_closed_embedder_opens_nothing() -> None:
    fresh = Breaking(99)
    embedder = RecoveringEmbedder(Breaking(0), opener_of(fresh))
    embedder.close()
    with pytest.raises(ModelError):
        embedder.embed_queries(["question"])

    assert fresh.asked == []


def asked_of(embedder: Embedder) -> Index:
    index = Index(":memory:", embedder=embedder)
    index.add("undo the last commit with reset", source="reset.txt")
    index.add("a recipe for apple pie", source="pie.txt")
    return index


def test_a_search_goes_on_with_both_arms_after_a_recovery() -> None:
    embedder = RecoveringEmbedder(Breaking(0), opener_of(Breaking(99)))
    result = asked_of(embedder).search("undo commit")

    assert result.mode == "hybrid"
    assert result.warnings == ()
    assert result.hits[0].source == "reset.txt"


def test_where_there_is_no_recovery_words_alone_are_searched_and_the_answer_says_so() -> None:
    embedder = RecoveringEmbedder(Breaking(0), opener_of())
    result = asked_of(embedder).search("undo commit")

    assert result.mode == "bm25"
    assert [hit.source for hit in result.hits] == ["reset.txt"]
    (note,) = map(str, result.warnings)
    assert note.startswith("vector unavailable: ")
