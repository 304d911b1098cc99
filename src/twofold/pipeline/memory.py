"""The memory of answers: a question asked before, or one that says the same, is answered without searching.

An answer is found by all that it depends on (`twofold.pipeline.memory_keys`): for the same question, or for one whose
vector is nearer than a threshold and that agrees in what vectors do not tell apart. It is forgotten after a while, when
room is needed, and when its collection has changed. What is answered from memory is not remembered anew, so answers do
not drift from question to question.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Vector
from twofold.pipeline.memory_keys import MemoryKey, may_share

Value = TypeVar("Value")
Unit = NDArray[np.float64]
LARGEST_SIZE = 1_000
MOST_MEMORIES = 8
SCOPES = ("shared", "session")

now = time.monotonic
"""The clock of every memory that is given none of its own: seconds that never go back."""

ROUNDING = 1e-6
"""What a cosine of float32 vectors may be off: 0.98 exactly is no hit, however its vectors were rounded."""


@dataclass(frozen=True, slots=True)
class CachePlan:
    """How answers are remembered: at most `size` (1 to 1,000), each for less than `seconds`.

    A near question is answered where the cosine exceeds `similarity` (0 to 1); with 1 none is. It must also have the
    same terms, as `twofold.pipeline.memory_keys` says. With scope `session` only who asked is answered, and who asks
    without a session neither is nor leaves anything.
    """

    size: int = 100
    seconds: float = 300.0
    similarity: float = 0.98
    scope: Literal["shared", "session"] = "shared"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 1 <= self.size <= LARGEST_SIZE:
            raise InvalidInputError(f"{self.size} answers cannot be remembered.", f"Choose 1 to {LARGEST_SIZE:,}.")
        if not self.seconds > 0.0:
            raise InvalidInputError(f"Answers cannot be remembered for {self.seconds} s.", "Choose more than 0.")
        if not 0.0 <= self.similarity <= 1.0:
            raise InvalidInputError(f"The similarity cannot be {self.similarity}.", "Choose 0 to 1.")
        if self.scope not in SCOPES:
            raise InvalidInputError(f"There is no scope {self.scope!r}.", f"Use one of {', '.join(SCOPES)}.")


@dataclass(frozen=True, slots=True)
class Remembered(Generic[Value]):
    """An answer from memory, `age` seconds old. `cosine` is None where the question was the same."""

    value: Value
    age: float
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """What became of questions and answers since the beginning; `size` is how many are remembered now.

    `evicted` made room, `expired` were too old, `stale` belonged to what a collection was before it changed.
    """

    exact: int = 0
    near: int = 0
    misses: int = 0
    evicted: int = 0
    expired: int = 0
    stale: int = 0
    size: int = 0

    @property
    def hit_rate(self) -> float:
        """The share of questions that were answered from memory; 0 where none was asked."""
        asked = self.exact + self.near + self.misses
        return (self.exact + self.near) / asked if asked else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[Value]):
    value: Value
    made: float
    unit: Unit | None


class SearchMemory(Generic[Value]):
    """Remembers frozen answers. Bears calls from several threads. `clock` gives seconds that never go back."""

    def __init__(self, plan: CachePlan = CachePlan(), clock: Callable[[], float] | None = None) -> None:
        self._plan = plan
        self._clock = now if clock is None else clock
        self._turn = threading.Lock()
        self._entries: OrderedDict[MemoryKey, _Entry[Value]] = OrderedDict()
        self._counts = MemoryCounts()

    def glance(self, key: MemoryKey) -> Remembered[Value] | None:
        """Give the answer to this very question. A miss is not counted: `lookup` with the question's vector follows."""
        with self._turn:
            return self._same(key)

    def lookup(self, key: MemoryKey, vector: Vector | None = None) -> Remembered[Value] | None:
        """Give the answer to this question, or to the nearest one that may share it. Counts one hit or one miss."""
        with self._turn:
            found = self._same(key)
            if found is None and vector is not None:
                found = self._nearest(key, _unit(vector))
            if found is None:
                self._count(misses=1)
            return found

    def remember(self, key: MemoryKey, vector: Vector | None, value: Value) -> None:
        """Keep an answer, with its question's vector if it has one; not if a newer state of a collection is known.

        Keep only what was searched for, whole: nothing degraded, and nothing that came from memory.
        """
        scoped = self._scoped(key)
        if scoped is None:
            return
        with self._turn:
            self._forget_old(scoped)
            if any(_is_newer(other, scoped) for other in self._entries):
                return
            unit = None if vector is None else _unit(vector)
            self._entries[scoped] = _Entry(value, self._clock(), unit)
            self._entries.move_to_end(scoped)
            while len(self._entries) > self._plan.size:
                self._entries.popitem(last=False)
                self._count(evicted=1)

    def counts(self) -> MemoryCounts:
        """Say what became of questions and answers."""
        with self._turn:
            return replace(self._counts, size=len(self._entries))

    def clear(self) -> None:
        """Forget all answers; the counts stay."""
        with self._turn:
            self._entries.clear()

    def _same(self, key: MemoryKey) -> Remembered[Value] | None:
        scoped = self._scoped(key)
        entry = None if scoped is None else self._entries.get(scoped)
        if scoped is None or entry is None:
            return None
        age = self._clock() - entry.made
        if age >= self._plan.seconds:
            del self._entries[scoped]
            self._count(expired=1)
            return None
        self._entries.move_to_end(scoped)
        self._count(exact=1)
        return Remembered(entry.value, age)

    def _nearest(self, key: MemoryKey, unit: Unit | None) -> Remembered[Value] | None:
        scoped = self._scoped(key)
        if scoped is None or unit is None:
            return None
        self._forget_old(scoped)
        near = [
            (other, entry)
            for other, entry in self._entries.items()
            if entry.unit is not None and entry.unit.shape == unit.shape and may_share(other, scoped)
        ]
        if not near:
            return None
        cosines = np.asarray([entry.unit for _, entry in near]) @ unit
        best = int(cosines.argmax())
        if not cosines[best] > self._plan.similarity + ROUNDING:
            return None
        found, entry = near[best]
        self._entries.move_to_end(found)
        self._count(near=1)
        return Remembered(entry.value, self._clock() - entry.made, float(cosines[best]))

    def _scoped(self, key: MemoryKey) -> MemoryKey | None:
        if self._plan.scope == "shared":
            return replace(key, session="")
        return key if key.session else None

    def _forget_old(self, key: MemoryKey) -> None:
        """Forget what has lived long enough, and what an earlier state of this key's collections answered."""
        moment = self._clock()
        expired = [other for other, entry in self._entries.items() if moment - entry.made >= self._plan.seconds]
        for other in expired:
            del self._entries[other]
        stale = [other for other in self._entries if _is_newer(key, other)]
        for other in stale:
            del self._entries[other]
        self._count(expired=len(expired), stale=len(stale))

    def _count(self, **more: int) -> None:
        self._counts = replace(self._counts, **{name: getattr(self._counts, name) + n for name, n in more.items()})


class Memories(Generic[Value]):
    """Memories by their plans, each made when first asked for: a profile of one question may have a plan of its own."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._made: OrderedDict[CachePlan, SearchMemory[Value]] = OrderedDict()

    def of(
        self, size: int, seconds: float, similarity: float, scope: Literal["shared", "session"]
    ) -> SearchMemory[Value] | None:
        """Return the memory of a plan; None where nothing is remembered. The least used of many is forgotten."""
        if not size:
            return None
        plan = CachePlan(size, seconds, similarity, scope)
        with self._turn:
            found = self._made.setdefault(plan, SearchMemory(plan))
            self._made.move_to_end(plan)
            while len(self._made) > MOST_MEMORIES:
                self._made.popitem(last=False)
            return found


def _is_newer(first: MemoryKey, second: MemoryKey) -> bool:
    """Say whether the first key knows a later state of one of the second one's collections."""
    if first.collections == second.collections:
        return False
    before = dict(second.collections)
    return any(generation > before.get(name, generation) for name, generation in first.collections)


def _unit(vector: Vector) -> Unit | None:
    """Give a vector at length 1; None for one that has no direction."""
    wide = np.array(vector, dtype=np.float64)
    length = float(np.linalg.norm(wide))
    return wide / length if 0.0 < length < np.inf else None
