"""How often somebody may ask: a token bucket for each token, refilled steadily, that holds one minute's requests."""

import math
import time
from collections.abc import Callable

from twofold.domain.dataclass import dataclass

MAX_CALLERS = 10_000
SECONDS = 60.0


@dataclass(slots=True)
class _Bucket:
    """What is left, in requests, and when that was counted, in seconds."""

    left: float
    counted: float


class RateLimit:
    """At most `per_minute` requests a minute for each caller, in bursts of up to as many; 0 for no limit.

    `clock` gives seconds that never go backwards. Used by the thread of the event loop alone.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def wait_seconds(self, caller: str) -> int:
        """Count a request of a caller. Return 0, or the whole seconds after which it may be made again."""
        if not self._most:
            return 0
        now = self._clock()
        bucket = self._bucket_of(caller, now)
        bucket.left = min(self._most, bucket.left + (now - bucket.counted) * self._most / SECONDS)
        bucket.counted = now
        if bucket.left < 1.0:
            return math.ceil((1.0 - bucket.left) * SECONDS / self._most)
        bucket.left -= 1.0
        return 0

    def _bucket_of(self, caller: str, now: float) -> _Bucket:
        if caller not in self._buckets:
            if len(self._buckets) >= MAX_CALLERS:  # those who have been away for a minute have a full one again
                self._buckets = {name: one for name, one in self._buckets.items() if now - one.counted < SECONDS}
            self._buckets[caller] = _Bucket(self._most, now)
        return self._buckets[caller]
