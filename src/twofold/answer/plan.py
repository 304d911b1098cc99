"""How an answer is made, as one frozen value, and what it is made with; a line that can be cut while it is."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from twofold.answer.context import Budget, Fit
from twofold.answer.types import TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.generators import MAX_TOKENS, SECONDS, Generator, TextStream
from twofold.domain.ports import SentencePruner
from twofold.query.history import LAST_FIVE, Memory, Turn
from twofold.search.engine import Effort
from twofold.search.result import SearchResult

if TYPE_CHECKING:
    from twofold.answer.cache import AnswerMemory

MIN_CONTEXT = 256  # tokens
NO_LIMIT = 3_600.0  # seconds


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """How an answer is made.

    Below `min_answerability` of `p_answerable` it is the refusal. `sentences` is how many extracts there are at most.
    `template` is a text with places to fill, `budget` and `context_fit` say how much of the passages a model is given.
    `prompt` takes the place of the built-in instructions. `unsupported` says what an unsupported sentence does: `mark`,
    `flag` or `refuse`. `seconds` is how long a model may write, 0 for an hour. `on_failure` is `degrade`, `empty`,
    `llm` or `raise`. `memory` says how much of a conversation a model gets (66, C14). `prune` is how much of the
    best sentence's score one needs to be shown; 0 shows all. `form` is what an answer looks like: `prelims`, `mains`,
    instructions, or nothing in particular. `planned` has a model plan and draft it first.
    `effort` says how many further searches it may take.
    """

    min_answerability: float = 0.3
    sentences: int = 3
    template: str = "{marked}"
    budget: Budget = field(default_factory=Budget)
    context_fit: Fit = "whole"
    reply_tokens: int = MAX_TOKENS
    unsupported: str = "mark"
    prompt: str = ""
    seconds: float = SECONDS
    on_failure: str = "degrade"
    memory: Memory = LAST_FIVE
    prune: float = 0.0
    form: str = ""
    planned: bool = False
    effort: Effort = "low"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, after which turns, and what each of its terms weighs where the search does not tell.

    `meant` is a follow-up completed to a question of its own; empty for one that stands alone.
    """

    text: str
    history: tuple[Turn, ...] = ()
    terms: Mapping[str, float] = field(default_factory=dict)
    meant: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerComponents:
    """What an answer is made with: how texts are read, and who writes; None for extracts of the documents.

    `memory` has answers that may be given again; None where none are kept. `pruner` says which sentences a model is
    shown where the plan prunes; None for the built-in one. `look_again` searches for what an answer leaves open, with
    the filter and the settings of the question; None where that is not possible.
    """

    reading: TextTools
    generator: Generator | None = None
    memory: "AnswerMemory | None" = None
    pruner: SentencePruner | None = None
    look_again: Callable[[str], SearchResult] | None = None


class Cancellation:
    """Ends a reply that is being written, from any thread, also one that has not begun."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._reply: TextStream | None = None
        self.made = False

    def hold(self, reply: TextStream) -> TextStream:
        """Be able to cut this reply; it ends at once where that was asked for already."""
        with self._turn:
            self._reply, made = reply, self.made
        if made:
            reply.close()
        return reply

    def make(self) -> None:
        """Cut. Calling it twice does nothing more."""
        with self._turn:
            self.made, reply = True, self._reply
        if reply is not None:
            reply.close()
