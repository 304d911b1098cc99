"""How the nouns stand in the catalogue's rows."""

import json
import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import fields_of, kind_of
from twofold.domain.ports import EmbedderIdentity, Recipe
from twofold.domain.types import (
    Block,
    BlockKind,
    Chunk,
    Document,
    DocumentInfo,
    IndexedChunk,
    Metadata,
    Scalar,
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
CHUNK_COLUMNS = "document.id, ordinal, chunk.text, start, stop, heading, page, place, header"


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
        json.dumps(_checked(document.metadata), ensure_ascii=False),
        document.content_hash,
        len(document.text),
        json.dumps(blocks, ensure_ascii=False),
        document.text,
    )


def attribute_rows(document: Document) -> list[tuple[str, str, Scalar]]:
    """Give what filters may look at, one (name, kind, value) each."""
    rows = {
        (name, kind_of(value), value)
        for name, held in fields_of(document).items()
        for value in (held if isinstance(held, tuple) else (held,))
    }
    return list(rows)


def _checked(metadata: Metadata) -> Mapping[str, object]:
    for name, held in metadata.items():
        for value in held if isinstance(held, tuple) else (held,):
            if isinstance(value, float) and not math.isfinite(value):
                raise InvalidInputError(f"Metadata {name!r} is not a finite number.", "Leave it out or give a number.")
            if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
                raise InvalidInputError(f"Metadata {name!r} is too large a number.", "Give it as text.")
    return metadata


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
    return {name: tuple(held) if isinstance(held, list) else held for name, held in json.loads(text).items()}


def read_chunk(row: tuple[str | int | None, ...]) -> Chunk:
    """Make a passage of `CHUNK_COLUMNS`."""
    document, ordinal, text, start, stop, heading, page, place, header = row
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
    )


def write_recipe(recipe: Recipe) -> str:
    """Write a recipe as canonical JSON."""
    embedder = {name: getattr(recipe.embedder, name) for name in EmbedderIdentity.__slots__}
    parts = {
        "embedder": embedder,
        "analyser": recipe.analyser,
        "chunker": recipe.chunker,
        "settings": dict(recipe.settings),
    }
    return json.dumps(parts, ensure_ascii=False, sort_keys=True)


def read_recipe(text: str) -> Recipe:
    """Read a recipe back."""
    parts = json.loads(text)
    settings = tuple(parts["settings"].items())
    return Recipe(EmbedderIdentity(**parts["embedder"]), parts["analyser"], parts["chunker"], settings)


def read_terms(data: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Read a passage's term ids and their counts back."""
    records = np.frombuffer(data, dtype=TERM_RECORD)
    return records["term"], records["count"]
