"""Answers as OpenAI's chat clients ask for them: an index is a model, and citations are annotations."""

import secrets
import time
from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.answer.events import ChunkEvent, DoneEvent, ErrorEvent, Event
from twofold.answer.types import Answer, Citation
from twofold.domain.dataclass import dataclass
from twofold.query.history import Turn
from twofold.search.engine import SearchOptions
from twofold.server.auth import Action
from twofold.server.errors import refused
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.routes.ask import answering, whole_answer
from twofold.server.schemas.openai import OpenAiRequest, question_of, refuse_unknown
from twofold.server.schemas.requests import Lenient, ModelName
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, encoded, json_response, require
from twofold.server.streaming import EVENTS, check_room, data, event_stream, in_thread

DONE = b"data: [DONE]\n\n"
MAX_MESSAGES = 200

router = APIRouter(prefix="/v1", tags=["compatible"], route_class=GuardedRoute)
Content = Annotated[str, Field(max_length=DEFAULT_LIMITS.turn_characters)]


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """An index, listed as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "twofold"


@dataclass(frozen=True, slots=True)
class ModelsResponse:
    """The indexes that the caller may read, as models."""

    data: tuple[ModelResponse, ...]
    object: Literal["list"] = "list"


@router.get("/models", response_model=ModelsResponse, openapi_extra={SCOPE: ANY_GRANT})
async def models(service: Here, caller: Caller) -> Response:
    """List the indexes as models."""

    def listed() -> ModelsResponse:
        return ModelsResponse(
            tuple(ModelResponse(name) for name in service.indexes.names() if caller.allows(Action.READ, name))
        )

    return await service.answer(listed)


class TextPart(Lenient):
    """A piece of a message; pieces that are no text are refused."""

    type: Literal["text"]
    text: Content


class MessageRequest(Lenient):
    """One message. What `system` and `developer` messages say is not for the passages, and is left aside."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Content | Annotated[list[TextPart], Field(max_length=64)]

    @property
    def text(self) -> str:
        """The whole text."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class ChatRequest(OpenAiRequest):
    """A conversation that ends with a question; `model` names the index that answers it."""

    model: ModelName
    messages: Annotated[list[MessageRequest], Field(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool = False
    n: Annotated[int, Field(ge=1, le=1)] | None = 1


@dataclass(frozen=True, slots=True)
class UrlCitation:
    """Where a stretch of the answer comes from: the passage in this server, and the document's name."""

    start_index: int
    end_index: int
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A citation; `twofold` holds what can be checked: document, page, span, the words themselves."""

    url_citation: UrlCitation
    twofold: Citation
    type: Literal["url_citation"] = "url_citation"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What is answered."""

    content: str
    annotations: tuple[Annotation, ...]
    role: Literal["assistant"] = "assistant"
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The one answer there is."""

    message: ChatMessage
    index: int = 0
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Tokens that a model was given and gave; none where no model wrote."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """An answer, as OpenAI's clients read it."""

    id: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: ChatUsage
    object: Literal["chat.completion"] = "chat.completion"


@router.post(
    "/chat/completions",
    response_model=ChatResponse,
    responses={200: {"content": EVENTS}},
    openapi_extra={SCOPE: ANY_GRANT},
)
async def chat(asked: ChatRequest, service: Here, caller: Caller) -> Response:
    """Answer the last question of a conversation from the index that `model` names."""
    refuse_unknown(asked)
    require(caller, Action.READ, asked.model)
    question, history = _parted(asked.messages)
    check_room(service)
    options = SearchOptions(history=history)
    events = in_thread(service, lambda: answering(service, (asked.model, ""), question, options))
    begun = await anext(events)
    identity, created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())
    if asked.stream:
        return event_stream(service, _chunks(identity, created, asked.model, begun, events))
    answer = await whole_answer(service, begun, events)
    message = ChatMessage(answer.text, _annotations(asked.model, answer))
    given = ChatResponse(identity, created, asked.model, (Choice(message),), _usage(answer))
    return json_response(encoded(given))


def _parted(messages: list[MessageRequest]) -> tuple[str, tuple[Turn, ...]]:
    """Part the last question from what was said before it."""
    question, history = question_of(messages)
    if not question:
        raise refused(
            HTTPStatus.UNPROCESSABLE_ENTITY, "The last message is no question.", "End with a message of role `user`."
        )
    return question, history


async def _chunks(
    identity: str, created: int, model: str, begun: Event, events: AsyncGenerator[Event]
) -> AsyncGenerator[bytes]:
    """Write an answer as OpenAI's servers stream it; the annotations come with the last piece."""

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return data(
            {
                "id": identity,
                "object": "chat.completion.chunk",
                "created": created,
                "model": model,
                "choices": [choice],
            }
        )

    try:
        yield chunk({"role": "assistant", "content": ""})
        one: Event | None = begun
        while one is not None:
            if isinstance(one, ChunkEvent):
                yield chunk({"content": one.content})
            elif isinstance(one, DoneEvent):
                yield chunk({"annotations": _annotations(model, one.answer)}, "stop")
                break
            elif isinstance(one, ErrorEvent):
                yield data({"error": {"message": one.message, "type": "no-answer", "code": one.status}})
                break
            one = await anext(events, None)
        yield DONE
    finally:
        await events.aclose()


def _annotations(index: str, answer: Answer) -> tuple[Annotation, ...]:
    """Return for each sentence its sources."""
    return tuple(
        Annotation(
            UrlCitation(
                sentence.start,
                sentence.end,
                answer.citations[place].title or answer.citations[place].source,
                f"/v1/indexes/{index}/documents/{answer.citations[place].document}/content",
            ),
            answer.citations[place],
        )
        for sentence in answer.sentences
        for place in sentence.citations
    )


def _usage(answer: Answer) -> ChatUsage:
    used = answer.usage
    if used is None:
        return ChatUsage()
    return ChatUsage(used.prompt_tokens, used.reply_tokens, used.prompt_tokens + used.reply_tokens)
