"""Conversations as the page keeps them: questions with their answers, for the token that asked them alone."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.server.auth import Action, Grant
from twofold.server.errors import refused
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.schemas.requests import IndexText, Strict
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, Service, encoded, require

MAX_TURNS = 200
MAX_TITLE_LENGTH = 200

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=GuardedRoute)
ConversationId = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,64}$", description="A name of the client's own.")]


class TalkTurn(Strict):
    """A question, its answer as the page had it, when it was asked, and what its reader thinks of it."""

    question: Annotated[str, Field(min_length=1, max_length=DEFAULT_LIMITS.query_characters)]
    answer: dict[str, Any]
    asked: Annotated[str, Field(max_length=40)] = ""
    rating: Annotated[int, Field(ge=-1, le=1)] = 0


class ConversationRequest(Strict):
    """A whole conversation."""

    title: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_LENGTH)]
    indexes: Annotated[list[IndexText], Field(min_length=1, max_length=16)]
    turns: Annotated[list[TalkTurn], Field(max_length=MAX_TURNS)]


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """A conversation without its answers. `updated` is in UTC."""

    id: str
    title: str
    indexes: tuple[str, ...]
    updated: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversationList:
    """The caller's conversations, the newest first."""

    conversations: tuple[ConversationLine, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, whole."""

    id: str
    title: str
    indexes: tuple[str, ...]
    updated: str
    turns: tuple[dict[str, Any], ...]

    @property
    def line(self) -> ConversationLine:
        """What a listing shows of it."""
        questions = tuple(str(turn["question"]) for turn in self.turns)
        return ConversationLine(self.id, self.title, self.indexes, self.updated, questions)


@router.get("", response_model=ConversationList, openapi_extra={SCOPE: ANY_GRANT})
async def list_conversations(service: Here, caller: Caller) -> Response:
    """List the caller's own conversations with indexes that it may still read."""

    def listed() -> ConversationList:
        save = (_decoded(record) for record in service.state_db.talks(caller.id))
        return ConversationList(tuple(one.line for one in save if _may_read(caller, one.indexes)))

    return await service.answer(listed)


@router.get("/{conversation}", response_model=Conversation, openapi_extra={SCOPE: ANY_GRANT})
async def conversation_turns(conversation: ConversationId, service: Here, caller: Caller) -> Response:
    """Return one of the caller's own conversations."""
    return await service.answer(lambda: _stored_conversation(service, caller, conversation))


@router.put("/{conversation}", response_model=ConversationLine, openapi_extra={SCOPE: ANY_GRANT})
async def keep_conversation(
    conversation: ConversationId, asked: ConversationRequest, service: Here, caller: Caller
) -> Response:
    """Keep a conversation, in place of what was kept under its name; it goes with the first of its indexes to go."""
    for index in asked.indexes:
        require(caller, Action.READ, index)

    def save() -> ConversationLine:
        for index in asked.indexes:
            with service.open_index(index):
                pass
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        indexes = tuple(dict.fromkeys(asked.indexes))
        turns = tuple(turn.model_dump() for turn in asked.turns)
        made = Conversation(conversation, asked.title, indexes, now, turns)
        most = service.limits.conversations
        if not service.state_db.keep_talk((caller.id, conversation), now, indexes, encoded(made), most):
            raise refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"This token has the {most:,} conversations that are kept.",
                "Delete one.",
                kind="conversation-limit",
            )
        return made.line

    return await service.write(save)


@router.delete("/{conversation}", status_code=204, response_class=Response, openapi_extra={SCOPE: ANY_GRANT})
async def delete_conversation(conversation: ConversationId, service: Here, caller: Caller) -> Response:
    """Delete one of the caller's own conversations, if there is one."""
    await service.write(lambda: service.state_db.forget_talk(caller.id, conversation))
    return Response(status_code=204)


def _stored_conversation(service: Service, caller: Grant, identity: str) -> Conversation:
    record = service.state_db.talk(caller.id, identity)
    found = None if record is None else _decoded(record)
    if found is None or not _may_read(caller, found.indexes):
        raise refused(HTTPStatus.NOT_FOUND, "There is no such conversation.", "It may have been deleted.")
    return found


def _may_read(caller: Grant, indexes: tuple[str, ...]) -> bool:
    return all(caller.allows(Action.READ, index) for index in indexes)


def _decoded(record: bytes) -> Conversation:
    return msgspec.json.decode(record, type=Conversation)
