"""Taking in documents: what is sent is in a job's folder, under numbers and flushed, before it is acknowledged."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from twofold.domain.access import Readers, readers_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.ingest.readers.types import one_line
from twofold.server.errors import ProblemError, refused
from twofold.server.jobs.store import Part
from twofold.server.limits import ServerLimits
from twofold.server.schemas.json_keys import unique
from twofold.server.schemas.requests import MAX_NAME_LENGTH, MetadataFields, TextsRequest
from twofold.stores.local.durable import write_durably

_PIECE = 1 << 20
_PRINCIPALS = TypeAdapter[list[str] | None](list[str] | None)
_METADATA = TypeAdapter[dict[str, Any]](MetadataFields)
_JOINERS = "\u200c\u200d"
_FIELDS = 16
_FIELD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class SentFile:
    """One file as it was sent: a name for people, and its bytes, wherever the form keeps them."""

    name: str
    data: BinaryIO


def sent_form(request: Request, limits: ServerLimits) -> AbstractAsyncContextManager[FormData]:
    """Read a form with files; what it keeps on disk goes when the block ends. Raises what is wrong with it."""
    return request.form(max_files=limits.upload_files, max_fields=_FIELDS, max_part_size=_FIELD_BYTES)


@dataclass(frozen=True, slots=True)
class UploadFields:
    """What a form says of its files: the fields that they are to have, and who may read them."""

    metadata: Mapping[str, Any]
    readers: Readers | None


def files_of(form: FormData) -> tuple[Sequence[SentFile], UploadFields]:
    """Return a form's files and what it says of them. Raises ProblemError for anything else in it."""
    files: list[SentFile] = []
    metadata: dict[str, Any] = {}
    readers: Readers | None = None
    for name, value in form.multi_items():
        if isinstance(value, UploadFile) and name in ("file", "files"):
            files.append(SentFile(readable_name(value.filename or ""), value.file))
        elif isinstance(value, str) and name == "metadata":
            metadata = _metadata(value)
        elif isinstance(value, str) and name == "readers":
            readers = _readers(value)
        else:
            raise _wrong("The form holds something that is not known.")
    if not files:
        raise _wrong("The form holds no file.")
    return files, UploadFields(metadata, readers)


def write_files(folder: Path, files: Sequence[SentFile], said: UploadFields) -> list[Part]:
    """Write files to a job's folder; durable when it returns. Raises StorageFullError or StoreError."""
    parts: list[Part] = []
    for number, file in enumerate(files):
        own = f"{number}.data"
        write_durably(folder / own, pieces_of(file))
        parts.append(Part(file.name, own, metadata=lists_as_tuples(said.metadata), readers=said.readers))
    return parts


def pieces_of(file: SentFile) -> Iterator[bytes]:
    """Yield a file's bytes from its beginning, a megabyte at a time."""
    file.data.seek(0)
    return iter(lambda: file.data.read(_PIECE), b"")


def write_texts(folder: Path, asked: TextsRequest) -> list[Part]:
    """Write texts to a job's folder; durable when it returns."""
    parts: list[Part] = []
    for number, text in enumerate(asked.documents):
        own = f"{number}.data"
        write_durably(folder / own, [text.text.encode()])
        name = one_line(text.source) or text.id
        readers = readers_of(text.readers)
        parts.append(Part(name, own, True, text.id, text.title, lists_as_tuples(text.metadata), readers))
    return parts


def readable_name(said: str) -> str:
    """Make a name for people of what a client says; it is never used as a path.

    What joins letters stays, for words of Persian and families of emoji need it.
    """
    shown = "".join(char for char in said if char.isprintable() or char in _JOINERS)
    return one_line(shown)[-MAX_NAME_LENGTH:] or "unnamed"


def _metadata(text: str) -> dict[str, Any]:
    try:
        return _METADATA.validate_python(json.loads(text, object_pairs_hook=unique), strict=True)
    except (ValueError, RecursionError, ValidationError) as error:
        raise _wrong("The form's metadata is no JSON object of fields.") from error


def _readers(text: str) -> Readers | None:
    try:
        return readers_of(_PRINCIPALS.validate_json(text, strict=True))
    except (ValueError, InvalidInputError) as error:
        raise _wrong("The form's readers are no JSON list of principals.") from error


def lists_as_tuples(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as they are kept, lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in metadata.items()}


def _wrong(detail: str) -> ProblemError:
    return refused(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        detail,
        "Send each file as `file`, and if need be `metadata`, a JSON object.",
        kind="invalid-form",
    )
