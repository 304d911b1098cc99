"""OpenAI's responses with the tool `file_search`: an answer from the vector stores that are named, with citations."""

import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.answer.events import ChunkEvent, DoneEvent, ErrorEvent, Event
from twofold.answer.types import Answer
from twofold.domain.dataclass import dataclass
from twofold.query.history import Turn
from twofold.search.engine import SearchOptions
from twofold.server.auth import Action
from twofold.server.errors import refused
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.routes.ask import answering, whole_answer
from twofold.server.routes.multi_index import answering_from
from twofold.server.routes.openai_vector_stores import RankingOptions, attributes_of, openai_filter
from twofold.server.schemas.openai import OpenAiRequest, question_of, refuse_unknown
from twofold.server.schemas.requests import IndexText, Lenient, ModelName
from twofold.server.service import (
    ANY_GRANT,
    SCOPE,
    Caller,
    GuardedRoute,
    Here,
    Service,
    encoded,
    json_response,
    require,
)
from twofold.server.streaming import EVENTS, Stream, check_room, event, event_stream, in_thread

MAX_ITEMS = 200
ALSO_UNUSED = frozenset({"include", "tool_choice", "text", "reasoning"})

router = APIRouter(prefix="/v1", tags=["compatible"], route_class=GuardedRoute)
Content = Annotated[str, Field(max_length=DEFAULT_LIMITS.turn_characters)]


class InputText(Lenient):
    """A piece of a message; images and files are refused."""

    type: Literal["input_text", "output_text", "text"]
    text: Content


class InputMessage(Lenient):
    """One message. What `system` and `developer` messages say is not for the passages, and is left aside."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Content | Annotated[list[InputText], Field(max_length=64)]
    type: Literal["message"] = "message"

    @property
    def text(self) -> str:
        """The whole text."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class FileSearchTool(OpenAiRequest):
    """The one tool there is: a search of indexes."""

    type: Literal["file_search"]
    vector_store_ids: Annotated[list[IndexText], Field(min_length=1, max_length=16)]
    max_num_results: Annotated[int, Field(ge=1, le=50)] | None = None
    filters: dict[str, Any] | None = None
    ranking_options: RankingOptions | None = None


class ResponseRequest(OpenAiRequest):
    """A question, or a conversation that ends with one; without a tool `model` names the index that answers it."""

    model: ModelName
    input: Content | Annotated[list[InputMessage], Field(min_length=1, max_length=MAX_ITEMS)]
    tools: Annotated[list[FileSearchTool], Field(max_length=1)] = Field(default_factory=list)
    instructions: Annotated[str, Field(max_length=DEFAULT_LIMITS.turn_characters)] | None = None
    stream: bool = False

    @property
    def indexes(self) -> list[str]:
        """The names of the indexes that are asked."""
        return self.tools[0].vector_store_ids if self.tools else [self.model]


@dataclass(frozen=True, slots=True)
class FileCitation:
    """Where a sentence comes from; `index` is the place in the text behind it."""

    index: int
    file_id: str
    filename: str
    type: Literal["file_citation"] = "file_citation"


@dataclass(frozen=True, slots=True)
class OutputText:
    """What is answered."""

    text: str
    annotations: tuple[FileCitation, ...]
    type: Literal["output_text"] = "output_text"
    logprobs: tuple[()] = ()


@dataclass(frozen=True, slots=True)
class OutputMessage:
    """The answer as a message."""

    id: str
    content: tuple[OutputText, ...]
    role: Literal["assistant"] = "assistant"
    status: Literal["completed", "in_progress"] = "completed"
    type: Literal["message"] = "message"


@dataclass(frozen=True, slots=True)
class FoundText:
    """A passage that was found."""

    file_id: str
    filename: str
    score: float
    text: str
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileSearchCall:
    """The search that was made, and the passages that the answer was made from."""

    id: str
    queries: tuple[str, ...]
    results: tuple[FoundText, ...]
    status: Literal["completed"] = "completed"
    type: Literal["file_search_call"] = "file_search_call"


@dataclass(frozen=True, slots=True)
class InputDetails:
    """No token comes from a cache."""

    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class OutputDetails:
    """No token is hidden."""

    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ResponseUsage:
    """Tokens that a model was given and gave; none where no model wrote."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    input_tokens_details: InputDetails = InputDetails()
    output_tokens_details: OutputDetails = OutputDetails()


@dataclass(frozen=True, slots=True)
class ResponseObject:
    """An answer, as OpenAI's clients read it."""

    id: str
    created_at: int
    model: str
    status: Literal["completed", "in_progress"]
    output: tuple[FileSearchCall | OutputMessage, ...]
    usage: ResponseUsage | None = None
    object: Literal["response"] = "response"
    error: None = None
    incomplete_details: None = None
    instructions: None = None
    metadata: dict[str, str] | None = None
    parallel_tool_calls: bool = False
    tool_choice: Literal["auto"] = "auto"
    tools: tuple[dict[str, Any], ...] = ()


@router.post(
    "/responses", response_model=ResponseObject, responses={200: {"content": EVENTS}}, openapi_extra={SCOPE: ANY_GRANT}
)
async def respond(asked: ResponseRequest, service: Here, caller: Caller) -> Response:
    """Answer a question from the vector stores that the tool `file_search` names."""
    refuse_unknown(asked, ALSO_UNUSED)
    for name in asked.indexes:
        require(caller, Action.READ, name)
    question, history = _parted(asked)
    tool = asked.tools[0] if asked.tools else None
    options = SearchOptions(
        k=tool.max_num_results if tool else None, filter=openai_filter(tool.filters if tool else None), history=history
    )
    check_room(service)
    events = in_thread(service, _begin(service, asked.indexes, question, options))
    begun = await anext(events)
    made = partial(_response, f"resp_{secrets.token_hex(12)}", int(time.time()), asked, question)
    if asked.stream:
        return event_stream(service, _streamed(made, begun, events))
    return json_response(encoded(made(await whole_answer(service, begun, events))))


def _begin(
    service: Service, names: list[str], question: str, options: SearchOptions
) -> Callable[[], AbstractContextManager[Stream[Event]]]:
    if len(names) == 1:
        return lambda: answering(service, (names[0], ""), question, options)
    return lambda: answering_from(service, (names, ""), question, options, None)


def _parted(asked: ResponseRequest) -> tuple[str, tuple[Turn, ...]]:
    """Part the last question from what was said before it."""
    whole = [InputMessage(role="user", content=asked.input)] if isinstance(asked.input, str) else asked.input
    question, history = question_of(whole)
    if not question:
        raise refused(HTTPStatus.UNPROCESSABLE_ENTITY, "The input ends with no question.", "End with the user's text.")
    return question, history


def _response(
    identity: str, created: int, asked: ResponseRequest, question: str, answer: Answer | None
) -> ResponseObject:
    """Return the whole response; without an answer the one that a stream begins with."""
    tools = tuple(one.model_dump(exclude_none=True) for one in asked.tools)
    if answer is None:
        return ResponseObject(identity, created, asked.model, "in_progress", (), tools=tools)
    found = tuple(
        FoundText(one.document, one.source, one.score, one.text, attributes_of(one.metadata)) for one in answer.sources
    )
    call = FileSearchCall(f"fs{identity[4:]}", (question,), found)
    return ResponseObject(
        identity, created, asked.model, "completed", (call, _message(identity, answer)), _usage(answer), tools=tools
    )


def _message(identity: str, answer: Answer) -> OutputMessage:
    cited = tuple(
        FileCitation(sentence.end, answer.citations[place].document, answer.citations[place].source)
        for sentence in answer.sentences
        for place in sentence.citations
    )
    return OutputMessage(f"msg{identity[4:]}", (OutputText(answer.text, cited),))


def _usage(answer: Answer) -> ResponseUsage:
    used = answer.usage
    if used is None:
        return ResponseUsage()
    return ResponseUsage(used.prompt_tokens, used.reply_tokens, used.prompt_tokens + used.reply_tokens)


async def _streamed(
    made: Callable[[Answer | None], ResponseObject], begun: Event, events: AsyncGenerator[Event]
) -> AsyncGenerator[bytes]:
    """Write an answer as the events of a response, numbered in their order."""
    numbers = count()
    empty = made(None)
    message = OutputMessage(f"msg{empty.id[4:]}", (), status="in_progress")
    place: dict[str, object] = {"item_id": message.id, "output_index": 1, "content_index": 0}

    def encode_event(kind: str, **parts: object) -> bytes:
        return event(kind, {"type": kind, "sequence_number": next(numbers), **parts})

    try:
        yield encode_event("response.created", response=empty)
        yield encode_event("response.output_item.added", output_index=1, item=message)
        yield encode_event("response.content_part.added", **place, part=OutputText("", ()))
        one: Event | None = begun
        while one is not None:
            if isinstance(one, ChunkEvent):
                yield encode_event("response.output_text.delta", **place, delta=one.content, logprobs=[])
            elif isinstance(one, DoneEvent):
                for kind, parts in _ended(made(one.answer), place):
                    yield encode_event(kind, **parts)
                break
            elif isinstance(one, ErrorEvent):
                yield encode_event("error", message=one.message, code=str(one.status), param=None)
                break
            one = await anext(events, None)
    finally:
        await events.aclose()


def _ended(whole: ResponseObject, place: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the events that end a response: text, part, message, all of it."""
    message = next(one for one in whole.output if isinstance(one, OutputMessage))
    (part,) = message.content
    yield "response.output_text.done", {**place, "text": part.text, "logprobs": []}
    yield "response.content_part.done", {**place, "part": part}
    yield "response.output_item.done", {"output_index": 1, "item": message}
    yield "response.completed", {"response": whole}
