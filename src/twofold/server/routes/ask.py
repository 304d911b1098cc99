"""The route that answers: a question, and an answer whose citations can be checked, as events or whole."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response

from twofold.answer.events import DoneEvent, ErrorEvent, Event, SourcesEvent
from twofold.answer.types import Answer, Source
from twofold.answering import Answering
from twofold.domain.generators import Generator
from twofold.search.engine import SearchOptions
from twofold.server.auth import Action, Grant
from twofold.server.errors import Problem, ProblemError, refused
from twofold.server.schemas.requests import ForAnswer, InSession, Query
from twofold.server.schemas.responses import shown
from twofold.server.service import Caller, GuardedRoute, Here, IndexName, Service, encoded, json_response, needs
from twofold.server.streaming import EVENTS, TOO_LONG, Stream, check_room, event, event_stream, in_thread

Writer = str | Generator | None
"""Who writes an answer: a model, `none` for sentences of the documents, None for the model of the index."""

router = APIRouter(prefix="/v1/indexes/{index}", tags=["answers"], route_class=GuardedRoute)


class AskRequest(ForAnswer, InSession):
    """A question to be answered."""

    query: Query


@router.post(
    "/ask",
    response_model=Answer,
    responses={200: {"content": EVENTS}},
    openapi_extra=needs(Action.READ),
)
async def ask(index: IndexName, asked: AskRequest, service: Here, caller: Caller) -> Response:
    """Answer a question, in events `stage`, `sources`, `answer_chunk`, `citation`, `done`, `error`, or whole."""
    options = asked.options(caller)
    options = replace(options, session=options.session if asked.session else "")
    check_room(service)
    if asked.session:
        await service.run(lambda: _begin(service, index, caller, asked.session))
    where = (index, asked.as_of)
    begin = partial(answering, service, where, asked.query, options, writer_of(service, asked))
    return await answer_response(service, begin, stream=asked.stream)


@router.delete("/sessions/{session:path}", status_code=204, response_class=Response, openapi_extra=needs(Action.READ))
async def delete_session(
    index: IndexName,
    session: Annotated[str, Path(min_length=1, max_length=100, description="The name of a conversation.")],
    service: Here,
    caller: Caller,
) -> Response:
    """Delete a conversation of the caller's own, if there is one."""

    def deleted() -> None:
        with service.open_index(index) as held:
            held.delete_session(caller.conversation(session))
        service.state_db.end_conversation(index, caller.id, session)

    await service.write(deleted)
    return Response(status_code=204)


def _begin(service: Service, index: str, caller: Grant, session: str) -> None:
    """Note that a caller converses with an index. Raises NotFoundError, ProblemError (429) for one too many."""
    most = service.limits.conversations
    with service.open_index(index):
        begun = service.state_db.begin_conversation(index, caller.id, session, most)
    if not begun:
        raise refused(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"This token has the {most:,} conversations with an index that are kept.",
            "Go on in one of them, delete one, or ask without `session`.",
            kind="conversation-limit",
        )


async def answer_response(
    service: Service, begin: Callable[[], AbstractContextManager[Stream[Event]]], *, stream: bool
) -> Response:
    """Send an answer, as events or whole. Raises ProblemError for what cannot be asked, before any event."""
    events = in_thread(service, begin)
    begun = await anext(events)
    if stream:
        return event_stream(service, _encoded_answer(begun, events))
    return json_response(encoded(await whole_answer(service, begun, events)))


@contextmanager
def answering(
    service: Service, where: tuple[str, str], question: str, options: SearchOptions, writer: Writer = None
) -> Iterator[Stream[Event]]:
    """Hold an index while it answers; `where` is its name, and the snapshot that is meant or nothing for today."""
    with service.open_index(*where) as held:
        yield Shown(opened(held, question, options, writer))


class Shown:
    """The events of an answer without what is not for clients: what a sync notes for itself, the token's id."""

    def __init__(self, stream: Stream[Event]) -> None:
        self._stream = stream

    def __iter__(self) -> "Shown":
        return self

    def __next__(self) -> Event:
        """Wait for the next event."""
        one = next(self._stream)
        if isinstance(one, SourcesEvent):
            return replace(one, sources=_shown(one.sources))
        if isinstance(one, DoneEvent):
            answer, (_, _, session) = one.answer, one.answer.session.partition("/")
            return replace(one, answer=replace(answer, sources=_shown(answer.sources), session=session))
        return one

    def close(self) -> None:
        """Stop."""
        self._stream.close()


def _shown(sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(replace(one, metadata=shown(one.metadata)) for one in sources)


def writer_of(service: Service, asked: ForAnswer) -> Writer:
    """Return who is to write an answer. Raises InvalidInputError for a model that the server was not started with."""
    if asked.mode == "extractive":
        return "none"
    return service.models.named(asked.model) if asked.model else None


def opened(index: Answering, question: str, options: SearchOptions, writer: Writer) -> Stream[Event]:
    """Begin an answer, by a model that the server was started with or with sentences of the documents."""
    unread = {} if options.rerank is None else {"rerank.model": "none"}
    return index.ask_stream(
        question,
        llm=writer,
        k=options.k,
        mode=options.mode,
        filter=options.filter,
        profile=options.profile,
        settings={**options.settings, **unread},
        history=options.history,
        session=options.session,
        effort=options.effort,
    )


async def whole_answer(service: Service, begun: Event, events: AsyncGenerator[Event]) -> Answer:
    """Wait for the answer. Raises ProblemError without one in time."""
    last = begun
    try:
        async with asyncio.timeout(service.limits.stream_seconds):
            async for one in events:
                last = one
                if isinstance(one, DoneEvent | ErrorEvent):
                    break
    except TimeoutError:
        raise ProblemError(TOO_LONG) from None
    finally:
        await events.aclose()
    if isinstance(last, DoneEvent):
        return last.answer
    raise broken(last)


def broken(last: Event) -> ProblemError:
    """Return why there is no answer."""
    if isinstance(last, ErrorEvent):
        return ProblemError(Problem("no-answer", "No answer", last.status, last.message, last.hint))
    return ProblemError(Problem("no-answer", "Bad Gateway", 502, "The answer was cut off.", "Ask again."))


async def _encoded_answer(begun: Event, events: AsyncGenerator[Event]) -> AsyncGenerator[bytes]:
    try:
        yield event(begun.type, begun)
        if isinstance(begun, DoneEvent | ErrorEvent):
            return
        async for one in events:
            yield event(one.type, one)
            if isinstance(one, DoneEvent | ErrorEvent):
                return
    finally:
        await events.aclose()
