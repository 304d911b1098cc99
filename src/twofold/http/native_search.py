"""The routes that search: one question, many, with the whole explanation, why not, and what people thought of it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from fastapi import APIRouter, Response

from twofold.http.asked import BatchAsked, FeedbackAsked, SearchAsked, WhyNotAsked
from twofold.http.given import BatchGiven, FeedbackGiven, SearchGiven, batch_given, explanation_given, search_given
from twofold.http.problems import refused
from twofold.http.service import Caller, GuardedRoute, Here, IndexName, encoded, needs
from twofold.http.tokens import Action
from twofold.index import Index
from twofold.pipeline.explaining import explained
from twofold.pipeline.results import SearchResult
from twofold.pipeline.whynot import WhyNot
from twofold.searcher import Asking

router = APIRouter(prefix="/v1/indexes/{index}", tags=["search"], route_class=GuardedRoute)


def searched(index: Index, query: str, asking: Asking) -> SearchResult:
    """Search as `asking` says."""
    return index.search(
        query,
        k=asking.k,
        mode=asking.mode,
        filter=asking.filter,
        rerank=asking.rerank,
        profile=asking.profile,
        settings=asking.settings,
        history=asking.history,
        session=asking.session,
    )


@router.post("/search", response_model=SearchGiven, openapi_extra=needs(Action.READ))
async def search(index: IndexName, asked: SearchAsked, service: Here, caller: Caller) -> Response:
    """Find the passages that answer a question best."""

    def found() -> SearchGiven:
        asking = asked.asking(caller)
        with service.held(index) as held:
            return search_given(searched(held, asked.query, asking))

    return await service.answer(found)


@router.post("/search:batch", response_model=BatchGiven, openapi_extra=needs(Action.READ))
async def search_batch(index: IndexName, asked: BatchAsked, service: Here, caller: Caller) -> Response:
    """Search for many questions at once; each is ranked for itself."""

    def found() -> BatchGiven:
        asking = asked.asking(caller)
        with service.held(index) as held:
            return batch_given(held.search_many(asked.queries, asking))

    return await service.answer(found)


@router.post("/explain", response_model=SearchResult, openapi_extra=needs(Action.READ))
async def explain(index: IndexName, asked: SearchAsked, service: Here, caller: Caller) -> Response:
    """Search, and give with each passage the whole trace from which its score can be recomputed."""

    def told() -> SearchResult:
        asking = asked.asking(caller)
        with service.held(index) as held:
            return explanation_given(explained(searched(held, asked.query, asking), held.settings.analyser))

    return await service.answer(told)


@router.post("/why-not", response_model=WhyNot, openapi_extra=needs(Action.READ))
async def why_not(index: IndexName, asked: WhyNotAsked, service: Here, caller: Caller) -> Response:
    """Say which stage of a search lost a document, and the smallest change that brings it back."""

    def told() -> WhyNot:
        asking = asked.asking(caller)
        with service.held(index) as held:
            return held.why_not(asked.query, asked.document, asking)

    return await service.answer(told)


@dataclass(frozen=True, slots=True)
class _Kept:
    at: str
    by: str
    token: str
    said: dict[str, object]


@router.post("/feedback", response_model=FeedbackGiven, status_code=201, openapi_extra=needs(Action.READ))
async def feedback(index: IndexName, asked: FeedbackAsked, service: Here, caller: Caller) -> Response:
    """Keep what somebody thinks of an answer. It is only ever added to, and goes with the index."""

    def kept() -> FeedbackGiven:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        record = _Kept(now, caller.name, caller.id, asked.model_dump())
        most = service.limits.feedback_records
        with service.held(index):
            number = service.journal.add_feedback(index, caller.id, encoded(record), most)
        if number is None:
            raise refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"This token has given the {most:,} records of feedback on an index that are kept.",
                "Ask whoever runs the server for another token.",
                kind="feedback-limit",
            )
        return FeedbackGiven(number)

    return await service.write(kept, 201)
