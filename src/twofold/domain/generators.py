"""What is asked of a language model: the port, its messages, and a whole reply; its contract is a test suite."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Literal, Protocol, Self, runtime_checkable

from twofold.domain.dataclass import dataclass

Role = Literal["system", "user", "assistant"]
MAX_TOKENS = 512
SECONDS = 120.0
"""As long as a synthesis may take in checklist item 71."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model.

    `fixed` messages are the same for every question and hold nothing of a user's: what a model makes of them may be
    kept on disk.
    """

    role: Role
    content: str
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a model has read its prompt, in its tokens."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class GeneratorIdentity:
    """Which model answers, and in which revision: the host that was asked, or the hash of the weights.

    `context_tokens` is how long a prompt and its reply may be together, in the model's tokens; `prompt_tokens` what a
    prompt should not exceed, because the model reads slowly, 0 for as much as there is room for.
    """

    name: str
    revision: str
    context_tokens: int = 4096
    prompt_tokens: int = 0


class TextStream(Protocol):
    """A reply as it is being written: iterating gives pieces of text, none of them empty."""

    def __iter__(self) -> Self:
        """Return itself: a reply is read once."""

    def __next__(self) -> str:
        """Wait for the next piece. Raises ModelError when the model fails, takes too long or does not stop."""

    def close(self) -> None:
        """Stop the model, from any thread, also while another one waits for a piece; that one sees the end."""


@runtime_checkable
class TellsReading(Protocol):
    """A reply that tells how far its prompt is read; see `Reading`."""

    def reading(self) -> Iterator[Reading]:
        """Yield how far the prompt is read, until the first piece is there; a failure comes with that piece."""


class Generator(Protocol):
    """Writes text. Safe to use from several threads."""

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers; nothing is loaded to tell."""

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        seconds: float = SECONDS,
    ) -> TextStream:
        """Begin a reply of at most `max_tokens`, to be whole within `seconds` of this call; close it when done with it.

        It ends before any of the `stop` texts. The same messages at temperature 0 give the same reply as far as the
        model does. Raises InvalidInputError for no messages or numbers out of range; ModelError comes with the pieces.
        """

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more."""


def complete(
    generator: Generator,
    messages: Sequence[Message],
    *,
    max_tokens: int = MAX_TOKENS,
    temperature: float = 0.0,
    seconds: float = SECONDS,
) -> str:
    """Return a whole reply. Raises as `Generator.stream` and its pieces do; half a reply is never given."""
    reply = generator.stream(messages, max_tokens=max_tokens, temperature=temperature, seconds=seconds)
    with closing(reply):
        return "".join(reply)
