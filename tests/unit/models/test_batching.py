"""Many callers, one model: everyone gets their own rows, and one failure reaches those whom it concerns."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ModelError
from twofold.domain.types import Vectors
from twofold.models.embedders.batching import DynamicBatcher, length_sorted


def lengths_of(texts: Sequence[str]) -> Vectors:
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(len(texts), 2)


def test_callers_who_wait_are_served_together_and_apart_from_the_first() -> None:
    started, others_wait = threading.Event(), threading.Event()
    runs: list[int] = []

    def run(texts: Sequence[str]) -> Vectors:
        runs.append(len(texts))
        started.set()
        assert others_wait.wait(30)
        return lengths_of(texts)

    gathering = DynamicBatcher(run)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(gathering, ["a"])
        assert started.wait(30)
        others = [pool.submit(gathering, ["b" * n] * n) for n in (2, 3, 4)]
        while len(gathering._waiting) < 3:
            pass
        others_wait.set()

        assert first.result().tolist() == [[1, 1]]
        assert [other.result().tolist() for other in others] == [[[n, 1]] * n for n in (2, 3, 4)]
    assert runs == [1, 9]


def test_a_failure_reaches_the_caller_and_leaves_the_next_one_alone() -> None:
    def run(texts: Sequence[str]) -> Vectors:
        if "bad" in texts:
            raise ModelError("the model failed")
        return lengths_of(texts)

    gathering = DynamicBatcher(run)
    with pytest.raises(ModelError, match="the model failed"):
        gathering(["bad"])

    assert gathering(["good"]).tolist() == [[4, 1]]


def test_no_texts_are_no_rows() -> None:
    assert DynamicBatcher(lengths_of)([]).shape == (0, 2)


@given(st.lists(st.integers(1, 600)), st.integers(1, 20), st.integers(1, 3000))
def test_groups_hold_everyone_once_in_order_of_length_within_bounds(lengths: list[int], most: int, budget: int) -> None:
    groups = list(length_sorted(lengths, most, budget))
    flat = [place for group in groups for place in group]

    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[place] for place in flat] == sorted(lengths)
    for group in groups:
        assert 1 <= len(group) <= most
        assert len(group) == 1 or max(lengths[place] for place in group) * len(group) <= budget
