"""One model, many callers: a call that comes while the model is busy is served together with the others who wait.

There is no thread of its own. The first caller to get its turn runs everything that has gathered by then; the others
find their answers ready. A lone caller pays two uncontended locks.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.types import Vectors
from twofold.models.catalog.types import Pooling

Run = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class _Call:
    texts: Sequence[str]
    answer: "Future[Vectors]" = field(default_factory=Future)


class DynamicBatcher:
    """Runs `run` for one caller at a time, on the texts of everyone who waits. Safe to use from several threads."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._turn = threading.Lock()
        self._entry = threading.Lock()
        self._waiting: list[_Call] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return `run(texts)`. An error is raised for everyone whose texts were in the same run."""
        mine = _Call(texts)
        with self._entry:
            self._waiting.append(mine)
        with self._turn:
            if not mine.answer.done():
                self._serve()
        return mine.answer.result()

    def _serve(self) -> None:
        with self._entry:
            calls, self._waiting = self._waiting, []
        try:
            vectors = self._run([text for call in calls for text in call.texts])
        except BaseException as error:
            for call in calls:
                call.answer.set_exception(error)
            raise
        ends = np.cumsum([len(call.texts) for call in calls])
        for call, part in zip(calls, np.split(vectors, ends[:-1]), strict=True):
            call.answer.set_result(part)


def length_sorted(lengths: Sequence[int], most: int, budget: int) -> Iterator[list[int]]:
    """Group positions so that texts of like length run together and little is wasted on padding.

    At most `most` texts, and at most `budget` tokens with padding, in a group; one text alone may exceed the budget.
    Worked: lengths 5, 90, 6 with a budget of 100 give [0, 2] (12 tokens with padding) and [1].
    """
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (len(group) == most or lengths[position] * (len(group) + 1) > budget):
            yield group
            group = []
        group.append(position)
    if group:
        yield group


def pool(hidden: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    """Make one vector of each text's token vectors: (texts, tokens, dimensions) to (texts, dimensions).

    `mask` (texts, tokens) is 1 at real tokens and 0 at padding. Mean of tokens [1, 3] and padding [9]: 2.
    """
    if pooling is Pooling.CLS:
        return hidden[:, 0]
    weights = mask.astype(np.float32)
    total: NDArray[np.float32] = np.einsum("btd,bt->bd", hidden, weights)
    mean: NDArray[np.float32] = total / np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    return mean


def unit_rows(raw: NDArray[np.floating], count: int, dimensions: int, model: str) -> Vectors:
    """Scale each row to length 1, as float32. Raises ModelError for a wrong shape, NaN, infinity or a zero vector."""
    if raw.shape != (count, dimensions):
        raise ModelError(
            f"{model} gave an array of shape {raw.shape} instead of {(count, dimensions)}.",
            "Check the model's name and its dimensions.",
        )
    wide = raw.astype(np.float64)
    if not np.isfinite(wide).all():
        raise ModelError(f"{model} gave a vector that is not all numbers.", "Fetch the model again, or use another.")
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not lengths.all():
        raise ModelError(f"{model} gave a zero vector, which has no direction.", "Use another model.")
    return np.asarray(wide / lengths, dtype=np.float32)
