"""The routes that search: one question, many, with the whole explanation, why not, and what people thought of it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated

from fastapi import APIRouter, Query, Response

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.index import Index
from twofold.query.synonyms import read_rules
from twofold.search.engine import SearchOptions
from twofold.search.explain import explained
from twofold.search.result import SearchResult
from twofold.search.why_not import WhyNot
from twofold.server.auth import Action
from twofold.server.errors import refused
from twofold.server.routes.judgements import FEEDBACK
from twofold.server.schemas.requests import (
    BatchRequest,
    FeedbackRequest,
    SearchRequest,
    SynonymsRequest,
    WhyNotRequest,
    filter_of,
)
from twofold.server.schemas.responses import (
    BatchResponse,
    FeedbackResponse,
    SearchResponse,
    SuggestResponse,
    SynonymsResponse,
    batch_response,
    explanation_response,
    search_response,
)
from twofold.server.service import AsOf, Caller, GuardedRoute, Here, IndexName, encoded, needs

Typed = Annotated[str, Query(max_length=256, description="What is typed so far.")]
SuggestionCount = Annotated[int, Query(ge=1, le=50, description="How many suggestions to give.")]
FilterText = Annotated[str | None, Query(max_length=4_000, description="Only of documents that pass this filter.")]
router = APIRouter(prefix="/v1/indexes/{index}", tags=["search"], route_class=GuardedRoute)


def searched(index: Index, query: str, options: SearchOptions) -> SearchResult:
    """Search as `options` says."""
    return index.searcher.search(query, options)


@router.post("/search", response_model=SearchResponse, openapi_extra=needs(Action.READ))
async def search(index: IndexName, asked: SearchRequest, service: Here, caller: Caller) -> Response:
    """Find the passages that answer a question best."""

    def found() -> SearchResponse:
        options = asked.options(caller)
        with service.open_index(index, asked.as_of) as held:
            return search_response(searched(held, asked.query, options), highlight=asked.highlight)

    return await service.answer(found)


@router.post("/search:batch", response_model=BatchResponse, openapi_extra=needs(Action.READ))
async def search_batch(index: IndexName, asked: BatchRequest, service: Here, caller: Caller) -> Response:
    """Search for many questions at once; each is ranked for itself."""

    def found() -> BatchResponse:
        options = asked.options(caller)
        with service.open_index(index, asked.as_of) as held:
            return batch_response(held.search_many(asked.queries, options))

    return await service.answer(found)


@router.get("/suggest", response_model=SuggestResponse, openapi_extra=needs(Action.READ))
async def suggest(  # each is one of the address's
    index: IndexName,
    service: Here,
    q: Typed = "",
    k: SuggestionCount = 8,
    filter: FilterText = None,  # noqa: A002
    as_of: AsOf = "",
) -> Response:
    """Return how a question may go on while it is typed: titles, phrases and words of the documents."""

    def found() -> SuggestResponse:
        condition = filter_of(filter)
        with service.open_index(index, as_of) as held:
            return SuggestResponse(tuple(held.suggest(q, k=k, filter=condition)))

    return await service.answer(found)


@router.get("/synonyms", response_model=SynonymsResponse, openapi_extra=needs(Action.READ))
async def synonyms(index: IndexName, service: Here) -> Response:
    """Return the rules of the index's synonyms as they were written."""

    def run() -> SynonymsResponse:
        with service.open_index(index) as held:
            rules = held.get_synonyms()
            return SynonymsResponse(rules, len(read_rules(rules)))

    return await service.answer(run)


@router.put("/synonyms", response_model=SynonymsResponse, openapi_extra=needs(Action.WRITE))
async def set_synonyms(index: IndexName, asked: SynonymsRequest, service: Here) -> Response:
    """Replace the index's synonyms; an empty text removes them."""

    def save() -> SynonymsResponse:
        with service.open_index(index) as held:
            return SynonymsResponse(asked.rules, len(held.set_synonyms(asked.rules)))

    return await service.write(save)


@router.post("/explain", response_model=SearchResult, openapi_extra=needs(Action.READ))
async def explain(index: IndexName, asked: SearchRequest, service: Here, caller: Caller) -> Response:
    """Search, and give with each passage the whole trace from which its score can be recomputed."""

    def run() -> SearchResult:
        options = asked.options(caller)
        with service.open_index(index, asked.as_of) as held:
            return explanation_response(explained(searched(held, asked.query, options), held.settings.analyzer))

    return await service.answer(run)


@router.post("/why-not", response_model=WhyNot, openapi_extra=needs(Action.READ))
async def why_not(index: IndexName, asked: WhyNotRequest, service: Here, caller: Caller) -> Response:
    """Return which stage of a search lost a document, and the smallest change that brings it back."""

    def run() -> WhyNot:
        options = asked.options(caller)
        with service.open_index(index, asked.as_of) as held:
            return held.why_not(asked.query, asked.document, options)

    return await service.answer(run)


@dataclass(frozen=True, slots=True)
class _FeedbackRecord:
    at: str
    by: str
    token: str
    said: dict[str, object]


GRADES: Mapping[int, int] = MappingProxyType({-1: 0, 1: 2})
"""What ratings are as judgements: of 0 (does not answer) to 3 (answers perfectly)."""


def _source_of(held: Index, chunk_id: str, document: str) -> str:
    """Return the source of the document that feedback is about; empty where it is about none that is there."""
    name = document or chunk_id.rpartition("_chunk_")[0]
    try:
        return held.document(name).source if name else ""
    except (NotFoundError, InvalidInputError):
        return ""


@router.post("/feedback", response_model=FeedbackResponse, status_code=201, openapi_extra=needs(Action.READ))
async def feedback(index: IndexName, asked: FeedbackRequest, service: Here, caller: Caller) -> Response:
    """Keep what somebody thinks of an answer. It is only ever added to, and goes with the index.

    A rating of a passage or a document becomes a judgement too, in place of the one that the caller's last rating made.
    """

    def save() -> FeedbackResponse:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        record = _FeedbackRecord(now, caller.name, caller.id, asked.model_dump())
        most = service.limits.feedback_records
        with service.open_index(index) as held:
            source = "" if asked.rating == 0 else _source_of(held, asked.chunk_id, asked.document)
            number = service.state_db.add_feedback(index, caller.id, encoded(record), most)
        if number is None:
            raise refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"This token has given the {most:,} records of feedback on an index that are kept.",
                "Ask the server's administrator for another token.",
                kind="feedback-limit",
            )
        row = (index, asked.query, source, f"{FEEDBACK}{caller.id}")
        judged = bool(source) and service.state_db.judge(row, GRADES[asked.rating], service.limits.judgements)
        return FeedbackResponse(number, judged)

    return await service.write(save, 201)
