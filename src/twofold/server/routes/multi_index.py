"""The routes that ask several indexes at once: search, explain, answer. The caller must be allowed to read each."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.answer.events import Event
from twofold.answer.types import Answer
from twofold.domain.errors import InvalidInputError, NotFoundError, TwofoldError
from twofold.index import Index
from twofold.multi_index import MultiIndex, UnavailableIndex
from twofold.search.engine import SearchOptions
from twofold.search.result import SearchResult
from twofold.server.auth import Action, Grant
from twofold.server.routes.ask import Shown, Writer, answer_response, opened, writer_of
from twofold.server.schemas.requests import AsOfField, ForAnswer, ForResults, IndexText, Query, QueryOptions
from twofold.server.schemas.responses import SearchResponse, explanation_response, search_response
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, Service, require
from twofold.server.streaming import EVENTS, Stream

MAX_INDEXES = 16

router = APIRouter(prefix="/v1", tags=["several indexes"], route_class=GuardedRoute)


class ToIndexes(QueryOptions):
    """A question to several indexes; the settings of the first hold for all that is done with what they find."""

    indexes: Annotated[list[IndexText], Field(min_length=1, max_length=MAX_INDEXES, description="Each once.")]
    query: Query
    as_of: AsOfField = ""


class MultiSearchRequest(ForResults, ToIndexes):
    """A search of several indexes."""


class MultiAskRequest(ForAnswer, ToIndexes):
    """A question to be answered from several indexes; what was said before comes as `history`."""


@router.post("/search", response_model=SearchResponse, openapi_extra={SCOPE: ANY_GRANT})
async def search_multi(asked: MultiSearchRequest, service: Here, caller: Caller) -> Response:
    """Find the passages of several indexes that answer a question best; each hit's `collection` is its index."""
    _require_all(caller, asked.indexes)

    def found() -> SearchResponse:
        with together(service, asked.indexes, asked.as_of) as several:
            return search_response(several.search(asked.query, asked.options(caller)))

    return await service.answer(found)


@router.post("/explain", response_model=SearchResult, openapi_extra={SCOPE: ANY_GRANT})
async def explain_multi(asked: MultiSearchRequest, service: Here, caller: Caller) -> Response:
    """Search several indexes, and give with each passage the whole trace from which its score can be recomputed."""
    _require_all(caller, asked.indexes)

    def explained() -> SearchResult:
        with together(service, asked.indexes, asked.as_of) as several:
            return explanation_response(several.search(asked.query, asked.options(caller)))

    return await service.answer(explained)


@router.post(
    "/ask",
    response_model=Answer,
    responses={200: {"content": EVENTS}},
    openapi_extra={SCOPE: ANY_GRANT},
)
async def ask_multi(asked: MultiAskRequest, service: Here, caller: Caller) -> Response:
    """Answer a question from several indexes, in the events of one; sources and citations name their `collection`."""
    _require_all(caller, asked.indexes)
    options = asked.options(caller)
    where = (asked.indexes, asked.as_of)
    begin = partial(answering_from, service, where, asked.query, options, writer_of(service, asked))
    return await answer_response(service, begin, stream=asked.stream)


@contextmanager
def together(service: Service, names: Sequence[str], as_of: str = "") -> Iterator[MultiIndex]:
    """Hold several indexes, as they are or each as it was; one that cannot be opened is left out, and named by answers.

    Raises InvalidInputError for one that is named twice, NotFoundError for one that is not there, or was not then.
    """
    if len(set(names)) < len(names):
        raise InvalidInputError("An index is named twice.", "Name each once.")
    held: dict[str, Index] = {}
    lost: list[UnavailableIndex] = []
    with ExitStack() as stack:
        for name in names:
            try:
                held[name] = stack.enter_context(service.open_index(name, as_of))
            except NotFoundError:
                raise
            except TwofoldError as error:
                lost.append(UnavailableIndex(name, error))
        if not held:
            raise lost[-1].error
        yield stack.enter_context(MultiIndex(held, lost))


@contextmanager
def answering_from(
    service: Service, where: tuple[Sequence[str], str], question: str, options: SearchOptions, writer: Writer
) -> Iterator[Stream[Event]]:
    """Hold several indexes while they answer as one; `where` are their names, and the snapshot or nothing for today."""
    with together(service, *where) as several:
        yield Shown(opened(several, question, options, writer))


def _require_all(caller: Grant, names: Sequence[str]) -> None:
    """Raise ProblemError (403) unless the caller may read every index, whether or not there is one of that name."""
    for name in names:
        require(caller, Action.READ, name)
