"""What is asked of a chunker, as one frozen value. It knows nothing of how any strategy cuts."""

from enum import StrEnum

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

MIN_SIZE = 16
MIN_SECTION = 32

_RULES = 1
"""Counts changes to the rules of cutting, so that a collection can tell that it was cut by other rules."""


class Strategy(StrEnum):
    """Where a document may be cut first; size comes second in all of them."""

    STRUCTURE = "structure"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """How documents are cut. All sizes are tokens of the embedder's own tokenizer, special tokens apart.

    `size`, from 16, is the most that a passage's indexed text may hold: heading path, repeated header row and text.
    `overlap`, from 0 to half of `size`, is the most that a passage repeats of the one before it.
    `minimum`, from 0 to half of `size`: sections below it are merged with their neighbors where both fit one passage.
    The defaults are those of `docs/decisions/0020-chunk-size.md`. Raises InvalidInputError for anything outside.
    """

    strategy: Strategy = Strategy.STRUCTURE
    size: int = 256
    overlap: int = 0
    minimum: int = MIN_SECTION

    def __post_init__(self) -> None:
        if self.strategy not in set(Strategy):
            message = f"There is no chunking strategy {str(self.strategy)!r}."
            raise InvalidInputError(message, f"Choose one of {', '.join(Strategy)}.")
        if self.size < MIN_SIZE:
            message = f"A chunk size of {self.size} tokens is too small."
            raise InvalidInputError(message, f"Set it to {MIN_SIZE} or more.")
        for name, value in (("overlap", self.overlap), ("minimum size", self.minimum)):
            if not 0 <= value <= self.size // 2:
                message = f"A chunk {name} of {value} tokens does not go with a size of {self.size}."
                raise InvalidInputError(message, f"Set it from 0 to {self.size // 2}.")

    def describe(self) -> str:
        """Return the canonical text of the plan: equal text, equal passages.

        The default reads `structure rules=1 size=256 overlap=0 minimum=32`.
        """
        sizes = f"size={self.size} overlap={self.overlap} minimum={self.minimum}"
        return f"{self.strategy} rules={_RULES} {sizes}"
