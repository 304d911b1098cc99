"""Text from a model on this machine: a GGUF file that llama.cpp runs in a process of its own; an extra.

The process starts with the first reply and serves the same protocol as any endpoint, on loopback and behind a key.
What the model makes of the messages that are the same for every question (its rules and examples) is kept in a file
next to its weights, and given to the next process: it is read once, not by every `ask`. Nothing of a user's is kept.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import msgspec

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.domain.generators import MAX_TOKENS, SECONDS, GeneratorIdentity, Message, Reading, TextStream
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator, check_request
from twofold.models.generators.process import Launch, LocalServer, Running, await_death
from twofold.models.generators.stream import EventStream
from twofold.models.http import Timeouts, post_json

RUNTIME = "xllamacpp"
CHILD = Path(__file__).with_name("child.py")
LOCAL_TIMEOUTS = Timeouts(silence=600.0)
"""Each reply has a limit of its own; replies wait for one another in silence."""

BATCH_TOKENS = 128
STATE, WRITING = ".state", ".writing"
MAX_STATES = 4
_MAX_RESPONSE_BYTES = 1 << 16  # bytes


class LocalGenerator:
    """Writes with a process of its own. Safe to use from several threads, which it answers one after the other."""

    def __init__(self, identity: GeneratorIdentity, prepare: Callable[[], Launch]) -> None:
        self._identity = identity
        self._server = LocalServer(prepare)

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
        check_request(messages, max_tokens, temperature, stop, seconds)
        running = self._server.running()
        endpoint = ChatEndpoint(
            f"{running.address}/v1",
            self._identity.name,
            self._identity.context_tokens,
            key=running.key,
            tells_reading=True,
        )
        ask = partial(EndpointGenerator(endpoint, LOCAL_TIMEOUTS).stream, seconds=seconds)
        reply = ask(messages, max_tokens=max_tokens, temperature=temperature, stop=stop)
        fixed = [one for one in messages if one.fixed]
        if not fixed or not running.states or list(messages[: len(fixed)]) != fixed:
            return _LocalStream(reply, running)
        state = _State(running, _name_of(self._identity, fixed))
        first = None if state.restored() else ask([*fixed, Message("user", "?")], max_tokens=1)
        return _LocalStream(reply, running, first, state)

    def close(self) -> None:
        """End the process, if one runs. Calling it twice does nothing more."""
        self._server.close()


class _State:
    """What a model made of the messages that are the same for every question, in a file."""

    def __init__(self, running: Running, name: str) -> None:
        self._running = running
        self._path = Path(running.states) / name

    def restored(self) -> bool:
        """Restore what the process knew; return whether there was anything, and it took it."""
        if not self._path.is_file():
            return False
        if self._post_action("restore", self._path.name):
            return True
        with suppress(OSError):
            self._path.unlink()
        return False

    def keep(self) -> None:
        """Keep what the process knows now, at most a few such files; a disk that is full or not ours is left alone."""
        unfinished = self._path.with_suffix(WRITING)
        with suppress(OSError):
            if self._post_action("save", unfinished.name):
                unfinished.replace(self._path)
            others = sorted(self._path.parent.glob(f"*{STATE}"), key=lambda one: one.stat().st_mtime)
            for old in others[:-MAX_STATES]:
                old.unlink()

    def _post_action(self, action: str, filename: str) -> bool:
        url = f"{self._running.address}/slots/0?action={action}"
        credentials = {"Authorization": f"Bearer {self._running.key}"}
        try:
            post_json(
                url, msgspec.json.encode({"filename": filename}), credentials, LOCAL_TIMEOUTS, _MAX_RESPONSE_BYTES
            )
        except ModelError:
            return False
        return True


class _LocalStream:
    """A reply of our own process: where it fails because that died, the next reply finds it dead.

    With a `first` the model reads first what is the same for every question, and that is kept.
    """

    def __init__(
        self, reply: EventStream, running: Running, first: EventStream | None = None, state: _State | None = None
    ) -> None:
        self._reply = reply
        self._running = running
        self._first = first
        self._state = state

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        for _ in self._prepared():
            pass
        try:
            return next(self._reply)
        except ModelError:
            await_death(self._running)
            raise

    def reading(self) -> Iterator[Reading]:
        """Yield how far the prompt is read, until the first piece is there."""
        yield from self._prepared()
        yield from self._reply.reading()

    def _prepared(self) -> Iterator[Reading]:
        """Have the model read what is the same for every question; where that fails the reply does without."""
        if self._first is None:
            return
        yield from self._first.reading()
        with suppress(ModelError):
            if list(self._first) and self._state is not None:
                self._state.keep()
        self._first = None

    def close(self) -> None:
        if (first := self._first) is not None:
            first.close()
        self._reply.close()


def launch_of(name: str, weights: Path, context_tokens: int, threads: int) -> Launch:
    """Return how to run a GGUF file. Raises MissingExtraError where the library is not installed."""
    if find_spec(RUNTIME) is None:
        raise MissingExtraError(f"{RUNTIME}, which runs {name}, is not installed.", "Run `pip install 'twofold[llm]'`.")
    # without -P the modules next to the script would hide those of the standard library
    command = (sys.executable, "-P", str(CHILD))
    states = f"{weights.parent}/"
    told: dict[str, str | int] = {"model": str(weights), "context": context_tokens, "threads": threads}
    return Launch(name, command, {**told, "batch": BATCH_TOKENS, "states": states}, states=states)


def _name_of(identity: GeneratorIdentity, fixed: Sequence[Message]) -> str:
    """Return the name of the file of a state: other weights, another runtime or other messages have another."""
    from importlib.metadata import PackageNotFoundError, version

    runtime = ""
    with suppress(PackageNotFoundError):
        runtime = version(RUNTIME)
    told = repr((identity.revision, runtime, [(one.role, one.content) for one in fixed]))
    return f"prefix-{blake2b(told.encode(), digest_size=8).hexdigest()}{STATE}"
