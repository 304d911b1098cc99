"""Text from a model on this machine: a GGUF file that llama.cpp runs in a process of its own; an extra.

The process starts with the first reply and serves the same protocol as any endpoint, on loopback and behind a key. One
thread by default: llama.cpp's threads spin while they wait, and on a busy machine two are many times slower than one.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.domain.generators import MAX_TOKENS, SECONDS, GeneratorIdentity, Message, TextStream
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator, check_asked
from twofold.models.generators.process import Launch, OwnServer, Running, await_death
from twofold.models.http import Timeouts

RUNTIME = "xllamacpp"
CHILD = Path(__file__).with_name("generator_child.py")
LOCAL_TIMEOUTS = Timeouts(silence=600.0)
"""Each reply has a limit of its own; replies wait for one another in silence."""


class LocalGenerator:
    """Writes with a process of its own. Bears calls from several threads, which it answers one after the other."""

    def __init__(self, identity: GeneratorIdentity, prepare: Callable[[], Launch]) -> None:
        self._identity = identity
        self._server = OwnServer(prepare)

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers; the hash of its weights is the revision."""
        return self._identity

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        seconds: float = SECONDS,
    ) -> TextStream:
        """Begin a reply; the process is started first where none runs, which takes seconds of its own.

        Raises InvalidInputError; ModelError when the model cannot be started, and with the pieces.
        """
        check_asked(messages, max_tokens, temperature, stop, seconds)
        running = self._server.running()
        endpoint = ChatEndpoint(
            f"{running.address}/v1", self._identity.name, self._identity.context_tokens, key=running.key
        )
        reply = EndpointGenerator(endpoint, LOCAL_TIMEOUTS).stream(
            messages, max_tokens=max_tokens, temperature=temperature, stop=stop, seconds=seconds
        )
        return _LocalStream(reply, running)

    def close(self) -> None:
        """End the process, if one runs. Calling it twice does nothing more."""
        self._server.close()


class _LocalStream:
    """A reply of our own process: where it fails because that died, the next reply finds it dead."""

    def __init__(self, reply: TextStream, running: Running) -> None:
        self._reply = reply
        self._running = running

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        try:
            return next(self._reply)
        except ModelError:
            await_death(self._running)
            raise

    def close(self) -> None:
        self._reply.close()


def launch_of(name: str, weights: Path, context_tokens: int, threads: int) -> Launch:
    """Return how to run a GGUF file. Raises MissingExtraError where the library is not installed."""
    if find_spec(RUNTIME) is None:
        raise MissingExtraError(f"{RUNTIME}, which runs {name}, is not installed.", "Run `pip install 'twofold[llm]'`.")
    # without -P the modules next to the script would hide those of the standard library
    command = (sys.executable, "-P", str(CHILD))
    return Launch(name, command, {"model": str(weights), "context": context_tokens, "threads": threads})
