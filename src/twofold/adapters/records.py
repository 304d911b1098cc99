"""Documents that a framework hands over and wants back unchanged: one passage each, with its fields kept as they are.

twofold stores fields that are text, numbers, truth values or lists of these, so that filters can use them; those of a
framework may be anything that JSON holds. So the whole is kept as JSON in one field, next to the fields themselves.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xxhash import xxh3_64_intdigest

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Chunk, Document, Metadata, MetadataValue, Scalar, Vectors
from twofold.index import Index
from twofold.ingest.document import content_hash
from twofold.ingest.readers.types import clean_metadata
from twofold.plugins import CustomChunker, Plugins

RECORD = "record"
"""The field that keeps what the framework handed over, as JSON."""
NO_FIELDS: Mapping[str, Any] = {}


def whole(document: Document) -> tuple[Chunk, ...]:
    """Return a document as one passage; none where it has no text."""
    text = document.text
    return (Chunk(document.id, 0, text, 0, len(text)),) if text.strip() else ()


WHOLE = Plugins(chunker=CustomChunker("whole", whole))
"""Parts of an index whose documents are passages already, cut by a framework's own splitter."""


def document_of(identity: str, text: str, fields: Mapping[str, Any], record: Mapping[str, Any]) -> Document:
    """Return a document that keeps `record` as it is; `fields` can be filtered by where twofold can store them.

    Raises TypeError for a record that JSON cannot hold.
    """
    native = {name: stored for name, value in fields.items() if (stored := _native(value)) is not None}
    kept = {**clean_metadata(native), RECORD: json.dumps(record, ensure_ascii=False)}
    return Document(identity, identity, text, metadata=kept, content_hash=content_hash(text.encode()))


def record_of(metadata: Metadata) -> dict[str, Any]:
    """Return what was handed over with a document; empty for one that came by another way."""
    kept = metadata.get(RECORD)
    found: dict[str, Any] = json.loads(kept) if isinstance(kept, str) else {}
    return found


def find(index: Index, identity: str) -> Document | None:
    """Return the document with this id, None if it does not exist."""
    try:
        found = index.document(identity)
    except (NotFoundError, InvalidInputError):  # an id may happen to end several sources
        return None
    return found if found.id == identity else None


def is_empty(index: Index) -> bool:
    """Return whether an index holds nothing, or was not made yet."""
    try:
        return not len(index)
    except NotFoundError:
        return True


def _native(value: object) -> MetadataValue | None:
    if isinstance(value, Scalar):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(one, Scalar) for one in value):
        return tuple(value)
    return None


class PrecomputedVectors:
    """An embedder for texts whose vectors somebody else makes: they are lent to it by text, before it is asked.

    A text without a vector has a direction of its own by chance, near none of the others; a search by vectors alone
    leaves its document out by a filter.
    """

    def __init__(self, name: str, dimensions: int) -> None:
        self._identity = EmbedderIdentity(name, "1", dimensions, max_tokens=2**31 - 1)
        self._lent: dict[str, Sequence[float]] = {}

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._identity

    def lend(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Take the vectors of the texts that are embedded next."""
        self._lent = dict(vectors)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors that were lent: (len(texts), dimensions) float32, rows of length 1."""
        rows = np.zeros((len(texts), self._identity.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = unit(self._lent[text] if text in self._lent else _direction(text, len(row)))
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors that were lent, as for passages."""
        return self.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of each text's words: nothing is cut by it."""
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        """Do nothing: it holds no model."""


def _direction(text: str, dimensions: int) -> list[float]:
    found: list[float] = np.random.default_rng(xxh3_64_intdigest(text.encode())).standard_normal(dimensions).tolist()
    return found


def unit(vector: Sequence[float]) -> Vectors:
    """Return a vector at length 1; zeros stay zeros."""
    row = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(row))
    return row / np.float32(length) if length > 0.0 else row


def plain_fields(metadata: Metadata) -> dict[str, Any]:
    """Return a document's fields as a framework writes them: lists for several values, without the kept record."""
    return {name: list(one) if isinstance(one, tuple) else one for name, one in metadata.items() if name != RECORD}
