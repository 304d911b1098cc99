"""Snapshots: states of an index under names, what changed between two of them, and new indexes made of one."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.snapshots import SnapshotInfo
from twofold.evaluation.changes import ChangeKind, DocumentChange, IndexDiff, RankedPassage, RankingChange
from twofold.server.auth import Action
from twofold.server.jobs.store import Job, JobKind, Task
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.routes.documents import submit_job
from twofold.server.schemas.requests import AsOfField, IndexText, Query, Strict, TopK
from twofold.server.service import Caller, GuardedRoute, Here, IndexName, needs, require
from twofold.stores.past import NOW

MAX_CHANGES = 1_000

router = APIRouter(prefix="/v1/indexes/{index}", tags=["snapshots"], route_class=GuardedRoute)
NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
SnapshotName = Annotated[str, Path(pattern=NAME_PATTERN, description="The name of a snapshot.")]
State = Annotated[str, Field(min_length=1, max_length=64, description="A snapshot, a date or time in UTC, or `now`.")]


class SnapshotRequest(Strict):
    """The present state, to be kept under a name."""

    name: Annotated[str, Field(pattern=NAME_PATTERN, examples=["monday"])]


class DiffRequest(Strict):
    """Two states to compare, and questions whose rankings at both to compare."""

    before: State
    after: State = NOW
    queries: Annotated[list[Query], Field(max_length=DEFAULT_LIMITS.batch)] = Field(default_factory=list)
    k: TopK = 10
    limit: Annotated[int, Field(ge=0, le=MAX_CHANGES, description="How many changed documents to list.")] = MAX_CHANGES


class BranchRequest(Strict):
    """An index to be made of this one, as it is or as it was."""

    name: IndexText
    as_of: AsOfField = ""


@dataclass(frozen=True, slots=True)
class SnapshotList:
    """The snapshots of an index, oldest first, with the bytes that are retained for each."""

    snapshots: tuple[SnapshotInfo, ...]


@dataclass(frozen=True, slots=True)
class ChangedRanking:
    """A question whose ranking changed: its passages, best first, and those that came in and went out.

    `kept` is the part of the passages before that are still there, in any order, from 0 to 1.
    """

    query: str
    before: tuple[RankedPassage, ...]
    after: tuple[RankedPassage, ...]
    entered: tuple[RankedPassage, ...]
    left: tuple[RankedPassage, ...]
    kept: float


@dataclass(frozen=True, slots=True)
class DiffResponse:
    """What changed: all changes counted by kind, the first documents by source, and rankings of the `queries` asked."""

    added: int
    removed: int
    changed: int
    fields: int
    documents: tuple[DocumentChange, ...]
    queries: int
    rankings: tuple[ChangedRanking, ...]


@router.get("/snapshots", response_model=SnapshotList, openapi_extra=needs(Action.READ))
async def list_snapshots(index: IndexName, service: Here) -> Response:
    """List the snapshots of an index. It takes a token that may read every document, as all that is done with them."""

    def listed() -> SnapshotList:
        with service.open_index(index) as held:
            return SnapshotList(tuple(held.snapshots()))

    return await service.answer(listed)


@router.post("/snapshots", response_model=SnapshotInfo, status_code=201, openapi_extra=needs(Action.WRITE))
async def create_snapshot(index: IndexName, asked: SnapshotRequest, service: Here) -> Response:
    """Keep the present state under a name, by which `as_of` asks for it from then on; nothing is copied."""

    def made() -> SnapshotInfo:
        with service.open_index(index) as held:
            return held.snapshot(asked.name)

    return await service.write(made, 201)


@router.delete("/snapshots/{snapshot}", status_code=204, response_class=Response, openapi_extra=needs(Action.ADMIN))
async def delete_snapshot(index: IndexName, snapshot: SnapshotName, service: Here) -> Response:
    """Delete a snapshot, and what was retained for it alone."""

    def deleted() -> None:
        with service.open_index(index) as held:
            held.delete_snapshot(snapshot)

    await service.write(deleted)
    return Response(status_code=204)


@router.post("/diff", response_model=DiffResponse, openapi_extra=needs(Action.READ))
async def diff(index: IndexName, asked: DiffRequest, service: Here) -> Response:
    """Return which documents, and which rankings of some questions, changed between two states."""

    def compared() -> DiffResponse:
        with service.open_index(index) as held:
            return _diff_response(held.diff(asked.before, asked.after, asked.queries, asked.k), asked.limit)

    return await service.answer(compared)


@router.post("/branches", response_model=Job, status_code=202, openapi_extra=needs(Action.READ))
async def branch(index: IndexName, asked: BranchRequest, service: Here, caller: Caller) -> Response:
    """Make a new index of all that this one holds or held; gives the job. The caller must be the new one's admin."""
    require(caller, Action.ADMIN, asked.name)

    def submitted() -> Job:
        service.speaker.check_owner()
        with service.open_index(index, asked.as_of):
            pass
        if service.indexes.exists(asked.name):
            raise InvalidInputError(f"There is an index {asked.name} already.", "Choose another name.")
        service.forget_index(asked.name)  # what another index of that name left, if it went elsewhere than here
        return submit_job(service, index, JobKind.BRANCH, lambda _: Task(new=asked.name, as_of=asked.as_of))

    return await service.write(submitted, 202)


def _diff_response(found: IndexDiff, limit: int) -> DiffResponse:
    kinds: tuple[ChangeKind, ...] = ("added", "removed", "changed", "fields")
    counts = {kind: sum(one.kind == kind for one in found.documents) for kind in kinds}
    rankings = tuple(map(_changed_ranking, found.rankings))
    return DiffResponse(**counts, documents=found.documents[:limit], queries=found.queries, rankings=rankings)


def _changed_ranking(one: RankingChange) -> ChangedRanking:
    return ChangedRanking(one.query, one.before, one.after, one.entered, one.left, one.kept)
