"""Trying again: what may succeed later is asked a few times more, after pauses that grow.

Only for what passes by itself: a wrong key or a missing file fails again. Requests over HTTP are tried again where they
are sent, and what they raise says how often, so that tries are never multiplied.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from twofold.domain.errors import InvalidInputError, ModelUnavailableError

Answer = TypeVar("Answer")
MOST_RETRIES = 10
LONGEST_PAUSE = 300.0


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """How often to try again (0 to 10), and the pauses: `base`, `base · factor`, `base · factor²`, … seconds.

    The default asks up to 4 times and pauses 1, 2, 4 s (checklist 78). Raises InvalidInputError for what makes no
    sense: no pause may be longer than 300 s.
    """

    retries: int = 3
    base: float = 1.0
    factor: float = 2.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 0 <= self.retries <= MOST_RETRIES:
            raise InvalidInputError(f"{self.retries} retries cannot be made.", f"Choose 0 to {MOST_RETRIES}.")
        if not (self.base >= 0.0 and self.factor >= 1.0):
            raise InvalidInputError("Pauses may not be negative, nor shrink.", "Use a base ≥ 0 and a factor ≥ 1.")
        if not all(pause <= LONGEST_PAUSE for pause in self.pauses()):
            raise InvalidInputError(f"A pause would be longer than {LONGEST_PAUSE:g} s.", "Use fewer or shorter ones.")

    def pauses(self) -> tuple[float, ...]:
        """Give the pauses between tries, in seconds."""
        return delays(self.retries, self.base, self.factor)


def in_attempts(attempts: int = 3, base: float = 1.0, factor: float = 2.0) -> RetryPlan:
    """Say the same by the number of calls, the first included: 3 attempts pause 1 and 2 s (checklist C18)."""
    return RetryPlan(attempts - 1, base, factor)


def delays(retries: int = 3, base: float = 1.0, factor: float = 2.0) -> tuple[float, ...]:
    """Give the pauses of exponential backoff: `base · factor^i` seconds, i from 0. Worked: the default is 1, 2, 4."""
    return tuple(base * factor**number for number in range(retries))


def retried(
    call: Callable[[], Answer],
    plan: RetryPlan,
    *,
    sleep: Callable[[float], None] = time.sleep,
    on: type[Exception] = ModelUnavailableError,
) -> Answer:
    """Give what `call` gives, calling again after each error of kind `on` until the plan is used up.

    An error that says it stands for several `attempts` uses up as many. Raises the last error.
    """
    pauses = plan.pauses()
    tried = 0
    while True:
        try:
            return call()
        except on as error:
            tried += error.attempts if isinstance(error, ModelUnavailableError) else 1
            if tried > len(pauses):
                raise
        sleep(pauses[tried - 1])
