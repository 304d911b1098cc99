"""Limits of time: how long each stage of a search may take.

A call to a model cannot be stopped from outside. It is made in a thread of its own, and where it takes too long it is
left alone to end by itself; when too many have been left so, further calls are refused at once until one has ended.
What reads a store is never left alone, since it works on a view that is about to be closed: between its steps it asks a
`Deadline`.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from typing import TypeVar

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, StageTimeoutError
from twofold.domain.retry import ONCE, RetryPlan, retried

Answer = TypeVar("Answer")
MAX_ABANDONED = 8


@dataclass(frozen=True, slots=True)
class StageLimits:
    """How many seconds each stage may take, 0 for no limit."""

    embed: float = 30.0
    retrieve: float = 60.0
    rerank: float = 30.0
    synthesise: float = 120.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for seconds in (self.embed, self.retrieve, self.rerank, self.synthesise):
            if not 0.0 <= seconds <= threading.TIMEOUT_MAX:
                raise InvalidInputError(f"A stage cannot be given {seconds} s.", "Use 0 for no limit.")


class Deadline:
    """A moment by which a stage must have ended, asked between its steps. 0 seconds: no limit."""

    def __init__(self, stage: str, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._stage = stage
        self._seconds = seconds
        self._clock = clock
        self._started = clock()

    def check(self) -> None:
        """Raise StageTimeoutError when the moment has passed."""
        if self._seconds and self._clock() - self._started > self._seconds:
            raise _too_long(self._stage, self._seconds)


class TimedCalls:
    """Makes calls that may be given up. One object for all searches of an index; safe to use from several threads.

    No call is begun while MAX_ABANDONED of those before have been given up and not ended, so threads cannot pile up.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._abandoned = 0

    @property
    def abandoned(self) -> int:
        """How many calls were given up and have not ended yet."""
        with self._turn:
            return self._abandoned

    def within(self, stage: str, seconds: float, call: Callable[[], Answer]) -> Answer:
        """Return what `call` gives, or raise what it raises, within `seconds`; 0 calls it here and waits without limit.

        Raises StageTimeoutError when it takes longer, and at once while too many calls are abandoned.
        """
        if not seconds:
            return call()
        if self.abandoned >= MAX_ABANDONED:
            raise StageTimeoutError(
                f"{stage} was not tried: {MAX_ABANDONED} calls that took too long have not ended.",
                "Wait, or look at what keeps the model busy.",
            )
        outcome: Future[Answer] = Future()
        threading.Thread(target=_settle, args=(outcome, call), name=f"twofold {stage}", daemon=True).start()
        try:
            return outcome.result(seconds)
        except TimeoutError:
            if not self._give_up(outcome):
                return outcome.result()
            raise _too_long(stage, seconds) from None

    def _give_up(self, outcome: "Future[Answer]") -> bool:
        """Count a call as abandoned until it ends; say false where it has ended after all."""
        with self._turn:
            if outcome.done():
                return False
            self._abandoned += 1
        outcome.add_done_callback(self._ended)
        return True

    def _ended(self, _: "Future[Answer]") -> None:
        with self._turn:
            self._abandoned -= 1


def _settle(outcome: "Future[Answer]", call: Callable[[], Answer]) -> None:
    try:
        answer = call()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the call was asked for
        outcome.set_exception(error)
    else:
        outcome.set_result(answer)


def _too_long(stage: str, seconds: float) -> StageTimeoutError:
    return StageTimeoutError(f"{stage} took more than {seconds:g} s.", "Allow it more time, or a smaller model.")


Waited = TypeVar("Waited")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long each stage may take, and how often a model that is out of reach is asked again."""

    limits: StageLimits = field(default_factory=StageLimits)
    retry: RetryPlan = ONCE


def waited(calls: TimedCalls, stage: str, seconds: float, retry: RetryPlan, call: Callable[[], Waited]) -> Waited:
    """Return what a call to a model gives, each try within its timeout, tried again as the plan says.

    Raises StageTimeoutError, or the ModelError of the last try.
    """
    return retried(lambda: calls.within(stage, seconds, call), retry)
