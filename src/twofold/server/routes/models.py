"""The models of the catalog over HTTP: which are on this machine, and fetching one while the page watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response

from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.models.catalog.entries import CATALOG, entry_named
from twofold.models.catalog.files import is_present, pull
from twofold.models.catalog.progress import Progress
from twofold.models.catalog.types import ModelEntry
from twofold.server.auth import Action
from twofold.server.errors import Problem
from twofold.server.event_thread import EventThread
from twofold.server.service import GuardedRoute, Here, needs
from twofold.server.streaming import EVENTS, check_room, encoded_events, event_stream, in_thread

router = APIRouter(prefix="/v1/model-files", tags=["server"], route_class=GuardedRoute)
CatalogName = Annotated[str, Path(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="A model of the catalog.")]


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model that twofold knows by name: what it is for, its license, and whether its files are here."""

    name: str
    task: str
    licence: str
    bytes: int
    present: bool


@dataclass(frozen=True, slots=True)
class CatalogModels:
    """All models of the catalog. `offline` says that none can be fetched."""

    models: tuple[CatalogModel, ...]
    offline: bool


@dataclass(frozen=True, slots=True)
class FetchEvent:
    """How far a download is: `done` of `total` bytes of this step."""

    step: str
    done: int
    total: int
    type: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True)
class FetchFailedEvent:
    """The download failed; the last event."""

    problem: Problem
    type: Literal["error"] = "error"


_Event = FetchEvent | FetchFailedEvent


@router.get("", response_model=CatalogModels, openapi_extra=needs(Action.ADMIN))
async def list_models(service: Here) -> Response:
    """List the models of the catalog, and which of them are on this machine."""
    settings = service.indexes.settings

    def listed() -> CatalogModels:
        found = (
            CatalogModel(
                name=one.name,
                task=one.task,
                licence=one.licence,
                bytes=sum(file.size for file in one.files),
                present=is_present(one, settings.models),
            )
            for one in CATALOG.values()
        )
        return CatalogModels(tuple(found), settings.offline)

    return await service.answer(listed)


@router.post(
    "/{name}", response_class=Response, responses={200: {"content": EVENTS}}, openapi_extra=needs(Action.ADMIN)
)
async def fetch_model(name: CatalogName, service: Here) -> Response:
    """Download a model of the catalog: events `progress`, then `error` if it fails. Closing the connection stops it."""
    service.speaker.check_owner()
    check_room(service)
    entry = entry_named(name)

    @contextmanager
    def fetching() -> Iterator[EventThread[_Event]]:
        yield EventThread("twofold fetch", _fetch(entry, service.indexes.settings), FetchFailedEvent)

    events = in_thread(service, fetching)
    begun = await anext(events)
    return event_stream(service, encoded_events(begun, events))


def _fetch(entry: ModelEntry, settings: Settings) -> Callable[[EventThread[_Event]], None]:
    def work(thread: EventThread[_Event]) -> None:
        def report(progress: Progress) -> None:
            if thread.stopped:
                raise ModelError("The download was stopped.", "Begin again: it goes on where it was.")
            thread.send(FetchEvent(progress.step, progress.done, progress.total))

        pull(entry, settings.models, offline=settings.offline, progress=report)

    return work
