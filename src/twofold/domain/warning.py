"""What a search or an answer could not do as asked: one typed warning for each, for programs and for people."""

from collections.abc import Iterable
from enum import StrEnum

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import StageTimeoutError, TwofoldError


class WarningCode(StrEnum):
    """Why: a stable word that programs may compare."""

    UNAVAILABLE = "unavailable"
    """The part failed or could not be reached."""
    TIMEOUT = "timeout"
    """The part took longer than its limit."""
    SKIPPED = "skipped"
    """The part was asked for and not used: what it needs is missing, or there was no time left."""
    NO_RESULT = "no_result"
    """A model was asked, and its reply is of no use."""
    IGNORED = "ignored"
    """A setting or an option was not followed."""
    UNSUPPORTED = "unsupported"
    """Sentences of an answer are supported by no passage."""
    EMPTY = "empty"
    """No retriever was left to search with."""
    LIMITED = "limited"
    """Less was searched for than was asked for, as a limit allows."""
    PENDING = "pending"
    """Passages are not embedded yet: the next sync goes on with them."""
    NO_MATCH = "no_match"
    """Nothing in the index is like a part of the question."""
    CORRECTED = "corrected"
    """Nothing was found as it was typed, so another spelling was searched for."""
    NOT_SAVED = "not_saved"
    """The result is whole; it could not be kept."""
    CHANGED = "changed"
    """The index has changed between two pages of one search."""


WHOLE = frozenset(
    {
        WarningCode.LIMITED,
        WarningCode.NO_MATCH,
        WarningCode.CORRECTED,
        WarningCode.NOT_SAVED,
        WarningCode.CHANGED,
    }
)
"""Codes of warnings that leave a result as good as it would be without them."""


@dataclass(frozen=True, slots=True)
class StageWarning:
    """One warning: which stage, why, and a sentence for people.

    `stage` is a stage of the trace, such as `bm25` or `rerank`, a plugin's name, or `search`, `generate`, `check`,
    `prune`, `index`, `settings`, `session`, `query_log`. `collection` names the index, where several were searched.
    """

    stage: str
    code: WarningCode
    message: str
    collection: str = ""

    def __str__(self) -> str:
        """Return one line, such as `vector unavailable: the model cannot be read`."""
        what = f"{self.stage} {self.code}".replace("_", " ")
        return f"{self.collection}: {what}: {self.message}" if self.collection else f"{what}: {self.message}"


def warning_of(stage: str, error: TwofoldError) -> StageWarning:
    """Return the warning of a stage that ended in an error."""
    code = WarningCode.TIMEOUT if isinstance(error, StageTimeoutError) else WarningCode.UNAVAILABLE
    return StageWarning(stage, code, error.message)


def is_degraded(warnings: Iterable[StageWarning]) -> bool:
    """Return whether a result with these warnings is less than what was asked for."""
    return any(one.code not in WHOLE for one in warnings)
