"""A generator that is asked again where it is out of reach, as long as it has written nothing."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from twofold.domain.closable import closable
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelUnavailableError
from twofold.domain.generators import (
    MAX_TOKENS,
    SECONDS,
    Generator,
    GeneratorIdentity,
    Message,
    Reading,
    TellsReading,
    TextStream,
)
from twofold.domain.retry import RetryPlan, retried


@dataclass(frozen=True, slots=True)
class RetryingGenerator:
    """Asks the generator behind it again as the plan says. Its owner closes that one."""

    generator: Generator
    plan: RetryPlan

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers."""
        return self.generator.identity

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        seconds: float = SECONDS,
    ) -> TextStream:
        """Begin a reply; the pauses count towards its seconds. See `Generator.stream`."""
        deadline = time.monotonic() + seconds

        def begin() -> TextStream:
            left = max(1e-3, deadline - time.monotonic())
            return closable(
                self.generator.stream(messages, max_tokens=max_tokens, temperature=temperature, stop=stop, seconds=left)
            )

        return _RetryingStream(begin, self.plan)

    def close(self) -> None:
        """Do nothing: the generator behind it is not its own."""


class _RetryingStream:
    """A reply that begins again where the model cannot be reached before its first piece."""

    def __init__(self, begin: Callable[[], TextStream], plan: RetryPlan) -> None:
        self._begin = begin
        self._plan = plan
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._reply = begin()  # what cannot be asked is refused here
        self._begun = False
        self._failed = False

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> str:
        """Wait for the next piece. Raises ModelError."""
        if self._begun:
            return next(self._reply)
        self._begun = True
        piece = retried(self._first_piece, self._plan, sleep=self._closed.wait)
        if piece is None:
            raise StopIteration
        return piece

    def reading(self) -> Iterator[Reading]:
        """Yield how far the prompt is read, where the model tells, until the first piece is there."""
        if isinstance(self._reply, TellsReading):
            yield from self._reply.reading()

    def close(self) -> None:
        """Stop the model, and any pause that is being made."""
        self._closed.set()
        with self._turn:
            self._reply.close()

    def _first_piece(self) -> str | None:
        """Return the first piece, None for an empty reply, of a reply that is begun again after one that failed."""
        with self._turn:
            if self._closed.is_set():
                return None
            if self._failed:
                self._reply = self._begin()
        try:
            return next(self._reply, None)
        except ModelUnavailableError:
            self._failed = True
            self._reply.close()
            raise
