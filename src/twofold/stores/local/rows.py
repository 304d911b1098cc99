"""How the nouns stand in the catalogue's rows."""

import json
import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import values_of
from twofold.domain.ports import EmbedderIdentity, Recipe
from twofold.domain.types import (
    Block,
    BlockKind,
    Chunk,
    Document,
    DocumentInfo,
    IndexedChunk,
    Metadata,
    Vector,
)

TERM_RECORD = np.dtype([("term", "<u4"), ("count", "<u2")])
LARGEST_COUNT = 65_535
LARGEST_INTEGER = 2**63 - 1

DOCUMENT_COLUMNS = "id, source, title, media_type, metadata, content_hash, blocks, text"
INFO_COLUMNS = (
    "id, source, title, media_type, metadata, content_hash,"
    " (SELECT count(*) FROM chunk WHERE chunk.document = document.row AND chunk.edition = ?1), characters"
)
CHUNK_COLUMNS = "document.id, ordinal, chunk.text, start, stop, heading, page, place, header, chunk.metadata"
FIELD_COLUMNS = "chunk.document, source, title, media_type, document.metadata, page, chunk.metadata"


def text_hash(indexed_text: str) -> bytes:
    """Name an indexed text: sixteen bytes of BLAKE2b."""
    return blake2b(indexed_text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pack_terms(counts: Iterable[tuple[int, int]]) -> bytes:
    """Store (term id, count) pairs by rising term id. Counts stop at 65,535."""
    records = np.array([(term, min(count, LARGEST_COUNT)) for term, count in sorted(counts)], dtype=TERM_RECORD)
    return records.tobytes()


def pack_vector(vector: Vector) -> bytes:
    """Store a vector as float16, the collection's truth."""
    return np.asarray(vector, dtype="<f2").tobytes()


def unpack_vector(data: bytes) -> Vector:
    """Read a vector back, widened to float32."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


def document_row(document: Document) -> tuple[str | int, ...]:
    """Give a document's columns, in the table's order after `row`."""
    blocks = [
        [block.kind.value, block.start, block.end, block.heading, block.page, block.place, block.header]
        for block in document.blocks
    ]
    return (
        document.id,
        document.source,
        document.title,
        document.media_type,
        write_metadata(document.metadata),
        document.content_hash,
        len(document.text),
        json.dumps(blocks, ensure_ascii=False),
        document.text,
    )


class FieldsRow(NamedTuple):
    """A passage's fields, its document's and its own, as they stand in `FIELD_COLUMNS`."""

    document: int
    source: str
    title: str
    media_type: str
    shared: str
    page: int | None
    own: str


def read_fields(row: FieldsRow, *, with_document: bool) -> tuple[DocumentInfo | None, Chunk]:
    """Read what filters look at, of the document where it is asked for; the rest of the nouns is left empty."""
    info = None
    if with_document:
        info = DocumentInfo("", row.source, row.title, row.media_type, read_metadata(row.shared), "", 0, 0)
    return info, Chunk("", 0, "", 0, 0, page=row.page, metadata=read_metadata(row.own))


def write_metadata(metadata: Metadata) -> str:
    """Write metadata as JSON. Raises InvalidInputError for what no filter could compare."""
    if not metadata:
        return "{}"
    for name, held in metadata.items():
        for value in values_of(held):
            if not isinstance(value, str | int | float):
                raise InvalidInputError(f"Metadata {name!r} is no text, number or truth.", "Give it as text.")
            if isinstance(value, float) and not math.isfinite(value):
                raise InvalidInputError(f"Metadata {name!r} is not a finite number.", "Leave it out or give a number.")
            if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
                raise InvalidInputError(f"Metadata {name!r} is too large a number.", "Give it as text.")
    return json.dumps(metadata, ensure_ascii=False, default=dict)


def chunk_row(indexed: IndexedChunk, terms: bytes) -> tuple[str | int | bytes | None, ...]:
    """Give a passage's columns, in the table's order after `document`."""
    chunk = indexed.chunk
    return (
        chunk.ordinal,
        chunk.key,
        chunk.start,
        chunk.end,
        chunk.page,
        chunk.place,
        write_metadata(chunk.metadata),
        json.dumps(chunk.heading, ensure_ascii=False),
        chunk.header,
        chunk.text,
        text_hash(chunk.indexed_text),
        indexed.terms.length,
        terms,
        pack_vector(indexed.vector),
    )


def read_document(row: tuple[str, ...]) -> Document:
    """Make a document of `DOCUMENT_COLUMNS`."""
    identity, source, title, media_type, metadata, content_hash, blocks, text = row
    return Document(
        id=identity,
        source=source,
        text=text,
        title=title,
        media_type=media_type,
        blocks=tuple(
            Block(BlockKind(kind), start, end, tuple(heading), page, place, header)
            for kind, start, end, heading, page, place, header in json.loads(blocks)
        ),
        metadata=read_metadata(metadata),
        content_hash=content_hash,
    )


def read_info(row: tuple[str | int, ...]) -> DocumentInfo:
    """Make a listing's line of `INFO_COLUMNS`."""
    identity, source, title, media_type, metadata, content_hash, chunks, characters = row
    return DocumentInfo(
        str(identity),
        str(source),
        str(title),
        str(media_type),
        read_metadata(str(metadata)),
        str(content_hash),
        int(chunks),
        int(characters),
    )


def read_metadata(text: str) -> Metadata:
    """Read metadata back; lists become tuples."""
    if text == "{}":
        return {}
    return {name: tuple(held) if isinstance(held, list) else held for name, held in json.loads(text).items()}


def read_chunk(row: tuple[str | int | None, ...]) -> Chunk:
    """Make a passage of `CHUNK_COLUMNS`."""
    document, ordinal, text, start, stop, heading, page, place, header, metadata = row
    return Chunk(
        document=str(document),
        ordinal=int(ordinal or 0),
        text=str(text),
        start=int(start or 0),
        end=int(stop or 0),
        heading=tuple(json.loads(str(heading))),
        page=None if page is None else int(page),
        place=str(place),
        header=str(header),
        metadata=read_metadata(str(metadata)),
    )


def write_recipe(recipe: Recipe) -> str:
    """Write a recipe as canonical JSON."""
    embedder = {name: getattr(recipe.embedder, name) for name in EmbedderIdentity.__slots__}
    parts = {
        "embedder": embedder,
        "analyser": recipe.analyser,
        "chunker": recipe.chunker,
        "enricher": recipe.enricher,
        "settings": dict(recipe.settings),
    }
    return json.dumps(parts, ensure_ascii=False, sort_keys=True)


def read_recipe(text: str) -> Recipe:
    """Read a recipe back."""
    parts = json.loads(text)
    settings = tuple(parts["settings"].items())
    identity = EmbedderIdentity(**parts["embedder"])
    return Recipe(identity, parts["analyser"], parts["chunker"], parts["enricher"], settings)


def read_terms(data: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Read a passage's term ids and their counts back."""
    records = np.frombuffer(data, dtype=TERM_RECORD)
    return records["term"], records["count"]
