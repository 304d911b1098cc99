"""Experiments: ways to search measured by what was judged, settings found by it, and questions to judge."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.domain.errors import InvalidInputError
from twofold.evaluation.report import metric_named
from twofold.evaluation.tuning import MIN_QUESTIONS
from twofold.evaluation.variants import Grades, Variants, judged_questions, measure_variants
from twofold.index import Index
from twofold.query.parse import as_prose
from twofold.search.plan import MAX_K
from twofold.server.auth import Action, Grant
from twofold.server.event_thread import EventThread
from twofold.server.routes.judgements import visible_judgements
from twofold.server.schemas.requests import ForSearch, Strict, allowed
from twofold.server.service import Caller, GuardedRoute, Here, IndexName, Service, needs
from twofold.server.streaming import EVENTS, check_room, encoded_events, event_stream, in_thread
from twofold.server.tuning_stream import PASSAGES_A_DOCUMENT, TuneEvent, tuning_stream

METRIC = "ndcg@10"

router = APIRouter(prefix="/v1/indexes/{index}", tags=["experiments"], route_class=GuardedRoute)


class Variant(ForSearch):
    """A way to search, under a name."""

    name: Annotated[str, Field(min_length=1, max_length=40)]


class EvaluationRequest(Strict):
    """Ways to search, measured by what was judged of the index; each but the last is compared with the last."""

    variants: Annotated[list[Variant], Field(min_length=1, max_length=4)]


class TuneRequest(Strict):
    """What is to become better."""

    metric: Annotated[str, Field(max_length=40)] = METRIC


class SettingsRequest(Strict):
    """Settings of a search that the index keeps for itself."""

    settings: Annotated[dict[str, Any], Field(max_length=64)]


@router.post("/evaluations", response_model=Variants, openapi_extra=needs(Action.READ))
async def evaluate(index: IndexName, asked: EvaluationRequest, service: Here, caller: Caller) -> Response:
    """Measure ways to search by all judgements of the index, each figure with its interval."""

    def measured() -> Variants:
        names = [one.name for one in asked.variants]
        if len(set(names)) < len(names):
            raise InvalidInputError("Two variants have the same name.", "Name each differently.")
        with service.open_index(index) as held:
            judged = judged_questions(_grades(service, index), service.limits.evaluated_questions)
            ways = {one.name: partial(_found, held, one, caller) for one in asked.variants}
            return measure_variants(judged, ways)

    return await service.answer(measured)


@router.post("/tune", response_class=Response, responses={200: {"content": EVENTS}}, openapi_extra=needs(Action.WRITE))
async def tune(index: IndexName, asked: TuneRequest, service: Here) -> Response:
    """Find settings that do better on the judgements, in events `measured`, and `done` or `error` at the end.

    Half of the questions choose, the other half confirm. Nothing is changed.
    """
    check_room(service)
    events = in_thread(service, partial(_tuning, service, index, asked.metric))
    begun = await anext(events)  # what cannot be done is refused before any event
    return event_stream(service, encoded_events(begun, events))


@router.post("/settings", status_code=204, response_class=Response, openapi_extra=needs(Action.ADMIN))
async def keep_settings(index: IndexName, asked: SettingsRequest, service: Here) -> Response:
    """Let the index keep settings of a search for itself, in addition to those that it keeps already."""

    def save() -> None:
        with service.open_index(index) as held:
            held.set_settings({**held.get_settings(), **allowed(asked.settings)})
        service.indexes.reopen(index)

    await service.write(save)
    return Response(status_code=204)


def _grades(service: Service, index: str) -> Grades:
    """Return the grades of an index that the caller may see; where two judges differ, the one that came later."""
    return {(query, source): grade for query, source, _, grade in visible_judgements(service, index)}


def _found(held: Index, asked: Variant, caller: Grant, question: str, most: int) -> Sequence[str]:
    options = asked.options(caller)
    k = min(MAX_K, most * PASSAGES_A_DOCUMENT)
    found = held.search(
        as_prose(question),
        k=k,
        mode=options.mode,
        filter=options.filter,
        rerank=options.rerank,
        profile=options.profile,
        settings=options.settings,
    )
    return tuple(dict.fromkeys(hit.source for hit in found.hits))[:most]


@contextmanager
def _tuning(service: Service, index: str, metric: str) -> Iterator[EventThread[TuneEvent]]:
    with service.open_index(index) as held:
        judged = judged_questions(_grades(service, index), service.limits.evaluated_questions)
        if len(judged.queries) < MIN_QUESTIONS:
            raise InvalidInputError(
                f"Tuning needs {MIN_QUESTIONS} judged questions, and there are {len(judged.queries)}.", "Judge more."
            )
        yield tuning_stream(held, judged, metric_named(metric))
