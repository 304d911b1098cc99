"""Patience: how long a search waits for each of its parts, and how often it asks again."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from twofold.domain.retry import ONCE, RetryPlan, retried
from twofold.pipeline.limits import StageLimits, TimedCalls

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each stage may take, and how often a model that is out of reach is asked again."""

    limits: StageLimits = field(default_factory=StageLimits)
    retry: RetryPlan = ONCE


def waited(calls: TimedCalls, stage: str, seconds: float, retry: RetryPlan, call: Callable[[], Answer]) -> Answer:
    """Give what a call to a model gives, each try within so many seconds, tried again as the plan says.

    Raises StageTimeoutError, or the ModelError of the last try.
    """
    return retried(lambda: calls.within(stage, seconds, call), retry)
