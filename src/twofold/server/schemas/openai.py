"""What OpenAI's clients send: what is known here, what changes nothing here, and an error for everything else."""

from http import HTTPStatus

from pydantic import BaseModel, ConfigDict

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
"""What may be said and changes nothing: how a model samples, which this server decides, and what the caller notes."""


class OpenAiRequest(BaseModel):
    """A request in OpenAI's shape; what it holds beyond the known fields is kept, so that it can be refused."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False, frozen=True)


def refuse_unknown(asked: OpenAiRequest, also_unused: frozenset[str] = frozenset()) -> None:
    """Raise ProblemError (400) for a parameter that asks for what this server does not do."""
    said = asked.model_extra or {}
    for name, value in said.items():
        if name not in UNUSED | also_unused and value not in (None, [], {}, False, "", "auto", "none"):
            raise refused(
                HTTPStatus.BAD_REQUEST,
                f"`{name[:60]}` is not supported here.",
                "Leave it out. docs/server.md says what these routes take.",
                kind="unsupported-parameter",
            )
