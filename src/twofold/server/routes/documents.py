"""The routes of documents: add, list, look at, show a page of, delete; and sync of the server's own folders."""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParameter
from pydantic import ValidationError

from twofold.domain.errors import NotFoundError
from twofold.domain.types import Document
from twofold.index import Index
from twofold.indexing.types import SyncPlan
from twofold.ingest.media_types import PDF, PICTURES, WAV
from twofold.server.auth import Action
from twofold.server.error_handlers import invalid
from twofold.server.errors import refused
from twofold.server.jobs.store import Job, JobKind, Part, Task
from twofold.server.pdf_preview import page_image
from twofold.server.schemas.requests import FieldsRequest, ReadersRequest, SyncRequest, TextsRequest
from twofold.server.schemas.responses import (
    ChunkList,
    DocumentList,
    DocumentResponse,
    chunk_list,
    document_response,
    whole_document_response,
)
from twofold.server.service import AsOf, DocumentId, GuardedRoute, Here, IndexName, Service, UploadRoute, needs
from twofold.server.uploads import files_of, lists_as_tuples, sent_form, write_files, write_texts
from twofold.server.uploads_store import DRAWN
from twofold.system.paths import real_path

MAX_CHARACTERS = 1 << 31

router = APIRouter(prefix="/v1/indexes/{index}", tags=["documents"], route_class=GuardedRoute)
uploads = APIRouter(route_class=UploadRoute)

_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": f"#/components/schemas/{TextsRequest.__name__}"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                        "metadata": {"type": "string", "description": "Fields for every file, a JSON object."},
                        "readers": {"type": "string", "description": "Who may read the files, a JSON list."},
                    },
                }
            },
        },
    }
}


@uploads.post("/documents", response_model=Job, status_code=202, openapi_extra={**needs(Action.WRITE), **_UPLOAD})
async def add_documents(index: IndexName, request: Request, service: Here) -> Response:
    """Add documents, as files of any format (multipart) or as texts (JSON); gives the job that does it."""
    await service.run(lambda: _must_exist(service, index))
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with sent_form(request, service.limits) as form:
            files, said = files_of(form)
            return await _submitted(service, index, lambda folder: write_files(folder, files, said))
    if kind != "application/json":
        raise refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "Documents come as multipart/form-data or as JSON.",
            "See the examples in docs/server.md.",
        )
    data = await request.body()
    asked = await service.run(lambda: _texts(data))
    return await _submitted(service, index, lambda folder: write_texts(folder, asked))


router.include_router(uploads)


@router.get("/documents", response_model=DocumentList, openapi_extra=needs(Action.READ))
async def list_documents(
    index: IndexName,
    service: Here,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
    q: Annotated[str, Query(max_length=200, description="A part of the source or the title, capitals aside.")] = "",
    as_of: AsOf = "",
) -> Response:
    """List documents by source, or those whose source or title has `q`."""

    def listed() -> DocumentList:
        with service.open_index(index, as_of) as held:
            found, total = held.documents_page(offset, limit, containing=q)
        return DocumentList(tuple(map(document_response, found)), offset, total)

    return await service.answer(listed)


@router.get("/documents/{document}", response_model=DocumentResponse, openapi_extra=needs(Action.READ))
async def document_info(index: IndexName, document: DocumentId, service: Here, as_of: AsOf = "") -> Response:
    """Return what is known of a document."""

    def info() -> DocumentResponse:
        with service.open_index(index, as_of) as held:
            return whole_document_response(_named(held, document), len(held.chunks(document)))

    return await service.answer(info)


@router.delete("/documents/{document}", status_code=204, response_class=Response, openapi_extra=needs(Action.WRITE))
async def delete_document(index: IndexName, document: DocumentId, service: Here) -> Response:
    """Delete a document; the file that it was read from is left alone."""

    def deleted() -> None:
        with service.open_index(index) as held:
            found = _named(held, document)
            held.delete(document)
            service.forget_original(index, found)

    await service.write(deleted)
    return Response(status_code=204)


@router.put("/documents/{document}/readers", response_model=DocumentResponse, openapi_extra=needs(Action.WRITE))
async def set_readers(index: IndexName, document: DocumentId, asked: ReadersRequest, service: Here) -> Response:
    """Set who may read a document, from the next request on; nothing is embedded again."""

    def changed() -> DocumentResponse:
        with service.open_index(index) as held:
            found = _named(held, document)
            return document_response(held.set_readers(found.id, asked.readers))

    return await service.write(changed)


@router.put("/documents/{document}/metadata", response_model=DocumentResponse, openapi_extra=needs(Action.WRITE))
async def set_metadata(index: IndexName, document: DocumentId, asked: FieldsRequest, service: Here) -> Response:
    """Set fields of a document; an empty text takes one away. Nothing is embedded again, and later syncs keep them."""

    def changed() -> DocumentResponse:
        with service.open_index(index) as held:
            found = _named(held, document)
            return document_response(held.set_metadata(found.id, lists_as_tuples(asked.metadata)))

    return await service.write(changed)


@router.get(
    "/documents/{document}/content",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    openapi_extra=needs(Action.READ),
)
async def document_content(index: IndexName, document: DocumentId, service: Here, as_of: AsOf = "") -> Response:
    """Return a document's text as it was read; spans of passages are character offsets into it."""

    def text() -> str:
        with service.open_index(index, as_of) as held:
            return _named(held, document).text

    return Response(await service.run(text), media_type="text/plain")


@router.get("/documents/{document}/chunks", response_model=ChunkList, openapi_extra=needs(Action.READ))
async def document_chunks(index: IndexName, document: DocumentId, service: Here, as_of: AsOf = "") -> Response:
    """Return a document's passages in reading order."""

    def chunks() -> ChunkList:
        with service.open_index(index, as_of) as held:
            return chunk_list(_named(held, document).id, held.chunks(document))

    return await service.answer(chunks)


@router.get(
    "/documents/{document}/pages/{page}",
    response_class=Response,
    responses={200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}},
    openapi_extra=needs(Action.READ),
)
async def document_page(  # noqa: PLR0913, PLR0917  # what an address holds
    index: IndexName,
    document: DocumentId,
    page: Annotated[int, PathParameter(ge=1, le=1_000_000, description="The page, counted from 1.")],
    service: Here,
    start: Annotated[int, Query(ge=0, le=MAX_CHARACTERS)] = 0,
    end: Annotated[int, Query(ge=0, le=MAX_CHARACTERS)] = 0,
    as_of: AsOf = "",
) -> Response:
    """Draw a page of a PDF or an image, with the words of `document_text[start:end]` marked where they stand on it."""

    def image() -> bytes:
        with service.open_index(index, as_of) as held:
            found = _named(held, document)
        data = service.originals.read(index, found) if found.media_type in DRAWN else None
        if data is None:
            raise NotFoundError("There is no page to be shown.", "PDF and images have pages while they are there.")
        words = next((one for one in found.words if one.page == page), None)
        return page_image(data, page, found.text[start:end], words, is_image=found.media_type in PICTURES)

    return Response(await service.draw(image), media_type="image/png")


KEPT_TYPES = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in (PDF, *sorted(PICTURES), WAV)}


@router.get(
    "/documents/{document}/original",
    response_class=Response,
    responses={200: {"content": KEPT_TYPES}},
    openapi_extra=needs(Action.READ),
)
async def document_original(index: IndexName, document: DocumentId, service: Here, as_of: AsOf = "") -> Response:
    """Return the PDF, image or recording that a document was read from, byte for byte; nothing else is kept."""

    def original() -> tuple[bytes, str]:
        with service.open_index(index, as_of) as held:
            found = _named(held, document)
            data = service.originals.read(index, found)
        if data is None:
            raise NotFoundError(
                "The original is not there.", "PDF, images and recordings are kept, or read where they lie."
            )
        return data, found.media_type

    data, media_type = await service.run(original)
    return Response(data, media_type=media_type, headers={"Content-Disposition": "attachment"})


@router.post("/sync:plan", response_model=SyncPlan, openapi_extra=needs(Action.ADMIN))
async def plan_sync(index: IndexName, asked: SyncRequest, service: Here) -> Response:
    """Return what a sync of these folders would do, and do nothing."""

    def planned() -> SyncPlan:
        service.speaker.check_owner()
        paths = [_within_roots(service, path) for path in asked.paths]
        with service.open_index(index) as held:
            return held.sync(*paths, dry_run=True)

    return await service.answer(planned)


@router.post("/sync", response_model=Job, status_code=202, openapi_extra=needs(Action.ADMIN))
async def sync(index: IndexName, asked: SyncRequest, service: Here) -> Response:
    """Make the index say what folders of the server say, within the roots it was started with; gives the job."""

    def submitted() -> Job:
        service.speaker.check_owner()
        _must_exist(service, index)
        task = Task(paths=tuple(_within_roots(service, path) for path in asked.paths))
        return submit_job(service, index, JobKind.SYNC, lambda _: task)

    return await service.write(submitted, 202)


def _texts(data: bytes) -> TextsRequest:
    try:
        return TextsRequest.model_validate_json(data, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise invalid([{**one, "loc": ("body", *one["loc"])} for one in found]) from None


async def _submitted(service: Service, index: str, write: Callable[[Path], list[Part]]) -> Response:
    def submitted() -> Job:
        _must_exist(service, index)  # nothing deletes it now: this thread does
        return submit_job(service, index, JobKind.DOCUMENTS, lambda folder: Task(parts=tuple(write(folder))))

    return await service.write(submitted, 202)


def submit_job(service: Service, index: str, kind: JobKind, write: Callable[[Path], Task]) -> Job:
    """Submit a job whose files `write` puts into its folder. Raises ProblemError (429) where too many wait."""
    folder = service.jobs.new_folder()
    try:
        task = replace(write(folder), principals=service.speaker.principals(), by=service.speaker.grant.id)
        return service.jobs.submit(folder, index, kind, task)
    except BaseException:
        service.jobs.abandon(folder)
        raise


def _must_exist(service: Service, index: str) -> None:
    with service.open_index(index):
        pass


def _named(held: Index, identity: str) -> Document:
    """Find a document by its id alone."""
    found = held.document(identity)
    if found.id != identity:
        raise NotFoundError(f"There is no document with the id {identity!r}.", "List the documents to see their ids.")
    return found


def _within_roots(service: Service, path: str) -> str:
    """Return the real path, when it lies in one of the roots; whether there is one elsewhere is not revealed."""
    real = real_path(path) if "\0" not in path else ""
    if not any(real == root or real.startswith(root.rstrip("/") + "/") for root in service.roots):
        raise refused(
            HTTPStatus.FORBIDDEN,
            "That is in none of the folders that this server may read.",
            "Start it with --root FOLDER.",
            kind="outside-roots",
        )
    return real
