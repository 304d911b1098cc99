"""Asking again: the one place that decides how often a model that is out of reach is asked, and how long to pause.

Only for what passes by itself, a ModelUnavailableError: a wrong key or a missing file fails again. Each pause is twice
the one before; where a server says how long to wait (`Retry-After`), that is how long the pause is, up to a limit. Each
pause is logged before it is made, since somebody waits meanwhile.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, ModelUnavailableError

Answer = TypeVar("Answer")
MAX_RETRIES = 10
MAX_PAUSE = 300.0
MAX_ASKED_PAUSE_LENGTH = 30.0
"""The longest pause that a server may ask for, in seconds."""

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """How often to ask again (0 to 10), and the pauses: `base`, `base · 2`, `base · 4`, … seconds.

    With 3 retries and a base of 1 a model is asked up to 4 times, after pauses of 1, 2 and 4 s. Raises
    InvalidInputError for what makes no sense: no pause may be longer than 300 s.
    """

    retries: int = 0
    base: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 0 <= self.retries <= MAX_RETRIES:
            raise InvalidInputError(f"{self.retries} retries cannot be made.", f"Choose 0 to {MAX_RETRIES}.")
        if not self.base >= 0.0:
            raise InvalidInputError("Pauses may not be negative.", "Use a base of 0 or more.")
        if not all(pause <= MAX_PAUSE for pause in self.pauses()):
            raise InvalidInputError(f"A pause would be longer than {MAX_PAUSE:g} s.", "Use fewer or shorter ones.")

    def pauses(self) -> tuple[float, ...]:
        """Return the pauses between calls, in seconds.

        >>> RetryPlan(retries=3, base=1.0).pauses()
        (1.0, 2.0, 4.0)
        """
        return tuple(self.base * 2.0**number for number in range(self.retries))


ONCE = RetryPlan()


def retried(call: Callable[[], Answer], plan: RetryPlan, *, sleep: Callable[[float], object] = time.sleep) -> Answer:
    """Return what `call` returns, calling again after each ModelUnavailableError until the plan is used up.

    Raises the last error.
    """
    for number, pause in enumerate(plan.pauses(), start=1):
        try:
            return call()
        except ModelUnavailableError as error:
            asked = error.retry_after
            wait = pause if asked is None else min(asked, MAX_ASKED_PAUSE_LENGTH)
            LOG.warning("%s Asked again in %g s (%d of %d).", error.message, wait, number, plan.retries)
            sleep(wait)
    return call()
