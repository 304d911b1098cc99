"""What OpenAI's clients send: what is known here, what changes nothing here, and an error for everything else."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from twofold.query.history import Turn
from twofold.server.errors import refused

UNUSED = frozenset(
    {
        "frequency_penalty",
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "metadata",
        "parallel_tool_calls",
        "presence_penalty",
        "prompt_cache_key",
        "safety_identifier",
        "seed",
        "service_tier",
        "store",
        "stream_options",
        "temperature",
        "top_p",
        "truncation",
        "user",
        "verbosity",
    }
)
"""Parameters that are accepted and ignored: sampling, which this server decides, and notes of the caller."""


class OpenAiRequest(BaseModel):
    """A request in OpenAI's shape; what it holds beyond the known fields is kept, so that it can be refused."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False, frozen=True)


def refuse_unknown(asked: OpenAiRequest, also_unused: frozenset[str] = frozenset()) -> None:
    """Raise ProblemError (400) for a parameter that asks for what this server does not do."""
    extra = asked.model_extra or {}
    for name, value in extra.items():
        if name not in UNUSED | also_unused and value not in (None, [], {}, False, "", "auto", "none"):
            raise refused(
                HTTPStatus.BAD_REQUEST,
                f"`{name[:60]}` is not supported here.",
                "Leave it out. docs/server.md says what these routes take.",
                kind="unsupported-parameter",
            )


class Message(Protocol):
    """One message of a conversation."""

    @property
    def role(self) -> str:
        """Who says it."""

    @property
    def text(self) -> str:
        """The whole text."""


def question_of(messages: Sequence[Message]) -> tuple[str, tuple[Turn, ...]]:
    """Return the user's last text and the turns before it; empty if the conversation does not end with one.

    What `system` and `developer` messages say is not for the passages, and is left aside.
    """
    turns = [one for one in messages if one.role in ("user", "assistant")]
    history = tuple(Turn("user" if one.role == "user" else "assistant", one.text) for one in turns[:-1])
    ends_with_question = bool(turns) and turns[-1].role == "user" and bool(turns[-1].text.strip())
    return (turns[-1].text if ends_with_question else ""), history
