"""Small collections for tests: real nouns made of a few words, with vectors that depend on the text alone."""

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from twofold.domain.ports import EmbedderIdentity, IndexFingerprint
from twofold.domain.types import (
    Chunk,
    Document,
    Entry,
    IndexedChunk,
    Metadata,
    TermCounts,
    TermQuery,
    Vector,
    document_id,
)

DIMENSIONS = 16


def fingerprint(name: str = "made", dimensions: int = DIMENSIONS) -> IndexFingerprint:
    return IndexFingerprint(EmbedderIdentity(name, "1", dimensions), "words", "lines")


def vector(text: str, dimensions: int = DIMENSIONS) -> Vector:
    drawn = np.random.default_rng(zlib.crc32(text.encode())).normal(size=dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def terms(text: str) -> TermCounts:
    words = text.lower().split()
    return TermCounts(Counter(words), len(words))


def entry(
    text: str,
    source: str = "a.txt",
    metadata: Metadata | None = None,
    dimensions: int = DIMENSIONS,
    own: Sequence[Metadata] = (),
) -> Entry:
    """Make a document of which each line is a passage; `own` are the passages' fields, in turn."""
    identity = document_id(source)
    chunks: list[IndexedChunk] = []
    start = 0
    for line in text.splitlines(keepends=True):
        passage = line.rstrip("\n")
        if passage.strip():
            ordinal = len(chunks)
            fields = own[ordinal % len(own)] if own else {}
            chunk = Chunk(identity, ordinal, passage, start, start + len(passage), metadata=fields)
            chunks.append(IndexedChunk(chunk, terms(passage), vector(passage, dimensions)))
        start += len(line)
    document = Document(
        identity, source, text, title=source, metadata=metadata or {}, content_hash=str(zlib.crc32(text.encode()))
    )
    return Entry(document, tuple(chunks))


def pending(made: Entry, *ordinals: int) -> Entry:
    """Return a document without the vectors of its passages, or of those with these numbers."""
    return replace(
        made,
        chunks=tuple(
            replace(one, vector=None) if not ordinals or one.chunk.ordinal in ordinals else one for one in made.chunks
        ),
    )


def entries(texts: Iterable[str]) -> list[Entry]:
    return [entry(text, f"{number:03d}.txt") for number, text in enumerate(texts)]


def query(text: str) -> TermQuery:
    return TermQuery({term: float(count) for term, count in Counter(text.lower().split()).items()})
