"""OpenAI's vector stores: each is an index, and each of its files a document."""

import re
import secrets
import shutil
from pathlib import Path as Folder
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.domain.types import Metadata
from twofold.index import Index
from twofold.query.parse import MAX_DEPTH
from twofold.server.auth import Action
from twofold.server.jobs.store import JobFile, JobKind, Part, State, Task
from twofold.server.routes.documents import submit_job
from twofold.server.schemas.openai import OpenAiRequest, refuse_unknown
from twofold.server.schemas.requests import Lenient, MetadataFields, above, filter_of
from twofold.server.schemas.requests import Query as Question
from twofold.server.schemas.responses import shown
from twofold.server.sent_files import FileRecord
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, IndexName, Service, needs, require
from twofold.server.uploads import lists_as_tuples

MAX_FILES = 100

router = APIRouter(prefix="/v1/vector_stores", tags=["compatible"], route_class=GuardedRoute)
FileIdText = Annotated[str, Field(pattern="^file-[0-9a-f]{24}$")]
StoredFileId = Annotated[str, Path(min_length=1, max_length=128, description="The id of a document, or of a file.")]
Limit = Annotated[int, Query(ge=1, le=100)]
After = Annotated[str, Query(max_length=128, description="Begin after the one of this id.")]
Status = Literal["in_progress", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class FileCounts:
    """How many files are in a vector store, or on their way."""

    completed: int
    in_progress: int
    failed: int = 0
    cancelled: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class VectorStoreResponse:
    """An index as a vector store; its id is its name."""

    id: str
    name: str
    status: Literal["completed", "in_progress"]
    file_counts: FileCounts
    usage_bytes: int
    metadata: Metadata
    created_at: int = 0
    last_active_at: int | None = None
    object: Literal["vector_store"] = "vector_store"


@dataclass(frozen=True, slots=True)
class VectorStoreList:
    """The indexes that the caller may read."""

    data: tuple[VectorStoreResponse, ...]
    first_id: str | None
    last_id: str | None
    has_more: bool
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class VectorStoreDeleted:
    """An index that is gone."""

    id: str
    deleted: Literal[True] = True
    object: Literal["vector_store.deleted"] = "vector_store.deleted"


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Why a file is not in a vector store."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A document of an index, or a file on its way there."""

    id: str
    vector_store_id: str
    status: Status
    usage_bytes: int
    attributes: Metadata
    last_error: FileProblem | None = None
    created_at: int = 0
    object: Literal["vector_store.file"] = "vector_store.file"


@dataclass(frozen=True, slots=True)
class StoredFileList:
    """Documents of an index, by their sources."""

    data: tuple[StoredFile, ...]
    first_id: str | None
    last_id: str | None
    has_more: bool
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class StoredFileDeleted:
    """A document that is gone."""

    id: str
    deleted: Literal[True] = True
    object: Literal["vector_store.file.deleted"] = "vector_store.file.deleted"


class VectorStoreRequest(OpenAiRequest):
    """A vector store to be made; its name becomes the index's, with `-` for what such a name cannot hold."""

    name: Annotated[str, Field(max_length=256)] | None = None
    file_ids: Annotated[list[FileIdText], Field(max_length=MAX_FILES)] = Field(default_factory=list)
    description: Annotated[str, Field(max_length=4_000)] | None = None


class StoredFileRequest(OpenAiRequest):
    """A file to be added, with the fields that its document is to have."""

    file_id: FileIdText
    attributes: MetadataFields | None = None


@router.get("", response_model=VectorStoreList, openapi_extra={SCOPE: ANY_GRANT})
async def list_vector_stores(service: Here, caller: Caller, limit: Limit = 20, after: After = "") -> Response:
    """List the indexes that the caller may read as vector stores, by name."""

    def listed() -> VectorStoreList:
        names = [name for name in service.indexes.names() if caller.allows(Action.READ, name) and name > after]
        given = tuple(_store_of(service, name) for name in names[:limit])
        return VectorStoreList(given, _first(given), _last(given), len(names) > limit)

    return await service.answer(listed)


@router.post("", response_model=VectorStoreResponse, openapi_extra={SCOPE: ANY_GRANT})
async def create_vector_store(asked: VectorStoreRequest, service: Here, caller: Caller) -> Response:
    """Make an index, and add files to it; the caller must be its admin."""
    refuse_unknown(asked)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", asked.name or "").strip("-.")[:64] or f"vs-{secrets.token_hex(6)}"
    require(caller, Action.ADMIN, name)

    def made() -> VectorStoreResponse:
        records = [service.files.named(one, caller.id) for one in asked.file_ids]
        service.indexes.create(name, service.indexes.settings)
        service.forget_index(name)  # what another index of that name left
        if records:
            _add(service, name, records, {})
        return _store_of(service, name)

    return await service.write(made)


@router.get("/{index}", response_model=VectorStoreResponse, openapi_extra=needs(Action.READ))
async def get_vector_store(index: IndexName, service: Here) -> Response:
    """Show an index as a vector store."""
    return await service.answer(lambda: _store_of(service, index))


@router.delete("/{index}", response_model=VectorStoreDeleted, openapi_extra=needs(Action.ADMIN))
async def delete_vector_store(index: IndexName, service: Here) -> Response:
    """Delete an index for good; files that were sent stay."""

    def dropped() -> VectorStoreDeleted:
        service.drop(index)
        return VectorStoreDeleted(index)

    return await service.write(dropped)


@router.post("/{index}/files", response_model=StoredFile, openapi_extra=needs(Action.WRITE))
async def add_file(index: IndexName, asked: StoredFileRequest, service: Here, caller: Caller) -> Response:
    """Add a file to an index; it is on its way when this answers."""
    refuse_unknown(asked)

    def added() -> StoredFile:
        record, fields = service.files.named(asked.file_id, caller.id), lists_as_tuples(asked.attributes or {})
        with service.open_index(index):
            _add(service, index, [record], fields)
        return StoredFile(record.id, index, "in_progress", record.bytes, fields)

    return await service.write(added)


@router.get("/{index}/files", response_model=StoredFileList, openapi_extra=needs(Action.READ))
async def list_stored_files(index: IndexName, service: Here, limit: Limit = 20, after: After = "") -> Response:
    """List the documents of an index as files, by their ids."""

    def listed() -> StoredFileList:
        with service.open_index(index) as held:
            found = sorted((one for one in held.documents() if one.id > after), key=lambda one: one.id)
        given = tuple(
            StoredFile(one.id, index, "completed", one.characters, attributes_of(one.metadata)) for one in found[:limit]
        )
        return StoredFileList(given, _first(given), _last(given), len(found) > limit)

    return await service.answer(listed)


@router.get("/{index}/files/{file}", response_model=StoredFile, openapi_extra=needs(Action.READ))
async def get_stored_file(index: IndexName, file: StoredFileId, service: Here) -> Response:
    """Show whether a file is in an index, on its way there, or could not be read."""
    return await service.answer(lambda: _stored(service, index, file))


@router.delete("/{index}/files/{file}", response_model=StoredFileDeleted, openapi_extra=needs(Action.WRITE))
async def delete_stored_file(index: IndexName, file: StoredFileId, service: Here) -> Response:
    """Delete a document from an index; the file that was sent stays."""

    def deleted() -> StoredFileDeleted:
        with service.open_index(index) as held:
            found = held.document(_exactly(held, file))
            held.delete(found.id)
            service.forget_original(index, found)
        return StoredFileDeleted(file)

    return await service.write(deleted)


class RankingOptions(Lenient):
    """How vector stores rank; of it the threshold counts here."""

    ranker: str = "auto"
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


class VectorStoreSearchRequest(OpenAiRequest):
    """What a search of a vector store takes."""

    query: Question | Annotated[list[Question], Field(min_length=1, max_length=16)]
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 10
    filters: dict[str, Any] | None = None
    ranking_options: RankingOptions | None = None


@dataclass(frozen=True, slots=True)
class TextContent:
    """A piece of text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class VectorStoreHit:
    """One passage, as a vector store gives it."""

    file_id: str
    filename: str
    score: float
    attributes: Metadata
    content: tuple[TextContent, ...]


@dataclass(frozen=True, slots=True)
class VectorStorePage:
    """What a vector store found."""

    search_query: tuple[str, ...]
    data: tuple[VectorStoreHit, ...]
    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    has_more: bool = False
    next_page: str | None = None


@router.post("/{index}/search", response_model=VectorStorePage, openapi_extra=needs(Action.READ))
async def search_vector_store(index: IndexName, asked: VectorStoreSearchRequest, service: Here) -> Response:
    """Search an index as OpenAI's clients search a vector store."""
    refuse_unknown(asked)
    queries = (asked.query,) if isinstance(asked.query, str) else tuple(asked.query)
    threshold = asked.ranking_options.score_threshold if asked.ranking_options else 0.0

    def found() -> VectorStorePage:
        chosen = openai_filter(asked.filters)
        with service.open_index(index) as held:
            result = held.search(" ".join(queries), k=asked.max_num_results, filter=chosen)
        hits = tuple(
            VectorStoreHit(hit.document, hit.source, score, attributes_of(hit.metadata), (TextContent(hit.text),))
            for hit, score in above(result, threshold)
        )
        return VectorStorePage(queries, hits)

    return await service.answer(found)


_OPERATORS = {"eq": "==", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_NEGATED = {"ne": "eq", "nin": "in"}


def openai_filter(said: dict[str, Any] | None) -> Filter:
    """Read `{"type": "eq", "key": …, "value": …}` and `{"type": "and", "filters": […]}`. Raises InvalidInputError."""
    return filter_of(_tree(said)) if said else MATCH_ALL


def _tree(said: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    kind, value = str(said.get("type")), said.get("value")
    if kind in ("and", "or"):
        if depth > MAX_DEPTH:
            raise InvalidInputError("The filter is nested too deeply.", "Ask with less.")
        inner = said.get("filters")
        return {kind: [_tree(one, depth + 1) if isinstance(one, dict) else one for one in inner or []]}
    if kind in _NEGATED:
        return {"not": _tree({**said, "type": _NEGATED[kind]})}
    if kind == "in" and isinstance(value, list):
        return {"or": [{"field": said.get("key"), "op": "==", "value": one} for one in value]}
    return {"field": said.get("key"), "op": _OPERATORS.get(kind, kind), "value": value}


def attributes_of(metadata: Metadata) -> dict[str, str | int | float | bool]:
    """Return fields as OpenAI's clients read them: several values of one field become one text."""
    return {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in shown(metadata).items()
    }


def _add(service: Service, index: str, records: list[FileRecord], attributes: dict[str, Any]) -> None:
    """Have files added to an index; a document has the id of its file. Raises what `submit_job` does."""

    def write(folder: Folder) -> Task:
        for number, one in enumerate(records):
            shutil.copyfile(service.files.data_of(one), folder / f"{number}.data")
        parts = tuple(
            Part(one.filename, f"{number}.data", id=one.id, metadata=attributes) for number, one in enumerate(records)
        )
        return Task(parts=parts)

    submit_job(service, index, JobKind.DOCUMENTS, write)


def _store_of(service: Service, index: str) -> VectorStoreResponse:
    with service.open_index(index) as held:
        info = held.info()
    coming = sum(file.state is State.WAITING for file in _files_of_jobs(service, index))
    counts = FileCounts(info.documents, coming, total=info.documents + coming)
    state: Literal["completed", "in_progress"] = "in_progress" if coming else "completed"
    return VectorStoreResponse(index, index, state, counts, info.bytes_on_disk, {})


def _stored(service: Service, index: str, file: str) -> StoredFile:
    for one in reversed(_files_of_jobs(service, index)):
        if one.document == file and one.state is not State.DONE:
            return _unfinished(one, index)
    with service.open_index(index) as held:
        found = held.document(_exactly(held, file))
        return StoredFile(found.id, index, "completed", len(found.text), attributes_of(found.metadata))


def _unfinished(file: JobFile, index: str) -> StoredFile:
    if file.problem is None:
        state: Status = "in_progress" if file.state is State.WAITING else "cancelled"
        return StoredFile(file.document, index, state, 0, {})
    problem = FileProblem(file.problem.type, file.problem.detail)
    return StoredFile(file.document, index, "failed", 0, {}, problem)


def _files_of_jobs(service: Service, index: str) -> list[JobFile]:
    jobs = [one for one in service.visible_jobs() if one.index == index and one.kind is JobKind.DOCUMENTS]
    return [file for job in jobs for file in job.files]


def _exactly(held: Index, file: str) -> str:
    """Return the id of a document that has just this id. Raises NotFoundError."""
    if held.document(file).id != file:
        raise NotFoundError(f"There is no file {file[:40]!r} in it.", "List the files of the vector store.")
    return file


def _first(given: tuple[VectorStoreResponse, ...] | tuple[StoredFile, ...]) -> str | None:
    return given[0].id if given else None


def _last(given: tuple[VectorStoreResponse, ...] | tuple[StoredFile, ...]) -> str | None:
    return given[-1].id if given else None
