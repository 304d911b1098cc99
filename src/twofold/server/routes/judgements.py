"""Judgements: how well documents answer questions, from 0 to 3, one of each judge; they measure and tune searches."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.evaluation.agreement import Agreement, agreement_of
from twofold.server.auth import Action
from twofold.server.errors import refused
from twofold.server.schemas.requests import MAX_NAME_LENGTH, Query, Strict
from twofold.server.service import Caller, GuardedRoute, Here, IndexName, Service, needs

FEEDBACK = "feedback:"
"""Before the id of a judge whose grades come of feedback on results."""

router = APIRouter(prefix="/v1/indexes/{index}", tags=["judgements"], route_class=GuardedRoute)


class JudgementRequest(Strict):
    """A grade for a document: 0 does not answer, 3 answers perfectly. `passage` is what the judge saw of it."""

    query: Query
    source: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
    grade: Annotated[int, Field(ge=0, le=3)]
    passage: Annotated[str, Field(max_length=200)] = ""


@dataclass(frozen=True, slots=True)
class JudgementResponse:
    """One judge's grade. `judge` is the id of a token, empty where no tokens are in use.

    Where the grade comes of feedback on a result, `feedback:` stands before the id.
    """

    query: str
    source: str
    judge: str
    grade: int


@dataclass(frozen=True, slots=True)
class JudgementList:
    """All judgements of an index, who asks, and how far two judges agree, where two judged the same."""

    judge: str
    judgements: tuple[JudgementResponse, ...]
    agreement: Agreement | None


def visible_judgements(service: Service, index: str) -> Sequence[tuple[str, str, str, int]]:
    """Return query, source, judge and grade: of a caller who may not read every document, those it gave itself."""
    rows = service.state_db.judgements(index)
    if service.speaker.principals() is None:
        return rows
    return [row for row in rows if row[2] == service.speaker.grant.id]


@router.get("/judgements", response_model=JudgementList, openapi_extra=needs(Action.READ))
async def list_judgements(index: IndexName, service: Here, caller: Caller) -> Response:
    """List judgements in the order in which they were given."""

    def listed() -> JudgementList:
        with service.open_index(index):
            rows = visible_judgements(service, index)
        given = tuple(JudgementResponse(*row) for row in rows)
        graded = [one for one in given if not one.judge.startswith(FEEDBACK)]
        agreement = agreement_of({(one.judge, one.query, one.source): one.grade for one in graded})
        return JudgementList(caller.id, given, agreement)

    return await service.answer(listed)


@router.put("/judgements", response_model=JudgementResponse, openapi_extra=needs(Action.READ))
async def judge(index: IndexName, asked: JudgementRequest, service: Here, caller: Caller) -> Response:
    """Keep the caller's grade, in place of the one it gave before."""

    def judged() -> JudgementResponse:
        most = service.limits.judgements
        with service.open_index(index):
            kept = service.state_db.judge((index, asked.query, asked.source, caller.id), asked.grade, most)
        if not kept:
            raise refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"This token has given the {most:,} judgements of an index that are kept.",
                "Ask for another token.",
                kind="judgement-limit",
            )
        return JudgementResponse(asked.query, asked.source, caller.id, asked.grade)

    return await service.write(judged)
