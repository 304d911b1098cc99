"""What the memory store says of documents and passages that it holds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.types import Chunk, DocumentInfo, Entry, Metadata, Vector


@dataclass(frozen=True, slots=True)
class HeldPassage:
    """A passage and the document that it is of; see `FetchedPassage`."""

    chunk: Chunk
    source: str
    title: str
    metadata: Metadata


def pending_in(entry: Entry) -> int:
    """Count the passages of a document that have no vector yet."""
    return sum(indexed.vector is None for indexed in entry.chunks)


def with_vectors(entry: Entry, vectors: Mapping[str, Vector]) -> Entry:
    """Return a document whose passages without a vector have that of their indexed text, where there is one."""
    if not pending_in(entry):
        return entry
    chunks = (
        one if one.vector is not None else replace(one, vector=vectors.get(one.chunk.indexed_text))
        for one in entry.chunks
    )
    return replace(entry, chunks=tuple(chunks))


def info_of(entry: Entry) -> DocumentInfo:
    """Return what a listing shows of a document."""
    document = entry.document
    return DocumentInfo(
        document.id,
        document.source,
        document.title,
        document.media_type,
        document.metadata,
        document.content_hash,
        len(entry.chunks),
        len(document.text),
        document.readers,
    )


def stored(vector: Vector) -> NDArray[np.float16]:
    """Return a vector as every store keeps it."""
    return np.asarray(vector, dtype=np.float16)


def check_vectors(vectors: Sequence[Vector], width: int) -> None:
    """Raise MismatchError or InvalidInputError for vectors that an index of this width cannot hold."""
    if any(vector.shape != (width,) for vector in vectors):
        raise MismatchError(f"A vector does not have the index's {width} dimensions.", "Use its embedder.")
    if not all(np.isfinite(vector).all() and stored(vector).any() for vector in vectors):
        raise InvalidInputError("A vector is all zeros, or holds what is no finite number.", "Check the embedder.")
