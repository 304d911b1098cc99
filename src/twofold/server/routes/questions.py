"""Questions that could be judged: those that were asked, with how they went, and some made from the documents."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from random import Random
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.evaluation.query_log import WeakReport, reasons, weak_report
from twofold.evaluation.synthetic import Making, pseudo_questions
from twofold.factory.search import query_log_of
from twofold.index import Index
from twofold.server.auth import Action
from twofold.server.schemas.requests import Strict
from twofold.server.service import GuardedRoute, Here, IndexName, Service, needs
from twofold.stores.query_log import LoggedQuery
from twofold.text.analyzers import analyzer_for

MAX_LOGGED = 200
MAX_DOCUMENTS = 200
"""Of a larger index this many documents, drawn at random, give questions."""

router = APIRouter(prefix="/v1/indexes/{index}", tags=["experiments"], route_class=GuardedRoute)


class NoOptions(Strict):
    """No options."""


class MadeRequest(Strict):
    """How many questions to make."""

    count: Annotated[int, Field(ge=1, le=100)] = 20


@dataclass(frozen=True, slots=True)
class QuestionList:
    """Questions that could be judged."""

    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """A question as it was asked; `why` says what went badly, in the order of gravity."""

    at: str
    kind: str
    question: str
    returned: int
    p_answerable: float | None
    milliseconds: float | None
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogResponse:
    """The questions that were asked last, newest first, and those that went badly. `kept`: whether any are logged."""

    kept: bool
    entries: tuple[LoggedLine, ...]
    weak: WeakReport


@router.post("/questions:logged", response_model=QuestionList, openapi_extra=needs(Action.ADMIN))
async def logged_questions(index: IndexName, _: NoOptions, service: Here) -> Response:
    """Return the questions that were asked last, each once, where questions are logged."""

    def listed() -> QuestionList:
        asked = [entry.question for entry in _entries(service, index)]
        return QuestionList(tuple(islice(dict.fromkeys(reversed(asked)), MAX_LOGGED)))

    return await service.answer(listed)


@router.get("/log", response_model=LogResponse, openapi_extra=needs(Action.ADMIN))
async def query_log(
    index: IndexName, service: Here, limit: Annotated[int, Query(ge=1, le=1_000)] = MAX_LOGGED
) -> Response:
    """Return the questions that were asked last, newest first, with how they went."""

    def load() -> LogResponse:
        entries = _entries(service, index)
        lines = tuple(map(_line, entries[::-1][:limit]))
        return LogResponse(service.indexes.settings.log.queries, lines, weak_report(entries))

    return await service.answer(load)


@router.post("/questions:made", response_model=QuestionList, openapi_extra=needs(Action.READ))
async def made_questions(index: IndexName, asked: MadeRequest, service: Here) -> Response:
    """Make questions from documents, without a model: headings, sentences, and rare words that stand together."""

    def made() -> QuestionList:
        with service.open_index(index) as held:
            return QuestionList(_made(held, asked.count))

    return await service.answer(made)


def _entries(service: Service, index: str) -> list[LoggedQuery]:
    service.speaker.check_owner()
    with service.open_index(index):
        log = query_log_of(index, service.indexes.settings)
    return [] if log is None else list(log.entries())


def _line(entry: LoggedQuery) -> LoggedLine:
    return LoggedLine(
        entry.at, entry.kind, entry.question, entry.returned, entry.p_answerable, entry.timings_ms.get("total"),
        reasons(entry),
    )  # fmt: skip


def _made(held: Index, count: int) -> tuple[str, ...]:
    """Make questions from some documents; how rare a word is, their own passages say."""
    known = sorted(info.id for info in held.documents())
    some = Random(0).sample(known, min(len(known), MAX_DOCUMENTS))  # noqa: S311  # a lot, no secret
    words = analyzer_for(held.settings.analyzer)
    passages = [{token.term for token in words.tokens(chunk.text)} for name in some for chunk in held.chunks(name)]
    held_by = Counter(term for terms in passages for term in terms)

    def frequencies(terms: tuple[str, ...]) -> Mapping[str, int]:
        return {term: held_by[term] for term in terms}

    made = pseudo_questions([held.document(name) for name in some], count, Making(words, frequencies, len(passages)))
    return tuple(dict.fromkeys(question.text for question in made.judged.queries))
