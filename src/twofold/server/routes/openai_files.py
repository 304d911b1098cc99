"""OpenAI's files: sent once, then added to a vector store, which is an index."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.datastructures import UploadFile

from twofold.domain.dataclass import dataclass
from twofold.server.auth import Action, Grant
from twofold.server.errors import refused
from twofold.server.sent_files import FileRecord
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, UploadRoute
from twofold.server.uploads import SentFile, readable_name, sent_form

PURPOSES = ("assistants", "user_data")

router = APIRouter(prefix="/v1", tags=["compatible"], route_class=GuardedRoute)
sending = APIRouter(route_class=UploadRoute)
FileId = Annotated[str, Path(pattern="^file-[0-9a-f]{24}$", description="The id of a file.")]
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "purpose"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "purpose": {"type": "string", "enum": list(PURPOSES)},
                    },
                }
            }
        },
    }
}


@dataclass(frozen=True, slots=True)
class FileResponse:
    """A file that was sent: its name, its size in bytes, when it came, in seconds since 1970."""

    id: str
    bytes: int
    created_at: int
    filename: str
    purpose: str
    object: Literal["file"] = "file"
    status: Literal["processed"] = "processed"


@dataclass(frozen=True, slots=True)
class FileList:
    """The caller's files, the newest first."""

    data: tuple[FileResponse, ...]
    has_more: bool = False
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class FileDeleted:
    """A file that is gone."""

    id: str
    deleted: Literal[True] = True
    object: Literal["file"] = "file"


@sending.post("/files", response_model=FileResponse, openapi_extra={SCOPE: ANY_GRANT, **_FORM})
async def create_file(request: Request, service: Here, caller: Caller) -> Response:
    """Take in a file, to be added to indexes; the caller must be allowed to write to one."""
    require_writer(caller)
    async with sent_form(request, service.limits) as form:
        file, purpose = form.get("file"), form.get("purpose")
        if not isinstance(file, UploadFile) or purpose not in PURPOSES:
            raise refused(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                "The form holds no `file`, or no `purpose` that is known.",
                f"Send one file and a purpose of: {', '.join(PURPOSES)}.",
                kind="invalid-form",
            )
        sent = SentFile(readable_name(file.filename or ""), file.file)
        return await service.write(lambda: shown_file(service.files.keep(sent, str(purpose), caller.id)))


router.include_router(sending)


@router.get("/files", response_model=FileList, openapi_extra={SCOPE: ANY_GRANT})
async def list_files(
    service: Here,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
    after: Annotated[str, Query(max_length=64, description="Begin after the file of this id.")] = "",
) -> Response:
    """List the caller's files, the newest first."""

    def listed() -> FileList:
        found = list(service.files.all(caller.id))
        begin = next((at + 1 for at, one in enumerate(found) if one.id == after), 0)
        return FileList(tuple(map(shown_file, found[begin : begin + limit])), len(found) > begin + limit)

    return await service.answer(listed)


@router.get("/files/{file}", response_model=FileResponse, openapi_extra={SCOPE: ANY_GRANT})
async def get_file(file: FileId, service: Here, caller: Caller) -> Response:
    """Show a file of the caller's own."""
    return await service.answer(lambda: shown_file(service.files.named(file, caller.id)))


@router.delete("/files/{file}", response_model=FileDeleted, openapi_extra={SCOPE: ANY_GRANT})
async def delete_file(file: FileId, service: Here, caller: Caller) -> Response:
    """Delete a file of the caller's own; what was added to indexes stays there."""

    def deleted() -> FileDeleted:
        service.files.delete(file, caller.id)
        return FileDeleted(file)

    return await service.write(deleted)


def require_writer(caller: Grant) -> None:
    """Raise ProblemError (403) unless the caller may write to some index."""
    if not caller.allows_somewhere(Action.WRITE):
        raise refused(
            HTTPStatus.FORBIDDEN, "The token does not allow this.", "It would need the scope write:INDEX for an index."
        )


def shown_file(record: FileRecord) -> FileResponse:
    """Return a file as OpenAI's clients read it."""
    return FileResponse(record.id, record.bytes, record.created_at, record.filename, record.purpose)
