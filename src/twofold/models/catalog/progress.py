"""Progress of getting a model ready: it takes seconds to minutes, and nobody likes silence."""

from collections.abc import Callable
from enum import StrEnum

from twofold.domain.dataclass import dataclass


class Step(StrEnum):
    """What is going on: waiting for another process, about to download, downloading, converting, measuring, or done."""

    WAIT = "wait"
    ANNOUNCE = "announce"
    DOWNLOAD = "download"
    CONVERT = "convert"
    MEASURE = "measure"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """One report: `done` of `total` bytes of this step; `total` is 0 where it cannot be known.

    `ANNOUNCE` says in `total` how much is going to be fetched; who does not want that raises ModelError.
    """

    model: str
    step: Step
    done: int = 0
    total: int = 0


Report = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """Do nothing."""
