"""The memory of question vectors: the model's own vectors, copies, and threads."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.types import Vectors
from twofold.models.embedders.caching import CachingEmbedder
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = st.lists(
    st.sampled_from(["", " ", "a", "A", "undo", "undo ", "\ud800", "e\u0301", "\u00e9", "x" * 5_000]), max_size=8
)


@given(st.lists(TEXTS, max_size=6), st.integers(1, 5))
def test_it_gives_what_the_model_gives(calls: list[list[str]], size: int) -> None:
    model = HashingEmbedder(16)
    embedder = CachingEmbedder(model, size)

    assert embedder.identity == model.identity
    for texts in calls:
        got = embedder.embed_queries(texts)
        assert got.dtype == np.float32
        assert np.array_equal(got, model.embed_queries(texts))
        assert np.array_equal(embedder.embed_passages(texts), model.embed_passages(texts))
        assert embedder.count_tokens(texts) == model.count_tokens(texts)


def test_what_is_given_out_may_be_written_to() -> None:
    embedder = CachingEmbedder(HashingEmbedder(16))
    first = embedder.embed_queries(["undo"])
    expected = first.copy()
    first[:] = 0.0
    embedder.embed_queries(["undo"])[:] = 0.0

    assert np.array_equal(embedder.embed_queries(["undo"]), expected)


def test_many_threads_get_their_own_vectors() -> None:
    model = HashingEmbedder(16)
    embedder = CachingEmbedder(model, 8)
    texts = [f"question {number}" for number in range(24)]

    def work(turn: int) -> None:
        for text in texts[turn:] + texts[:turn]:
            assert np.array_equal(embedder.embed_queries([text]), model.embed_queries([text]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))


class Failing(HashingEmbedder):
    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if "bad" in texts:
            raise ModelError("broken")
        return super().embed_queries(texts)


def test_a_failure_is_raised_and_leaves_nothing_behind() -> None:
    embedder = CachingEmbedder(Failing(16))
    embedder.embed_queries(["good"])
    for _ in range(2):
        with pytest.raises(ModelError, match="broken"):
            embedder.embed_queries(["good", "bad"])

    assert embedder.embed_queries(["good"]).shape == (1, 16)


def test_closing_forgets_and_closes_the_model() -> None:
    class Closing(HashingEmbedder):
        closed = 0

        def close(self) -> None:
            self.closed += 1

        def embed_queries(self, texts: Sequence[str]) -> Vectors:
            if self.closed:
                raise ModelError("closed")
            return super().embed_queries(texts)

    model = Closing(16)
    embedder = CachingEmbedder(model)
    embedder.embed_queries(["undo"])
    embedder.close()

    assert model.closed == 1
    with pytest.raises(ModelError, match="closed"):
        embedder.embed_queries(["undo"])


def test_room_for_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        CachingEmbedder(HashingEmbedder(16), 0)
