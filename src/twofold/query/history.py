"""What was said before, added to a question without any model, in the two ways of the systems before this one."""

from collections.abc import Sequence
from typing import Literal

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, check_kind

MAX_TURNS = 100


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a conversation: what the user asked, or what the assistant answered."""

    role: Literal["user", "assistant"]
    text: str


def turns_of(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return what was said as a tuple. Raises InvalidInputError for what is no list of turns."""
    if not history:
        return ()
    hint = 'Write it as history=[Turn("user", "..."), Turn("assistant", "...")], with Turn of twofold.query.history.'
    check_kind("`history`", history, Sequence, hint)
    for one in history:
        check_kind("A turn of `history`", one, Turn, hint)
    return tuple(history)


@dataclass(frozen=True, slots=True)
class Memory:
    """How much of a conversation is looked back at: the last `turns` entries, 0 to 100, oldest first.

    `assistant_chars` is how many characters of each answer count; None for all of it. Raises InvalidInputError.
    """

    turns: int = 5
    assistant_chars: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.turns <= MAX_TURNS:
            raise InvalidInputError(f"History must have turns from 0 to {MAX_TURNS}, not {self.turns}.", "5 is usual.")
        if self.assistant_chars is not None and self.assistant_chars < 0:
            raise InvalidInputError(f"The characters of history cannot be {self.assistant_chars}.", "200 is usual.")

    def last(self, history: Sequence[Turn]) -> tuple[Turn, ...]:
        """Return the entries that count."""
        return tuple(history[max(0, len(history) - self.turns) :])

    def cut(self, answer: str) -> str:
        """Return what counts of an answer: with 200 characters, its first 200 and `...`, whether it has more or not."""
        return answer if self.assistant_chars is None else f"{answer[: self.assistant_chars]}..."


LAST_FIVE = Memory(5, None)
LAST_THREE = Memory(3, 200)


def prepend_turns(history: Sequence[Turn], context: str, memory: Memory = LAST_FIVE) -> str:
    r"""Put the last turns before the passages that a model is given.

    >>> prepend_turns([Turn("user", "What is HEAD?"), Turn("assistant", "A pointer.")], "[Source: git.md]\n...")
    'User: What is HEAD?\nAssistant: A pointer.\n\n[Source: git.md]\n...'
    """
    said = [
        f"User: {turn.text}" if turn.role == "user" else f"Assistant: {memory.cut(turn.text)}"
        for turn in memory.last(history)
    ]
    return "\n".join(said) + f"\n\n{context}" if said else context


def question_with_history(question: str, history: Sequence[Turn], memory: Memory = LAST_THREE) -> str:
    r"""Put the last entries before the question itself; a question without any stays as it is.

    >>> question_with_history("and undo it?", [Turn("user", "How do I commit?"), Turn("assistant", "git commit")])
    'Previous question: How do I commit?\nPrevious context: git commit...\n\nCurrent question: and undo it?'
    """
    said = [
        f"Previous question: {turn.text}" if turn.role == "user" else f"Previous context: {memory.cut(turn.text)}"
        for turn in memory.last(history)
    ]
    return "\n".join(said) + f"\n\nCurrent question: {question}" if said else question
