"""How long a sync will still take: an estimate that moves slowly and says nothing until it can be meant."""

import math
from dataclasses import replace

from twofold.domain.dataclass import dataclass
from twofold.indexing.types import Phase, SyncProgress

MIN_SECONDS = 5.0
SMOOTHING_SECONDS = 20.0
"""After so long a new estimate counts for 63 %, what was shown before for the rest."""

_COARSE_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where a sync stood when it last reported.

    `written` files are done whole, with `embedded` passages; `at` is when it was reported and `left` how long the rest
    takes, both in seconds. `left` is None until the first files are written and some seconds have passed, and again
    when all files are written and their vectors follow, from `vectors_from` on.
    """

    written: int = 0
    embedded: int = 0
    at: float = 0.0
    left: float | None = None
    vectors_from: float | None = None


def estimated(before: Estimate, progress: SyncProgress, elapsed: float) -> Estimate:
    """Return the estimate after one more report, `elapsed` seconds after the beginning.

    Files are read ahead and then embedded, which takes most of the time, so a file that was read counts for nothing
    until its passages are embedded: by as many passages as the files before it had. 60 of 240 files written after 30 s:
    30 · (1 - 0.25) / 0.25 = 90 s left.
    """
    if progress.phase is Phase.EMBED and progress.pending:
        return _until_embedded(before, progress, elapsed)
    written, embedded = before.written, before.embedded
    if progress.phase is Phase.WRITE:
        written, embedded = progress.done, progress.passages
    if not written or not progress.total or elapsed < MIN_SECONDS:
        return Estimate(written, embedded, elapsed)
    ahead = float(progress.done - written)
    if embedded:
        ahead = min(ahead, (progress.passages - embedded) * written / embedded)
    share = min(1.0, (written + ahead) / progress.total)
    fresh = elapsed * (1.0 - share) / share
    return Estimate(written, embedded, elapsed, _smoothed(before, fresh, elapsed))


def _until_embedded(before: Estimate, progress: SyncProgress, elapsed: float) -> Estimate:
    """Return the estimate while vectors follow: 100 made in 10 s, and 300 to make, are 30 s more."""
    if before.vectors_from is None:
        before = replace(before, vectors_from=before.at, left=None)
    took = elapsed - (before.vectors_from or 0.0)
    if not progress.passages or took < MIN_SECONDS:
        return replace(before, at=elapsed)
    return replace(before, at=elapsed, left=_smoothed(before, took * progress.pending / progress.passages, elapsed))


def _smoothed(before: Estimate, fresh: float, elapsed: float) -> float:
    if before.left is None:
        return fresh
    passed = elapsed - before.at
    kept = math.exp(-passed / SMOOTHING_SECONDS)
    shown = max(0.0, before.left - passed)
    return kept * shown + (1.0 - kept) * fresh


def roughly(seconds: float) -> str:
    """Return a length of time as exactly as it can be known: in steps of 5 s, from 90 s in minutes.

    >>> roughly(42), roughly(2), roughly(100), roughly(7_500)
    ('40 s', '5 s', '2 min', '2 h 5 min')
    """
    if seconds < _COARSE_SECONDS:
        return f"{max(5, 5 * round(seconds / 5))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
