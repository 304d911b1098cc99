"""Checklist 71: batches of 32, 16 and 1; 30, 60, 30 and 120 s for the stages; 100 results for a query."""

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from twofold.domain.errors import InvalidInputError, ModelError, StageTimeoutError
from twofold.models.endpoint import BATCH
from twofold.pipeline.limits import (
    MOST_ABANDONED,
    RESULTS_PER_QUERY,
    BatchSizes,
    Deadline,
    StageLimits,
    TimedCalls,
    batches,
)

MOMENT = 0.01


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """What a call hangs on until the test has ended."""
    event = threading.Event()
    yield event
    event.set()


def await_helpers() -> None:
    """Wait until what was given up has ended."""
    for thread in threading.enumerate():
        if thread.name.startswith("twofold "):
            thread.join(10.0)


def test_the_defaults_are_those_of_the_checklist() -> None:
    assert StageLimits() == StageLimits(embed=30.0, retrieve=60.0, rerank=30.0, synthesise=120.0)
    assert BatchSizes() == BatchSizes(embed=32, rerank=16, synthesise=1)
    assert RESULTS_PER_QUERY == 100
    assert BatchSizes().embed == BATCH


def test_seventy_texts_are_three_batches_of_32() -> None:
    assert [len(batch) for batch in batches(range(70), BatchSizes().embed)] == [32, 32, 6]
    assert [one for batch in batches(range(70), 16) for one in batch] == list(range(70))
    assert list(batches([], 16)) == []


def test_a_call_that_takes_too_long_is_given_up_and_ends_by_itself(stuck: threading.Event) -> None:
    calls, ended = TimedCalls(), threading.Event()

    def hang() -> None:
        stuck.wait()
        ended.set()

    with pytest.raises(StageTimeoutError, match=r"rerank took more than 0\.01 s"):
        calls.within("rerank", MOMENT, hang)
    assert calls.abandoned == 1

    stuck.set()
    await_helpers()
    assert ended.is_set()
    assert calls.abandoned == 0


def test_a_stage_that_took_too_long_is_a_failure_of_the_model(stuck: threading.Event) -> None:
    with pytest.raises(ModelError):
        TimedCalls().within("embed", MOMENT, stuck.wait)


def test_when_too_many_hang_a_call_is_refused_at_once_and_again_made_when_they_have_ended(
    stuck: threading.Event,
) -> None:
    calls, made = TimedCalls(), list[int]()
    for _ in range(MOST_ABANDONED):
        with pytest.raises(StageTimeoutError, match="took more"):
            calls.within("embed", MOMENT, stuck.wait)
    before = threading.active_count()
    with pytest.raises(StageTimeoutError, match="was not tried"):
        calls.within("embed", 30.0, lambda: made.append(1))

    assert made == []
    assert threading.active_count() == before
    stuck.set()
    await_helpers()
    assert calls.within("embed", 30.0, lambda: 7) == 7


def test_a_call_in_time_gives_its_answer_or_its_own_error() -> None:
    calls = TimedCalls()

    def fail(error: Exception) -> None:
        raise error

    assert calls.within("embed", 30.0, lambda: 7) == 7
    for error in (ModelError("gone"), TimeoutError("its own"), ValueError("wrong")):
        with pytest.raises(type(error)) as caught:
            calls.within("embed", 30.0, partial(fail, error))
        assert caught.value is error
    assert calls.abandoned == 0


def test_no_limit_calls_in_the_same_thread() -> None:
    assert TimedCalls().within("embed", 0.0, threading.get_ident) == threading.get_ident()
    assert TimedCalls().within("embed", 30.0, threading.get_ident) != threading.get_ident()


def test_a_deadline_is_passed_after_its_seconds_and_never_without() -> None:
    now = 100.0
    deadline, endless = (Deadline("retrieve", seconds, lambda: now) for seconds in (60.0, 0.0))
    now = 160.0
    deadline.check()
    now = 160.5
    with pytest.raises(StageTimeoutError, match="retrieve took more than 60 s"):
        deadline.check()
    endless.check()


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_limits_that_make_no_sense_are_refused(seconds: float) -> None:
    with pytest.raises(InvalidInputError):
        StageLimits(rerank=seconds)
    with pytest.raises(InvalidInputError):
        BatchSizes(rerank=0)
