"""Whether everything works here: what `twofold doctor` looks at, for an admin of the server."""

from functools import partial

from fastapi import APIRouter, Response

from twofold.checkup import Check, checks, index_check
from twofold.domain.dataclass import dataclass
from twofold.server.auth import Action
from twofold.server.service import GuardedRoute, Here, needs

router = APIRouter(prefix="/v1", tags=["server"], route_class=GuardedRoute)


@dataclass(frozen=True, slots=True)
class Checks:
    """One line for each thing that was looked at."""

    checks: tuple[Check, ...]


@router.get("/checkup", response_model=Checks, openapi_extra=needs(Action.ADMIN))
async def checkup(service: Here) -> Response:
    """Check the installation, the models, the disk and every index; it reads all of their bytes."""

    def run_checks() -> Checks:
        service.speaker.check_owner()
        indexes = (index_check(name, partial(service.open_index, name)) for name in service.indexes.names())
        return Checks((*checks(service.indexes.settings), *indexes))

    return await service.answer(run_checks)
