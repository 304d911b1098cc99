"""The routes of whole indexes: list, make, look at, delete."""

from fastapi import APIRouter, Response

from twofold.server.auth import Action
from twofold.server.schemas.requests import IndexRequest, settings_for
from twofold.server.schemas.responses import IndexList, IndexResponse, index_response
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, IndexName, needs, require

router = APIRouter(prefix="/v1/indexes", tags=["indexes"], route_class=GuardedRoute)


@router.get("", response_model=IndexList, openapi_extra={SCOPE: ANY_GRANT})
async def list_indexes(service: Here, caller: Caller) -> Response:
    """List the indexes that the caller may read."""

    def listed() -> IndexList:
        return IndexList(tuple(name for name in service.indexes.names() if caller.allows(Action.READ, name)))

    return await service.answer(listed)


@router.post("", response_model=IndexResponse, status_code=201, openapi_extra={SCOPE: ANY_GRANT})
async def create_index(asked: IndexRequest, service: Here, caller: Caller) -> Response:
    """Make an empty index; the caller must be its admin."""
    require(caller, Action.ADMIN, asked.name)

    def made() -> IndexResponse:
        service.indexes.create(asked.name, settings_for(asked, service.indexes.settings))
        service.forget_index(asked.name)  # what another index of that name left, if it went elsewhere than here
        with service.open_index(asked.name) as index:
            return index_response(index.info())

    return await service.write(made, 201)


@router.get("/{index}", response_model=IndexResponse, openapi_extra=needs(Action.READ))
async def index_info(index: IndexName, service: Here) -> Response:
    """Show what an index holds and how it was made."""

    def info() -> IndexResponse:
        with service.open_index(index) as held:
            return index_response(held.info())

    return await service.answer(info)


@router.delete("/{index}", status_code=204, response_class=Response, openapi_extra=needs(Action.ADMIN))
async def delete_index(index: IndexName, service: Here) -> Response:
    """Delete an index for good, with its jobs, what was kept of its uploads and what was said of its answers."""

    def dropped() -> None:
        service.drop(index)

    await service.write(dropped)
    return Response(status_code=204)
