"""What the memory store says of documents and passages that it holds."""

from collections.abc import Mapping
from dataclasses import replace

from twofold.domain.dataclass import dataclass
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
