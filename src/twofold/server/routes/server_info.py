"""What the server says of itself: its version, its profiles, the model that writes answers, and folders to sync."""

from fastapi import APIRouter, Response

from twofold import __version__
from twofold.config.profiles import PROFILES
from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Finding
from twofold.models.generators.factory import NONE as NO_GENERATOR
from twofold.server.answer_models import shown_model
from twofold.server.auth import Action
from twofold.server.routes.questions import NoOptions
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, IndexName, needs

router = APIRouter(prefix="/v1", tags=["server"], route_class=GuardedRoute)


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A profile, and what it is for."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """How the server was started.

    `generator` is empty where answers are sentences of documents; a question may name one of `models` instead of it.
    `speech` says whether spoken questions can be read. `roots` are the folders that may be synced, for an admin of the
    server; `upload_bytes` and `upload_files` bound one upload.
    """

    version: str
    generator: str
    models: tuple[str, ...]
    profiles: tuple[ProfileLine, ...]
    query_log: bool
    speech: bool
    roots: tuple[str, ...]
    upload_bytes: int
    upload_files: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with an index; nothing found means all is well."""

    findings: tuple[Finding, ...]


@router.get("/server", response_model=ServerInfo, openapi_extra={SCOPE: ANY_GRANT})
async def server_info(service: Here, caller: Caller) -> Response:
    """Return how the server was started."""
    settings = service.indexes.settings

    def describe() -> ServerInfo:
        return ServerInfo(
            version=__version__,
            generator="" if settings.generator == NO_GENERATOR else shown_model(settings.generator),
            models=service.models.names,
            profiles=tuple(ProfileLine(one.name, one.description) for one in PROFILES),
            query_log=settings.log.queries,
            speech=service.speech.ready,
            roots=service.roots if caller.allows(Action.ADMIN) else (),
            upload_bytes=service.limits.upload_bytes,
            upload_files=service.limits.upload_files,
        )

    return await service.answer(describe)


@router.post("/indexes/{index}/verify", response_model=Findings, openapi_extra=needs(Action.ADMIN))
async def verify_index(index: IndexName, _: NoOptions, service: Here) -> Response:
    """Recompute every checksum of an index, and hold what is derived against the catalog."""

    def verified() -> Findings:
        with service.open_index(index) as held:
            return Findings(tuple(held.verify()))

    return await service.answer(verified)
