"""What is left of a search when a part of it fails: full, without reranking, one retriever, nothing; each step is said.

    full ─reranker fails→ without reranking ─a retriever fails→ one retriever, without reranking ─it fails→ empty

Pure decisions: nothing is called here. A search starts from `degradation_of`, and hands each failure to `without`,
which says what is left to do, or raises where that was asked for.
"""

from dataclasses import replace
from enum import StrEnum
from typing import Literal, get_args

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.domain.warning import StageWarning, WarningCode, warning_of

OnFailure = Literal["degrade", "empty", "llm", "raise"]
"""What to do when a stage fails: go one step down, give nothing at all, go down and let an answer ask
a bare language model once nothing is left (for a search the same as `degrade`), or raise the error."""

ON_FAILURE: tuple[str, ...] = get_args(OnFailure)


class Stage(StrEnum):
    """A part of a search that may fail while others stand, as warnings name it."""

    BM25 = "bm25"
    VECTOR = "vector"
    RERANK = "rerank"


class Level(StrEnum):
    """How much of what was asked for is left."""

    FULL = "full"
    WITHOUT_RERANK = "without_rerank"
    ONE_RETRIEVER = "one_retriever"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class DegradationStep:
    """One step down: which stage failed, what was left then, and the warning that says so."""

    stage: Stage
    level: Level
    warning: StageWarning


@dataclass(frozen=True, slots=True)
class Degradation:
    """What a search may still do. `wanted` is what it was to do; `lost` says, in order, how it came down."""

    wanted: frozenset[Stage]
    left: frozenset[Stage]
    lost: tuple[DegradationStep, ...] = ()

    @property
    def level(self) -> Level:
        """How much of what was asked for is left."""
        return _level(self.wanted, self.left)

    @property
    def warnings(self) -> tuple[StageWarning, ...]:
        """A warning for each step, and for an empty answer one that says so."""
        steps = tuple(one.warning for one in self.lost)
        return (*steps, NO_RETRIEVER) if self.level is Level.EMPTY else steps


RETRIEVERS = frozenset({Stage.BM25, Stage.VECTOR})
RETRIEVERS_OF = {"hybrid": RETRIEVERS, "bm25": frozenset({Stage.BM25}), "vector": frozenset({Stage.VECTOR})}
NO_RETRIEVER = StageWarning("retrieval", WarningCode.EMPTY, "no retriever was left to search with.")


def degradation_of(mode: str, *, reranks: bool) -> Degradation:
    """Return what a search in this mode (`hybrid`, `bm25`, `vector`) sets out with."""
    wanted = RETRIEVERS_OF[mode] | ({Stage.RERANK} if reranks else frozenset())
    return Degradation(wanted, wanted)


def without(degradation: Degradation, stage: Stage, error: TwofoldError, on_failure: str = "degrade") -> Degradation:
    """Return what is left when a stage has failed; with `raise` nothing is, and the error goes on.

    A retriever that fails takes reranking with it: one retriever's order stands as it is. A mode that asked for
    one retriever alone is not answered by the other one. Raises InvalidInputError for a policy that there is not.
    """
    if on_failure not in ON_FAILURE:
        raise InvalidInputError(f"There is no way to fail {on_failure!r}.", f"Use one of {', '.join(ON_FAILURE)}.")
    if on_failure == "raise":
        raise error
    gone = {stage} if stage is Stage.RERANK else {stage, Stage.RERANK}
    left = frozenset() if on_failure == "empty" else degradation.left - gone
    if not left & RETRIEVERS:
        left = frozenset()
    step = DegradationStep(stage, _level(degradation.wanted, left), warning_of(stage, error))
    return replace(degradation, left=left, lost=(*degradation.lost, step))


def _level(wanted: frozenset[Stage], left: frozenset[Stage]) -> Level:
    if not left:
        return Level.EMPTY
    if (wanted - left) & RETRIEVERS:
        return Level.ONE_RETRIEVER
    return Level.FULL if left == wanted else Level.WITHOUT_RERANK
