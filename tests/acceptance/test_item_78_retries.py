"""Checklist 78 and C18: what may pass is tried again after 1, 2 and 4 seconds; counted in attempts, after 1 and 2."""

from copy import copy

import pytest

from serving import Answered, Asked, embeddings, serving
from twofold.domain.errors import InvalidInputError, ModelError, ModelUnavailableError
from twofold.models.endpoint import Endpoint, open_endpoint
from twofold.models.http import Patience
from twofold.pipeline.retry import RetryPlan, delays, in_attempts, retried


class Busy:
    """Refuses the first calls, then answers; `error` is what it refuses with."""

    def __init__(self, refusals: int, error: Exception | None = None) -> None:
        self.calls = 0
        self._refusals = refusals
        self._error = error or ModelUnavailableError("busy")

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self._refusals:
            raise self._error
        return self.calls


def tried(call: Busy, plan: RetryPlan) -> list[float]:
    pauses: list[float] = []
    retried(call, plan, sleep=pauses.append)
    return pauses


def test_three_retries_are_up_to_four_calls_with_pauses_of_1_2_and_4() -> None:
    assert delays(retries=3, base=1.0, factor=2.0) == (1.0, 2.0, 4.0)
    call = Busy(refusals=3)

    assert tried(call, RetryPlan(retries=3, base=1.0, factor=2.0)) == [1.0, 2.0, 4.0]
    assert call.calls == 4


def test_three_attempts_pause_1_and_2() -> None:
    call = Busy(refusals=2)

    assert tried(call, in_attempts(3)) == [1.0, 2.0]
    assert call.calls == 3


@pytest.mark.parametrize(("plan", "calls"), [(RetryPlan(), 4), (in_attempts(3), 3), (in_attempts(1), 1)])
def test_when_all_is_used_up_the_error_is_raised_without_another_pause(plan: RetryPlan, calls: int) -> None:
    call, pauses = Busy(refusals=99), list[float]()
    with pytest.raises(ModelUnavailableError, match="busy"):
        retried(call, plan, sleep=pauses.append)

    assert call.calls == calls
    assert tuple(pauses) == plan.pauses()


def test_what_answers_at_once_is_asked_once() -> None:
    call = Busy(refusals=0)

    assert tried(call, RetryPlan()) == []
    assert call.calls == 1


def test_what_will_not_pass_is_not_tried_again() -> None:
    call = Busy(refusals=1, error=ModelError("no such model"))
    with pytest.raises(ModelError, match="no such model"):
        retried(call, RetryPlan(), sleep=lambda _: None)

    assert call.calls == 1


def test_tries_already_made_are_not_multiplied() -> None:
    call = Busy(refusals=99, error=ModelUnavailableError("busy", attempts=4))
    with pytest.raises(ModelUnavailableError):
        retried(call, RetryPlan(), sleep=lambda _: None)
    assert call.calls == 1

    call = Busy(refusals=99, error=ModelUnavailableError("busy", attempts=2))
    pauses: list[float] = []
    with pytest.raises(ModelUnavailableError):
        retried(call, RetryPlan(), sleep=pauses.append)
    assert call.calls == 2
    assert pauses == [2.0]


@pytest.mark.parametrize(
    ("attempts", "waits"),
    [pytest.param(4, [1.0, 2.0, 4.0], id="retries=3"), pytest.param(3, [1.0, 2.0], id="attempts=3")],
)
def test_a_server_is_asked_again_in_the_same_rhythm(attempts: int, waits: list[float]) -> None:
    asked: list[Asked] = []
    slept: list[float] = []

    def busy(one: Asked) -> Answered:
        asked.append(one)
        return embeddings(one) if len(asked) == attempts else Answered(status=503)

    with serving(busy) as address:
        patience = Patience(timeout=5.0, attempts=attempts, first_pause=1.0, sleep=slept.append)
        embedder = open_endpoint(Endpoint(f"{address}/v1", "hashing", dimensions=64), patience)
        assert embedder.embed_queries(["undo"]).shape == (1, 64)

    assert slept == waits


def test_a_server_that_stays_busy_says_how_often_it_was_asked_and_one_that_refuses_will_not_pass() -> None:
    patience = Patience(timeout=5.0, attempts=3, sleep=lambda _: None)
    calls: list[Asked] = []

    def answer(asked: Asked) -> Answered:
        calls.append(asked)
        return Answered(status=503 if asked.path.startswith("/busy") else 403)

    with serving(answer) as address:
        busy = open_endpoint(Endpoint(f"{address}/busy", "m", dimensions=8), patience)
        with pytest.raises(ModelUnavailableError) as caught:
            retried(lambda: busy.embed_queries(["a"]), in_attempts(3), sleep=lambda _: None)
        assert caught.value.attempts == len(calls) == 3

        shut = open_endpoint(Endpoint(f"{address}/shut", "m", dimensions=8), patience)
        with pytest.raises(ModelError) as refused:
            shut.embed_queries(["a"])
        assert not isinstance(refused.value, ModelUnavailableError)


def test_the_count_of_attempts_survives_a_copy_as_it_crosses_processes() -> None:
    error = copy(ModelUnavailableError("busy", "Wait.", attempts=3))

    assert (error.message, error.remedy, error.attempts) == ("busy", "Wait.", 3)


@pytest.mark.parametrize(
    "change",
    [{"retries": -1}, {"retries": 11}, {"base": -1.0}, {"factor": 0.5}, {"base": float("nan")}, {"base": 100.0}],
)
def test_a_plan_that_makes_no_sense_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        RetryPlan(**change)  # type: ignore[arg-type]


def test_no_attempt_at_all_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        in_attempts(0)
