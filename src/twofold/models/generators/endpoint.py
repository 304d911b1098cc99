"""Text from a server that speaks `POST {address}/chat/completions` as OpenAI does: Ollama, vLLM, llama.cpp and more.

The key goes to that host alone: redirections are refused, and neither messages nor `repr` show it.
"""

from collections.abc import Sequence
from dataclasses import field

import msgspec

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.generators import MAX_TOKENS, SECONDS, GeneratorIdentity, Message
from twofold.models.generators.stream import EventStream
from twofold.models.http import Request, Timeouts, host_of, sendable
from twofold.models.routes import route_of

WRITING_TIMEOUTS = Timeouts(silence=60.0)
"""A slow machine reads a long prompt for most of a minute before it writes the first word."""

MAX_REPLY_TOKENS = 100_000
HOTTEST = 2.0
MAX_STOPS = 4
MAX_LENGTH = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Where to ask and for what.

    `address` ends before `/chat/completions`, as in `http://localhost:11434/v1`. Some servers call the limit
    `max_completion_tokens`, and some models accept no temperature but their own (`own_temperature`).
    A server that `tells_reading` is asked how far it has read the prompt, as llama.cpp's can say.
    With an `api_version` it is an address of Azure OpenAI, and `model` the name of a deployment.
    """

    address: str
    model: str
    context_tokens: int = 4096
    limit_name: str = "max_tokens"
    own_temperature: bool = False
    tells_reading: bool = False
    api_version: str = ""
    key: str = field(default="", repr=False)

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers. The host counts as the revision: another server may run other weights."""
        return GeneratorIdentity(self.model, host_of(self.address), self.context_tokens)


class EndpointGenerator:
    """Writes over HTTP. Safe to use from several threads, each with a connection of its own."""

    def __init__(self, endpoint: ChatEndpoint, timeouts: Timeouts = WRITING_TIMEOUTS) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers."""
        return self._endpoint.identity

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        seconds: float = SECONDS,
    ) -> EventStream:
        """Begin a reply. Raises InvalidInputError; ModelError comes with the pieces: see the port."""
        check_request(messages, max_tokens, temperature, stop, seconds)
        endpoint = self._endpoint
        asked: dict[str, object] = {
            "model": endpoint.model,
            "messages": [{"role": one.role, "content": sendable(one.content)} for one in messages],
            "stream": True,
            endpoint.limit_name: max_tokens,
        }
        if not endpoint.own_temperature:
            asked["temperature"] = temperature
        if endpoint.tells_reading:
            asked["return_progress"] = True
        if stop:
            asked["stop"] = list(stop)
        return EventStream(_request(endpoint, asked), self._timeouts, max_tokens, seconds)

    def close(self) -> None:
        """Do nothing: no connection outlives its reply."""


def check_request(
    messages: Sequence[Message], max_tokens: int, temperature: float, stop: Sequence[str], seconds: float
) -> None:
    """Refuse what no model can be asked. Raises InvalidInputError."""
    if not messages:
        raise InvalidInputError("A model cannot answer no messages.", "Give at least one.")
    if not 1 <= max_tokens <= MAX_REPLY_TOKENS:
        raise InvalidInputError(
            f"max_tokens must be from 1 to {MAX_REPLY_TOKENS:,}, not {max_tokens}.", "Ask for less."
        )
    if not 0.0 <= temperature <= HOTTEST:
        raise InvalidInputError(
            f"The temperature must be from 0 to {HOTTEST:g}, not {temperature}.", "Use 0 for the same reply each time."
        )
    if not 0.0 < seconds <= MAX_LENGTH:
        raise InvalidInputError(
            f"A reply cannot take {seconds} s.", f"Give it from above 0 to {MAX_LENGTH:,.0f} seconds."
        )
    if len(stop) > MAX_STOPS or not all(stop):
        raise InvalidInputError(f"At most {MAX_STOPS} texts can stop a reply, none of them empty.", "Name fewer.")


def _request(endpoint: ChatEndpoint, asked: dict[str, object]) -> Request:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream", "User-Agent": "twofold"}
    route = route_of(endpoint.address, endpoint.model, "chat/completions", endpoint.key, endpoint.api_version)
    return Request(route.url, msgspec.json.encode(asked), {**headers, **route.credentials}, redirects=False)
