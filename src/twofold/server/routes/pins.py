"""Pins: what an index shows first for a question, and what it leaves out."""

from collections.abc import Sequence

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.index import Index
from twofold.server.auth import Action
from twofold.server.schemas.requests import NameList, Query, Strict
from twofold.server.service import GuardedRoute, Here, IndexName, needs

router = APIRouter(prefix="/v1/indexes/{index}", tags=["search"], route_class=GuardedRoute)


class PinRequest(Strict):
    """What a question shows first, in this order, and what it leaves out; with neither it is forgotten."""

    query: Query
    pin: NameList = Field(default=[], description="Documents, by id, source or an ending of it, or passages by id.")
    hide: NameList = Field(default=[], description="Documents or passages to leave out.")


@dataclass(frozen=True, slots=True)
class Pinned:
    """One question with its documents; what is left out stands behind a `-`."""

    query: str
    documents: Sequence[str]


@dataclass(frozen=True, slots=True)
class PinList:
    """All questions with pins."""

    pins: Sequence[Pinned]


@router.get("/pins", response_model=PinList, openapi_extra=needs(Action.ADMIN))
async def list_pins(index: IndexName, service: Here) -> Response:
    """List what the index shows first, and leaves out, by question."""

    def listed() -> PinList:
        with service.open_index(index) as held:
            return _pins(held)

    return await service.answer(listed)


@router.put("/pins", response_model=PinList, openapi_extra=needs(Action.ADMIN))
async def pin(index: IndexName, asked: PinRequest, service: Here) -> Response:
    """Let the index keep what it shows first for a question, and what it leaves out, in place of what it kept."""

    def save() -> PinList:
        with service.open_index(index) as held:
            held.pin(asked.query, asked.pin, hide=asked.hide)
            pins = _pins(held)
        service.indexes.reopen(index)
        return pins

    return await service.write(save, 200)


def _pins(held: Index) -> PinList:
    return PinList(tuple(Pinned(query, tuple(names)) for query, names in held.pins().items()))
